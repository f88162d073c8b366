/** The decisions of this room, by their commands: a part of the table of all decisions (../decide/decide.ts). */
import type { DecideContext, Decision } from '../state/decision.ts';
import type { World } from '../state/world.ts';
import { grantProjectAccess, revokeProjectAccess, setProjectAccess } from './access-commands.ts';
import { createGroup, deleteGroup, updateGroup } from './group-commands.ts';
import {
  createInvitation,
  createPasswordLink,
  signUp,
  updateInvitation,
  usePasswordLink,
} from './link-commands.ts';
import { addMember, changeMember, removeMember } from './membership-commands.ts';
import { setPassword } from './password-commands.ts';
import { createPersonalToken, deletePersonalToken } from './personal-token-commands.ts';
import { signInByProvider } from './provider-commands.ts';
import { createRole, deleteRole, updateRole } from './role-commands.ts';
import {
  createServiceAccount,
  deleteServiceAccount,
  updateServiceAccount,
} from './service-account-commands.ts';
import { beginSession, endSession, endSessions } from './session-commands.ts';
import { createUser, deleteUser, updateUser } from './user-commands.ts';

const TABLE = {
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
} as const;

export type PeopleCommand = Parameters<(typeof TABLE)[keyof typeof TABLE]>[1];

type CommandOf<T extends PeopleCommand['type']> = Extract<PeopleCommand, { type: T }>;
type Decide<C> = (world: World, command: C, context: DecideContext) => Decision;

/** Each command has a decision, under its own type. */
export const PEOPLE_DECISIONS: { readonly [T in PeopleCommand['type']]: Decide<CommandOf<T>> } = TABLE;
