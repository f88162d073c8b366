/** Small responses that are not cached: users and profiles. */

import { createHash } from 'node:crypto';
import { ADMIN_ROLE_ID } from '../../../domain/access/roles.ts';
import type { Flag } from '../../../domain/flags/flag.ts';
import { type Stage, stagesOf } from '../../../domain/flags/lifecycle.ts';
import { knownRole } from '../../../domain/people/roles-and-groups.ts';
import { findNamed } from '../../../domain/state/directory-records.ts';
import type { User, World } from '../../../domain/state/world.ts';
import type { FlagSeen } from '../../../domain/usage/last-seen.ts';
import type { UserSignIns } from '../../../domain/usage/sign-ins.ts';
import type { Caller } from '../../serving/access.ts';

/**
 * Gravatar's address for an email or a username. Only browsers request it, never the server (docs/specification/users.md#identity).
 */
export function imageUrlOf(identity: string): string {
  const hash = createHash('sha256').update(identity.trim().toLowerCase()).digest('hex');
  return `https://gravatar.com/avatar/${hash}?s=42&d=retro&r=g`;
}

/** Looks up the times at which users signed in. */
export type SignInsOf = Pick<UserSignIns, 'of'>;

export function userView(user: User, signIns: SignInsOf) {
  const { lastMs, failedCount } = signIns.of(user.id);
  return {
    id: user.id,
    isAPI: false,
    name: user.name,
    // The interface does not allow an email of null, so a missing one is left out.
    ...(user.email === null ? {} : { email: user.email }),
    username: user.username,
    imageUrl: imageUrlOf(user.email ?? user.username ?? ''),
    loginAttempts: failedCount,
    rootRole: user.rootRole,
    seenAt: timeOrNull(lastMs),
    createdAt: user.createdAt,
    accountType: user.isService === true ? 'Service Account' : 'User',
    permissions: [],
    scimId: null,
  };
}

/** A user as companions show one: fields that were never given are left out, not null. */
export function companionUserView(user: User, signIns: SignInsOf) {
  const { name, username, ...shown } = userView(user, signIns);
  return { ...shown, ...(name === null ? {} : { name }), ...(username === null ? {} : { username }) };
}

/** API tokens, and everybody where authentication is off, have the root role Admin and no projects. */
export function profileView(world: World, caller: Caller) {
  const { id, type, name, description } = knownRole(world, caller.user?.rootRole ?? ADMIN_ROLE_ID);
  return {
    rootRole: { id, type, name, description, project: null },
    projects: projectsOf(world, caller),
    features: [],
    subscriptions: [],
  };
}

/** Projects in which the caller, or one of the caller's groups, holds a role. */
function projectsOf({ projects }: World, { user, groups }: Caller): string[] {
  if (user === null) return [];
  return [...projects.values()]
    .filter((project) => project.members.has(user.id) || groups.some((id) => project.groups.has(id)))
    .map((project) => project.settings.id);
}

/** Milliseconds since 1970 as ISO 8601. */
export function timeOrNull(atMs: number | null | undefined): string | null {
  return atMs === null || atMs === undefined ? null : new Date(atMs).toISOString();
}

// The stages of a flag's life, from the state and from what applications reported.

const NEVER: ReadonlyMap<string, number> = new Map();

export function stagesView({ directory }: World, flag: Flag, seen: FlagSeen | null): readonly Stage[] {
  return stagesOf({
    createdAt: flag.createdAt,
    archivedAt: flag.archivedAt,
    completion: directory.completions.get(flag.name) ?? null,
    firstSeen: seen?.first ?? NEVER,
    isProduction: (name) => directory.environments.find((one) => one.name === name)?.type === 'production',
  });
}

/** The stage that the flag is in. */
export function stageView(world: World, flag: Flag, seen: FlagSeen | null): Stage {
  return stagesView(world, flag, seen).at(-1)!;
}

/** Tags with the colors of their types. */
export const coloredTags = (world: World, { tags }: Flag) =>
  tags.map(({ type, value }) => ({ type, value, color: findNamed(world, 'tagTypes', type)?.color ?? null }));
