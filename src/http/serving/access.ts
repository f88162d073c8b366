/**
 * Identifies the caller and decides what the caller may do (docs/specification/rights.md).
 *
 * A token is hashed and looked up once, and the caller is cached under the header's value until anything about users,
 * tokens or memberships changes. Unknown tokens are never cached, so each guess costs a hash and no memory. Every
 * kind of bad token gets the same response.
 */

import { createHash } from 'node:crypto';
import { type CachePart, cacheOf } from '../../actors/cache.ts';
import type { Need } from '../../domain/access/permissions.ts';
import {
  ADMIN_ROLE_ID,
  givesEverywhere,
  givesInProject,
  holdEnough,
  predefinedRole,
  type Role,
} from '../../domain/access/roles.ts';
import type { Session } from '../../domain/access/sessions.ts';
import { groupsOf, knownRole } from '../../domain/people/roles-and-groups.ts';
import { type Actor, SYSTEM } from '../../domain/state/decision.ts';
import {
  ALL,
  type ApiToken,
  type ApiTokenType,
  actingName,
  type ProjectState,
  type User,
  type World,
  type WorldOwner,
} from '../../domain/state/world.ts';

/** Ids for callers that are not users (docs/specification/events.md#who-made-the-change). */
export const API_TOKEN_USER_ID = -42;
export const UNKNOWN_USER_ID = -1;

export interface Caller {
  /** The kind of its token; `anyone` where authentication is off. */
  readonly kind: ApiTokenType | 'user' | 'anyone';
  readonly actor: Actor;
  readonly user: User | null;
  /** The token as it was when the caller was recognised; null for one without an API token. */
  readonly token: ApiToken | null;
  /** Roles that apply everywhere: the caller's own root role, and those of the caller's groups. */
  readonly roles: readonly Role[];
  /** Ids of the caller's groups. */
  readonly groups: readonly number[];
  readonly scope: CallerScope;
  /** The expiry of its token or session, in milliseconds since 1970; Infinity for never. */
  readonly expiresAt: number;
}

/** The scope of a caller's token. A user's rights come from roles, not from the token, so a user's scope is everything. */
export interface CallerScope {
  /** Project ids, in the order in which the token names them; `*`: every project. */
  readonly projects: readonly string[] | typeof ALL;
  /** A name; `*`: every environment. */
  readonly environment: string;
}

export const UNLIMITED: CallerScope = { projects: ALL, environment: ALL };

const ADMIN = predefinedRole(ADMIN_ROLE_ID) as Role;

const ANYONE: Caller = {
  kind: 'anyone',
  actor: { name: 'unknown', userId: UNKNOWN_USER_ID },
  user: null,
  token: null,
  roles: [ADMIN],
  groups: [],
  scope: UNLIMITED,
  expiresAt: Number.POSITIVE_INFINITY,
};

/** The caller where a surface needs no token. */
export const NOBODY: Caller = { ...ANYONE, roles: [], scope: { projects: [], environment: '' } };

/**
 * A token consists of visible ASCII. Anything else is not a token. The
 * longest names a project and an environment of 100 characters each before its 64 hexadecimal digits.
 */
const CREDENTIALS_PATTERN = /^(?:bearer +)?([\x21-\x7e]{1,300})$/i;

/** Bytes of a cached caller with its scope. */
const CALLER_BYTES = 500;

interface CachedCaller {
  readonly caller: Caller;
  readonly digest: string;
  /** The time at which `onUse` was last called for it, in milliseconds since 1970. */
  toldAtMs: number;
  /** Null for a token. */
  readonly session: Session | null;
}

export interface AuthenticatorOptions {
  readonly state: WorldOwner;
  /** True with `AUTH_TYPE=none`: every caller has every right. */
  readonly open: boolean;
  now(): number;
  /** Told of the use of a token or a session, at most once a minute. */
  onUse(digest: string): void;
  /** The time of the last `onUse` for it, in milliseconds since 1970; null for never. */
  usedAt(digest: string): number | null;
  /** A session that was not used for so long has ended. */
  readonly sessionIdleMs: number;
}

/** The step in which times of use are noted: noting one for each request would cost more than it is worth. */
const USE_STEP_MS = 60_000;

export class Authenticator {
  readonly #options: AuthenticatorOptions;
  /** By their secrets, so that a token is hashed once and not with each request. */
  readonly #cache: CachePart<string, CachedCaller>;
  /** The last header and its caller, because comparing is faster than looking up. */
  #lastHeader = '';
  #last: CachedCaller | null = null;
  #accessRevision = -1;

  constructor(options: AuthenticatorOptions) {
    this.#options = options;
    this.#cache = cacheOf(options.state).part({ bytesOf: (_, secret) => CALLER_BYTES + secret.length });
  }

  /** The caller whose token `authorization` carries; null for a missing, malformed, unknown or expired one. */
  authenticate(authorization: string): Caller | null {
    if (this.#options.open) return ANYONE;
    this.#forgetFormerRights();
    const cached =
      this.#last !== null && authorization === this.#lastHeader ? this.#last : this.#resolve(authorization);
    return cached === null ? null : this.#use(cached);
  }

  /** The caller whom the session with this secret stands for; null for one that is unknown, has ended, or has expired. */
  authenticateSession(secret: string): Caller | null {
    if (this.#options.open) return ANYONE;
    const { world } = this.#options.state;
    this.#forgetFormerRights();
    // No token holds a space.
    const key = `session ${secret}`;
    const cached = this.#cache.get(key) ?? this.#lookUp(key, resolveSession(world, digestOf(secret)));
    // Sessions end without a change of anybody's rights.
    return cached === null || world.directory.sessions.get(cached.digest) !== cached.session
      ? null
      : this.#use(cached);
  }

  #forgetFormerRights(): void {
    const { accessRevision } = this.#options.state.world.directory;
    if (accessRevision === this.#accessRevision) return;
    this.#cache.clear();
    this.#last = null;
    this.#accessRevision = accessRevision;
  }

  #use(cached: CachedCaller): Caller | null {
    const now = this.#options.now();
    if (cached.caller.expiresAt <= now) return null;
    // Also after the clock was set back.
    if (Math.abs(now - cached.toldAtMs) >= USE_STEP_MS) {
      if (cached.session !== null && this.#isIdle(cached.session, now)) return null;
      cached.toldAtMs = now;
      this.#options.onUse(cached.digest);
    }
    return cached.caller;
  }

  #isIdle({ digest, createdAt }: Session, now: number): boolean {
    const usedAt = Math.max(Date.parse(createdAt), this.#options.usedAt(digest) ?? 0);
    return now - usedAt > this.#options.sessionIdleMs;
  }

  #resolve(authorization: string): CachedCaller | null {
    const secret = secretIn(authorization);
    if (secret === null) return null;
    const cached =
      this.#cache.get(secret) ??
      this.#lookUp(secret, resolveDigest(this.#options.state.world, digestOf(secret)));
    if (cached === null) return null;
    this.#lastHeader = authorization;
    this.#last = cached;
    return cached;
  }

  #lookUp(key: string, cached: CachedCaller | null): CachedCaller | null {
    if (cached !== null) this.#cache.set(key, cached);
    return cached;
  }
}

/** The secret in the header `Authorization`, with or without the word Bearer before it; null for anything else. */
export function secretIn(authorization: string): string | null {
  return CREDENTIALS_PATTERN.exec(authorization)?.[1] ?? null;
}

/** SHA-256 in hexadecimal, the only form in which a secret is stored (docs/specification/rights.md#secrets). */
export function digestOf(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}

function resolveDigest(world: World, digest: string): CachedCaller | null {
  const { apiTokens, personalTokens, users } = world.directory;
  const token = apiTokens.get(digest);
  if (token !== undefined) {
    const caller: Caller = {
      kind: token.type,
      actor: { name: token.tokenName, userId: API_TOKEN_USER_ID },
      user: null,
      token,
      roles: token.type === 'admin' ? [ADMIN] : [],
      groups: [],
      scope: scopeOf(token),
      expiresAt: expiryOf(token.expiresAt),
    };
    return { caller, digest, toldAtMs: Number.NEGATIVE_INFINITY, session: null };
  }
  const personal = personalTokens.get(digest);
  const user = personal === undefined ? undefined : users.get(personal.userId);
  if (personal === undefined || user === undefined) return null;
  const caller = callerOfUser(world, user, expiryOf(personal.expiresAt));
  return { caller, digest, toldAtMs: Number.NEGATIVE_INFINITY, session: null };
}

/** With a token, the session is good as long as the token is, and for the same. */
function resolveSession(world: World, digest: string): CachedCaller | null {
  const { sessions, users } = world.directory;
  const session = sessions.get(digest);
  if (session === undefined) return null;
  const { userId, tokenDigest } = session;
  const ends = Date.parse(session.expiresAt);
  const rest = { digest, toldAtMs: Number.NEGATIVE_INFINITY, session };
  if (tokenDigest !== null) {
    const token = resolveDigest(world, tokenDigest);
    if (token === null) return null;
    const expiresAt = Math.min(token.caller.expiresAt, ends);
    return { ...rest, caller: { ...token.caller, expiresAt } };
  }
  const user = userId === null ? undefined : users.get(userId);
  return user === undefined ? null : { ...rest, caller: callerOfUser(world, user, ends) };
}

/** A user as a caller. `expiresAt`: of the token or session. */
export function callerOfUser(world: World, user: User, expiresAt: number): Caller {
  const groups = groupsOf(world.directory, user.id);
  return {
    kind: 'user',
    actor: { name: actingName(user), userId: user.id },
    user,
    token: null,
    roles: [...new Set([user.rootRole, ...groups.flatMap(({ rootRole }) => rootRole ?? [])])].map((id) =>
      knownRole(world, id),
    ),
    groups: groups.map(({ id }) => id),
    scope: UNLIMITED,
    expiresAt,
  };
}

/** The actor for a user's changes; an unnamed one where there is no such user. */
export function actorOf({ directory }: World, userId: number | null): Actor {
  const user = userId === null ? undefined : directory.users.get(userId);
  return user === undefined ? NOBODY.actor : { name: actingName(user), userId: user.id };
}

/** The names that the log has for the author with this id: the one of a user now, or of every API token. */
export function authorNames({ directory }: World, userId: number): readonly string[] {
  if (userId === API_TOKEN_USER_ID)
    return [...directory.apiTokens.values()].map(({ tokenName }) => tokenName);
  if (userId === UNKNOWN_USER_ID) return [ANYONE.actor.name];
  if (userId === SYSTEM.userId) return [SYSTEM.name];
  const user = directory.users.get(userId);
  return user === undefined ? [] : [actingName(user)];
}

export interface Author {
  /** 0 where it was not recorded. */
  readonly id: number;
  readonly name: string;
  readonly email: string | null;
}

/** The user of an id; null where none was recorded. A deleted user has the number for a name. */
export function authorOf({ directory }: World, userId: number | null): Author {
  if (userId === null) return { id: 0, name: 'unknown', email: null };
  const user = directory.users.get(userId);
  if (user !== undefined) return { id: userId, name: actingName(user), email: user.email };
  if (userId === API_TOKEN_USER_ID) return { id: userId, name: 'API token', email: null };
  const fixed = [ANYONE.actor, SYSTEM].find((actor) => actor.userId === userId);
  return { id: userId, name: fixed?.name ?? String(userId), email: null };
}

export function scopeOf({ projects, environment }: ApiToken): CallerScope {
  return { projects: projects.includes(ALL) ? ALL : projects, environment };
}

export function expiryOf(expiresAt: string | null): number {
  return expiresAt === null ? Number.POSITIVE_INFINITY : Date.parse(expiresAt);
}

/** The project and environment that a request's path names. */
export interface Asked {
  readonly projectId: string | null;
  readonly environment: string | null;
}

/** Whether the caller may do what a route needs, there (src/domain/access/roles.ts decides what roles allow). */
export function mayDo(world: World, caller: Caller, need: Need, { projectId, environment }: Asked): boolean {
  const { permission } = need;
  if (permission === 'personal') return caller.user !== null && caller.user.isService !== true;
  if (permission === 'access:give') return mayGiveAccess(world, caller);
  for (const role of caller.roles) if (givesEverywhere(role, permission)) return true;
  const project = projectId === null ? undefined : world.projects.get(projectId);
  const here = rolesIn(world, caller, project);
  for (const role of here) if (givesInProject(role, permission)) return true;
  const environments = project?.settings.environments ?? null;
  return holdEnough([...caller.roles, ...here], need, { environment, environments });
}

const GIVING_ACCESS: Need = { permission: 'project:write', needs: ['PROJECT_USER_ACCESS_WRITE'] };

function mayGiveAccess(world: World, caller: Caller): boolean {
  const places = [null, ...world.projects.keys()];
  return places.some((projectId) => mayDo(world, caller, GIVING_ACCESS, { projectId, environment: null }));
}

/** The roles that the caller and the caller's groups hold in a project. */
export function rolesIn(
  world: World,
  { user, groups }: Caller,
  project: ProjectState | undefined,
): readonly Role[] {
  if (user === null || project === undefined) return [];
  const ids = [project.members.get(user.id), ...groups.map((group) => project.groups.get(group))];
  return ids.flatMap((id) => (id === undefined ? [] : [knownRole(world, id)]));
}
