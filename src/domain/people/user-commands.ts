/** Decisions that create, update and delete a user (docs/specification/users.md). */

import { WELCOME_LIFETIME_MS } from '../access/links.ts';
import { ADMIN_ROLE_ID } from '../access/roles.ts';
import { type DecideContext, type Decision, UNCHANGED } from '../state/decision.ts';
import { ABOUT_NOTHING, type DomainEvent } from '../state/events.ts';
import { locatePerson, peopleOf } from '../state/locate.ts';
import { invalidOperation, isRefusal, type Refusal } from '../state/refusal.ts';
import type { User, World } from '../state/world.ts';
import { groupsLeft } from './group-commands.ts';
import { refuseIdentity, voucherOf } from './identity.ts';
import { projectsLeft } from './membership-commands.ts';
import { personalTokenDeleted, personalTokensOf } from './personal-token-commands.ts';
import { refuseRootRole } from './role-commands.ts';

/** The fields that a client may set. An undefined field keeps its value; null removes the value. */
export interface UserFields {
  readonly name?: string | null | undefined;
  readonly email?: string | null | undefined;
  readonly username?: string | null | undefined;
  /** A role id. */
  readonly rootRole?: number | undefined;
}

export interface CreateUser {
  readonly type: 'create-user';
  readonly fields: UserFields & { readonly rootRole: number };
  /** The hash of the password; absent: the user has none. */
  readonly passwordHash?: string | undefined;
  /** The digest of a link with which the user sets a password; absent: there is none. */
  readonly linkDigest?: string | undefined;
}

export function createUser(
  world: World,
  { fields, passwordHash, linkDigest }: CreateUser,
  context: DecideContext,
): Decision {
  const data: User = {
    id: world.directory.lastUserId + 1,
    name: fields.name ?? null,
    username: fields.username ?? null,
    email: fields.email ?? null,
    rootRole: fields.rootRole,
    createdAt: context.now,
  };
  const refusal = refuseRootRole(world, data.rootRole) ?? refuseIdentity(world, data, null);
  if (refusal !== null) return refusal;
  const about = { type: 'user-created', ...ABOUT_NOTHING, data, preData: null } as const;
  if (passwordHash !== undefined) return [{ ...about, hidden: { passwordHash } }];
  if (linkDigest === undefined) return [about];
  const expiresAt = new Date(Date.parse(context.now) + WELCOME_LIFETIME_MS).toISOString();
  return [{ ...about, hidden: { linkDigest, linkExpiresAt: expiresAt } }];
}

export interface UpdateUser {
  readonly type: 'update-user';
  readonly userId: number;
  readonly fields: UserFields;
}

export function updateUser(world: World, command: UpdateUser): Decision {
  const preData = locatePerson(world, command.userId);
  if (isRefusal(preData)) return preData;
  const { fields } = command;
  const data: User = {
    ...preData,
    name: fields.name === undefined ? preData.name : fields.name,
    email: fields.email === undefined ? preData.email : fields.email,
    username: fields.username === undefined ? preData.username : fields.username,
    rootRole: fields.rootRole ?? preData.rootRole,
    ...vouchedByAdmin(world, preData, fields.email),
  };
  const refusal =
    refuseRootRole(world, data.rootRole) ??
    refuseIdentity(world, data, preData) ??
    refuseDemotion(world, preData, data.rootRole);
  if (refusal !== null) return refusal;
  const unchanged =
    data.name === preData.name &&
    data.email === preData.email &&
    data.emailVouchedBy === preData.emailVouchedBy &&
    data.username === preData.username &&
    data.rootRole === preData.rootRole;
  if (unchanged) return UNCHANGED;
  return [{ type: 'user-updated', ...ABOUT_NOTHING, data, preData }];
}

/** An Admin who sends the email of a user vouches for it. */
function vouchedByAdmin(
  world: World,
  preData: User,
  email: string | null | undefined,
): Pick<User, 'emailVouchedBy'> {
  if (typeof email !== 'string') return {};
  const isKnown = email === preData.email && voucherOf(world, preData) !== 'nobody';
  return isKnown ? {} : { emailVouchedBy: 'admin' };
}

function refuseDemotion(world: World, user: User, rootRole: number): Refusal | null {
  return rootRole === ADMIN_ROLE_ID ? null : refuseLastAdmin(world, user);
}

export interface DeleteUser {
  readonly type: 'delete-user';
  readonly userId: number;
}

/**
 * Deleting a user deletes the user's memberships and tokens, and the user leaves all groups. It is refused for the last Admin and for the only Owner
 * of a project, because nobody could repair that afterwards.
 */
export function deleteUser(world: World, { userId }: DeleteUser): Decision {
  const user = locatePerson(world, userId);
  if (isRefusal(user)) return user;
  const left = refuseLastAdmin(world, user) ?? leaveAll(world, user);
  if (isRefusal(left)) return left;
  return [...left, { type: 'user-deleted', ...ABOUT_NOTHING, data: null, preData: user }];
}

/** The events by which all goes that belongs to a user or a service account. */
export function leaveAll(world: World, user: User): readonly DomainEvent[] | Refusal {
  const left = projectsLeft(world, { kind: 'user', id: user.id });
  if (isRefusal(left)) return left;
  return [
    ...left,
    ...groupsLeft(world, user.id),
    ...personalTokensOf(world, user.id).map(personalTokenDeleted),
  ];
}

/** A service account that is an Admin does not count: nobody signs in as it. */
export function isLastAdmin({ directory }: World, user: User): boolean {
  if (user.rootRole !== ADMIN_ROLE_ID) return false;
  for (const { id, rootRole } of peopleOf(directory)) {
    if (id !== user.id && rootRole === ADMIN_ROLE_ID) return false;
  }
  return true;
}

function refuseLastAdmin(world: World, user: User): Refusal | null {
  if (!isLastAdmin(world, user)) return null;
  return invalidOperation(`The user ${user.id} is the last Admin; make another user Admin first.`);
}
