/**
 * The decision on somebody whom a provider of OpenID Connect has signed in (docs/specification/rights.md#openid-connect): which
 * user that is, what of the user follows the provider, and the session.
 *
 * A user is known by the provider's subject, which is never given to anybody else. An email finds a user only where the
 * provider has verified it and somebody but the user vouches for it here, and only one who is not known by another subject of the same
 * provider, so that a reassigned address does not inherit an account. All other credentials of an account that is found in this way
 * end, because somebody else may have them.
 */

import { ADMIN_ROLE_ID, canBeRoot } from '../../domain/access/roles.ts';
import { jsonEqual } from '../../domain/json/json.ts';
import { GROUP_USERS_MAX, type Group } from '../../domain/kinds/group.ts';
import { namesakeOf, userOfEmail, voucherOf } from '../../domain/people/identity.ts';
import { hasOneScriptAWord } from '../../domain/people/look-alike.ts';
import { allRoles } from '../../domain/people/roles-and-groups.ts';
import { personalTokensDeleted } from '../../domain/people/token-commands.ts';
import { isLastAdmin } from '../../domain/people/user-commands.ts';
import type { DecideContext, Decision } from '../../domain/state/decision.ts';
import { ABOUT_NOTHING, type DomainEvent, recordChange } from '../../domain/state/events.ts';
import { isRefusal, nameExists, type Refusal, refuse } from '../../domain/state/refusal.ts';
import { isInMaintenance, refuseInMaintenance } from '../../domain/state/settings.ts';
import { type Identity, identityKey, type User, type World } from '../../domain/state/world.ts';
import { type SessionSecret, sessionBegun, sessionEnded } from './session-commands.ts';

/** Settings of the operator. */
interface ProviderRules {
  /** Pairs of a group and the name of a root role; the first that applies does. */
  readonly roles: readonly (readonly [group: string, role: string])[];
  /** The root role of users whom no group gives one; null: they are turned away. */
  readonly defaultRole: string | null;
  /** Verified emails, and subjects, of Admins. */
  readonly admins: readonly string[];
}

export interface SignInByProvider {
  readonly identity: Pick<Identity, 'issuer' | 'subject'>;
  readonly profile: {
    /** Only where it is verified. */
    readonly email: string | null;
    readonly username: string | null;
    readonly name: string | null;
  };
  readonly groups: readonly string[];
  readonly rules: ProviderRules;
  readonly session: SessionSecret;
}

export function signInByProvider(world: World, command: SignInByProvider, context: DecideContext): Decision {
  const found = findUser(world, command);
  if (isRefusal(found)) return found;
  // Whoever is known may look around, and end the maintenance.
  const maintenance = refuseInMaintenance(world.directory.settings);
  if (maintenance !== null && found === null) return maintenance;
  const user = userAfter(world, command, found, context.now);
  if (isRefusal(user)) return user;
  const session = { ...command.session, userId: user.id, tokenDigest: null, begunWith: 'provider' } as const;
  const changes =
    maintenance === null
      ? [...userChanged(world, command, found, user), ...groupsFollowed(world, command, user)]
      : [];
  return [...changes, sessionBegun(world, session, context.now)];
}

/** Why the user would not be let in; null: nothing speaks against it. */
export function refuseSignIn(world: World, command: SignInByProvider): Refusal | null {
  const found = findUser(world, command);
  if (isRefusal(found)) return found;
  if (found === null && isInMaintenance(world.directory.settings)) {
    return refuseInMaintenance(world.directory.settings);
  }
  const user = userAfter(world, command, found, '');
  return isRefusal(user) ? user : null;
}

/** Whom the provider has signed in before; null for nobody. */
export function userOfIdentity(
  { directory }: World,
  { issuer, subject }: Pick<Identity, 'issuer' | 'subject'>,
): User | null {
  const identity = directory.identities.get(identityKey(issuer, subject));
  return identity === undefined ? null : (directory.users.get(identity.userId) ?? null);
}

/** Null for somebody who is new. */
function findUser(world: World, { identity, profile }: SignInByProvider): User | null | Refusal {
  const known = userOfIdentity(world, identity);
  if (known !== null) return known;
  if (profile.email === null) return null;
  const { identities } = world.directory;
  const named = userOfEmail(world, profile.email);
  if (named === undefined) return null;
  if (voucherOf(world, named) === 'nobody') {
    return nameExists(
      `The user ${named.id} came by an invitation and says to have the email "${profile.email}"; an Admin who saves the user with it vouches for it.`,
    );
  }
  const others = [...identities.values()].filter(({ userId }) => userId === named.id);
  if (others.every(({ issuer }) => issuer !== identity.issuer)) return named;
  return nameExists(
    `The email "${profile.email}" belongs to the user ${named.id}, whom the provider knows as somebody else; an Admin may change that user's email.`,
  );
}

function userAfter(world: World, command: SignInByProvider, found: User | null, now: string): User | Refusal {
  const { profile, identity } = command;
  const rootRole = rootRoleOf(world, command, found);
  if (isRefusal(rootRole)) return rootRole;
  const name = ownName(world, profile.name, found);
  if (found !== null) {
    const isFree =
      profile.email !== null && [undefined, found.id].includes(userOfEmail(world, profile.email)?.id);
    const email = isFree ? profile.email : found.email;
    const isVouchedFor = isFree && (email !== found.email || !isLinked(world, identity));
    return {
      ...found,
      name,
      email,
      ...(isVouchedFor && { emailVouchedBy: 'provider' }),
      rootRole,
    };
  }
  const username = profile.email === null ? freeName(world, [profile.username, identity.subject]) : null;
  if (profile.email === null && username === null) {
    return nameExists(`Another user has the username "${identity.subject}"; an Admin may change it.`);
  }
  const id = world.directory.lastUserId + 1;
  const { email } = profile;
  const vouched = email === null ? {} : ({ emailVouchedBy: 'provider' } as const);
  return { id, name, username, email, ...vouched, rootRole, createdAt: now };
}

/** The display name. People can often choose what the provider says, so one that stands for another user is passed over. */
function ownName(world: World, name: string | null, found: User | null): string | null {
  return name !== null && isFree(world, name, found) ? name : (found?.name ?? null);
}

/** A name that nobody has, so that nobody is taken for somebody else. */
function freeName(world: World, names: readonly (string | null)[]): string | null {
  return names.find((name): name is string => name !== null && isFree(world, name, null)) ?? null;
}

const isFree = (world: World, name: string, user: User | null): boolean =>
  hasOneScriptAWord(name) && namesakeOf(world, name, { userId: user?.id ?? null, withNames: false }) === null;

/** An Admin by name; else by the first group that gives a role; else the default, but a user whom no group can give one keeps theirs. */
function rootRoleOf(
  world: World,
  { identity, profile, groups, rules }: SignInByProvider,
  found: User | null,
): number | Refusal {
  // A provider may let people choose their subjects.
  const isAdmin = rules.admins.some((one) =>
    one.includes('@') ? one.toLowerCase() === profile.email?.toLowerCase() : one === identity.subject,
  );
  if (isAdmin || (found !== null && isLastAdmin(world, found))) return ADMIN_ROLE_ID;
  if (found !== null && rules.roles.length === 0) return found.rootRole;
  const byGroup = rules.roles.find(([group]) => groups.includes(group))?.[1];
  const name = byGroup ?? rules.defaultRole;
  if (name === null) {
    return refuse('NoAccessError', `No group of the user "${identity.subject}" gives a root role.`);
  }
  const role = allRoles(world).find((one) => canBeRoot(one) && one.name.toLowerCase() === name.toLowerCase());
  return role?.id ?? refuse('NoAccessError', `There is no root role "${name}"; the settings name it.`);
}

function isLinked({ directory }: World, { issuer, subject }: SignInByProvider['identity']): boolean {
  return directory.identities.has(identityKey(issuer, subject));
}

function userChanged(
  world: World,
  { identity }: SignInByProvider,
  found: User | null,
  user: User,
): readonly DomainEvent[] {
  if (found === null)
    return [{ type: 'user-created', ...ABOUT_NOTHING, data: user, preData: null, hidden: { identity } }];
  const updated = { type: 'user-updated', ...ABOUT_NOTHING, data: user, preData: found } as const;
  if (isLinked(world, identity)) return jsonEqual(user, found) ? [] : [updated];
  return [...credentialsEnded(world, user.id), { ...updated, hidden: { identity, endsPassword: true } }];
}

/** The sessions and tokens of a user end. */
function credentialsEnded(world: World, userId: number): DomainEvent[] {
  const sessions = [...world.directory.sessions.values()].filter((one) => one.userId === userId);
  return [...sessions.map(sessionEnded), ...personalTokensDeleted(world, userId)];
}

/** The user joins and leaves the groups that stand for groups of the provider; others are left alone. */
function groupsFollowed({ directory }: World, { groups }: SignInByProvider, { id }: User): DomainEvent[] {
  return [...directory.groups.values()].flatMap((preData): DomainEvent[] => {
    if (preData.mappingsSSO.length === 0) return [];
    const users = membersAfter(
      preData,
      id,
      preData.mappingsSSO.some((one) => groups.includes(one)),
    );
    return recordChange('groups', preData, { ...preData, users });
  });
}

/** A full group takes nobody, which is no reason to let nobody in. */
function membersAfter({ users }: Group, id: number, belongs: boolean): readonly number[] {
  if (users.includes(id) === belongs) return users;
  if (!belongs) return users.filter((one) => one !== id);
  return users.length >= GROUP_USERS_MAX ? users : [...users, id].sort((a, b) => a - b);
}
