/**
 * Decisions that create, update and delete users (docs/specification/users.md), and service accounts: programs that act under
 * a name, a role and memberships of their own. Both are kept among the users, with shared ids and names; nobody signs in as a program.
 */
import { WELCOME_LIFETIME_MS } from '../access/links.ts';
import { ADMIN_ROLE_ID } from '../access/roles.ts';
import { withFields } from '../kinds/kind.ts';
import type { DecideContext, Decision } from '../state/decision.ts';
import { ABOUT_NOTHING, type DomainEvent, recordChange } from '../state/events.ts';
import { isService, locateUser, peopleOf } from '../state/locate.ts';
import { invalidOperation, isRefusal, type Refusal } from '../state/refusal.ts';
import type { User, World } from '../state/world.ts';
import { groupsLeft } from './group-commands.ts';
import { refuseIdentity, voucherOf } from './identity.ts';
import { projectsLeft } from './membership-commands.ts';
import { refuseRootRole } from './role-commands.ts';
import { personalTokensDeleted } from './token-commands.ts';

/** The fields that a client may set. An undefined field keeps its value; null removes the value. */
interface UserFields {
  readonly name?: string | null | undefined;
  readonly email?: string | null | undefined;
  readonly username?: string | null | undefined;
  /** A role id. */
  readonly rootRole?: number | undefined;
}

interface CreateUser {
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
  const data = newUser(world, fields, context);
  const refusal = refuseRootRole(world, data.rootRole) ?? refuseIdentity(world, data, null);
  if (refusal !== null) return refusal;
  const about = { type: 'user-created', ...ABOUT_NOTHING, data, preData: null } as const;
  if (passwordHash !== undefined) return [{ ...about, hidden: { passwordHash } }];
  if (linkDigest === undefined) return [about];
  const expiresAt = new Date(Date.parse(context.now) + WELCOME_LIFETIME_MS).toISOString();
  return [{ ...about, hidden: { linkDigest, linkExpiresAt: expiresAt } }];
}

interface UpdateUser {
  /** The id of a user or a service account. */
  readonly userId: number;
  readonly fields: UserFields;
}

export function updateUser(world: World, { userId, fields }: UpdateUser): Decision {
  const preData = locateUser(world, userId);
  if (isRefusal(preData)) return preData;
  const data: User = { ...withFields(preData, fields), ...vouchedByAdmin(world, preData, fields.email) };
  const refusal =
    refuseRootRole(world, data.rootRole) ??
    refuseIdentity(world, data, preData) ??
    (data.rootRole === ADMIN_ROLE_ID ? null : refuseLastAdmin(world, preData));
  return refusal ?? recordChange('users', preData, data);
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

/**
 * Deleting a user or a service account deletes its memberships and tokens, and it leaves all groups. It is refused for the last Admin and for
 * the only Owner of a project, because nobody could repair that afterwards.
 */
export function deleteUser(world: World, { userId }: { readonly userId: number }): Decision {
  const user = locateUser(world, userId);
  if (isRefusal(user)) return user;
  const left = refuseLastAdmin(world, user) ?? leaveAll(world, user);
  return isRefusal(left) ? left : [...left, ...recordChange('users', user, null)];
}

/** The events by which all goes that belongs to a user or a service account. */
function leaveAll(world: World, user: User): readonly DomainEvent[] | Refusal {
  const left = projectsLeft(world, { kind: 'user', id: user.id });
  if (isRefusal(left)) return left;
  return [...left, ...groupsLeft(world, user.id), ...personalTokensDeleted(world, user.id)];
}

/** A service account that is an Admin does not count: nobody signs in as it. */
export function isLastAdmin({ directory }: World, user: User): boolean {
  if (user.rootRole !== ADMIN_ROLE_ID || isService(user)) return false;
  return peopleOf(directory).every(({ id, rootRole }) => id === user.id || rootRole !== ADMIN_ROLE_ID);
}

function refuseLastAdmin(world: World, user: User): Refusal | null {
  if (!isLastAdmin(world, user)) return null;
  return invalidOperation(`The user ${user.id} is the last Admin; make another user Admin first.`);
}

interface CreateServiceAccount {
  /** Without a username, one is made up. */
  readonly fields: Omit<UserFields, 'email'> & { readonly rootRole: number };
}

export function createServiceAccount(
  world: World,
  { fields }: CreateServiceAccount,
  context: DecideContext,
): Decision {
  const username = fields.username ?? `service-account-${context.newId()}`;
  const data: User = { ...newUser(world, { ...fields, username }, context), isService: true };
  const refusal = refuseRootRole(world, data.rootRole) ?? refuseIdentity(world, data, null);
  return refusal ?? recordChange('users', null, data);
}

export const newUser = (
  { directory }: World,
  { name = null, username = null, email = null, rootRole }: CreateUser['fields'],
  { now }: Pick<DecideContext, 'now'>,
): User => ({ id: directory.lastUserId + 1, name, username, email, rootRole, createdAt: now });
