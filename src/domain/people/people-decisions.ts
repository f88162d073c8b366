/** The decisions of this room, by their commands: a part of the table of all decisions (../decide/decide.ts). */
import type { DecideContext, Decision } from '../state/decision.ts';
import type { World } from '../state/world.ts';
import {
  type GrantProjectAccess,
  grantProjectAccess,
  type RevokeProjectAccess,
  revokeProjectAccess,
  type SetProjectAccess,
  setProjectAccess,
} from './access-commands.ts';
import {
  type CreateGroup,
  createGroup,
  type DeleteGroup,
  deleteGroup,
  type UpdateGroup,
  updateGroup,
} from './group-commands.ts';
import {
  type CreateInvitation,
  type CreatePasswordLink,
  createInvitation,
  createPasswordLink,
  type SignUp,
  signUp,
  type UpdateInvitation,
  type UsePasswordLink,
  updateInvitation,
  usePasswordLink,
} from './link-commands.ts';
import {
  type AddMember,
  addMember,
  type ChangeMember,
  changeMember,
  type RemoveMember,
  removeMember,
} from './membership-commands.ts';
import { type SetPassword, setPassword } from './password-commands.ts';
import {
  type CreatePersonalToken,
  createPersonalToken,
  type DeletePersonalToken,
  deletePersonalToken,
} from './personal-token-commands.ts';
import { type SignInByProvider, signInByProvider } from './provider-commands.ts';
import {
  type CreateRole,
  createRole,
  type DeleteRole,
  deleteRole,
  type UpdateRole,
  updateRole,
} from './role-commands.ts';
import {
  type CreateServiceAccount,
  createServiceAccount,
  type DeleteServiceAccount,
  deleteServiceAccount,
  type UpdateServiceAccount,
  updateServiceAccount,
} from './service-account-commands.ts';
import {
  type BeginSession,
  beginSession,
  type EndSession,
  type EndSessions,
  endSession,
  endSessions,
} from './session-commands.ts';
import {
  type CreateUser,
  createUser,
  type DeleteUser,
  deleteUser,
  type UpdateUser,
  updateUser,
} from './user-commands.ts';

export type PeopleCommand =
  | AddMember
  | ChangeMember
  | RemoveMember
  | SetProjectAccess
  | GrantProjectAccess
  | RevokeProjectAccess
  | CreateRole
  | UpdateRole
  | DeleteRole
  | CreateGroup
  | UpdateGroup
  | DeleteGroup
  | CreateUser
  | UpdateUser
  | DeleteUser
  | SetPassword
  | CreatePasswordLink
  | UsePasswordLink
  | CreateInvitation
  | UpdateInvitation
  | SignUp
  | CreateServiceAccount
  | UpdateServiceAccount
  | DeleteServiceAccount
  | CreatePersonalToken
  | DeletePersonalToken
  | BeginSession
  | EndSession
  | EndSessions
  | SignInByProvider;

type CommandOf<T extends PeopleCommand['type']> = Extract<PeopleCommand, { type: T }>;
type Decide<C> = (world: World, command: C, context: DecideContext) => Decision;

export const PEOPLE_DECISIONS: { readonly [T in PeopleCommand['type']]: Decide<CommandOf<T>> } = {
  'add-member': addMember,
  'change-member': changeMember,
  'remove-member': removeMember,
  'set-project-access': setProjectAccess,
  'grant-project-access': grantProjectAccess,
  'revoke-project-access': revokeProjectAccess,
  'create-role': createRole,
  'update-role': updateRole,
  'delete-role': deleteRole,
  'create-group': createGroup,
  'update-group': updateGroup,
  'delete-group': deleteGroup,
  'create-user': createUser,
  'update-user': updateUser,
  'delete-user': deleteUser,
  'set-password': setPassword,
  'create-password-link': createPasswordLink,
  'use-password-link': usePasswordLink,
  'create-invitation': createInvitation,
  'update-invitation': updateInvitation,
  'sign-up': signUp,
  'create-service-account': createServiceAccount,
  'update-service-account': updateServiceAccount,
  'delete-service-account': deleteServiceAccount,
  'create-personal-token': createPersonalToken,
  'delete-personal-token': deletePersonalToken,
  'begin-session': beginSession,
  'end-session': endSession,
  'end-sessions': endSessions,
  'sign-in-by-provider': signInByProvider,
};
