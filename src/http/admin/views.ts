/** Small responses that are not cached: users, profiles, roles and groups. */

import { createHash } from 'node:crypto';
import * as v from 'valibot';
import type { FlagSeen, UsageView } from '../../actors/usage-view.ts';
import { PERMISSIONS, type PermissionInfo } from '../../domain/access/permissions.ts';
import {
  CUSTOM_ROLE_TYPES,
  canBeRoot,
  isCustom,
  permissionsOf,
  type Role,
} from '../../domain/access/roles.ts';
import type { Flag } from '../../domain/flags/flag.ts';
import { type Stage, stagesOf } from '../../domain/flags/lifecycle.ts';
import { described, Integer, NullableTimestamp, Timestamp, titled } from '../../domain/json/schema.ts';
import type { Group } from '../../domain/kinds/group.ts';
import { allRoles } from '../../domain/people/roles-and-groups.ts';
import { findNamed } from '../../domain/state/directory-records.ts';
import type { User, World } from '../../domain/state/world.ts';
import { shownFields } from './record-schemas.ts';
import { shown } from './shown.ts';

/** Fields that were never given are left out. */
export const NAMES = { name: v.exactOptional(v.string()), username: v.exactOptional(v.string()) } as const;

export const RoleSchema = titled('Role', {
  id: Integer,
  name: v.string(),
  type: described(
    v.picklist(['root', 'project', ...CUSTOM_ROLE_TYPES]),
    'root and project: predefined; root-custom: a custom root role; custom: a custom one for projects.',
  ),
  description: v.string(),
  project: v.null(),
});

export const FoundUserSchema = titled('FoundUser', {
  id: Integer,
  ...NAMES,
  email: v.exactOptional(v.string()),
  imageUrl: v.string(),
});

/** Clients of this interface refuse fields that they do not know, and null where there is no environment. */
export const PermissionSchema = titled('Permission', {
  id: Integer,
  name: v.string(),
  displayName: v.string(),
  type: described(v.picklist(['root', 'project', 'environment']), 'Where it holds.'),
  environment: v.exactOptional(v.string()),
});

export const RoleWithPermissionsSchema = titled('RoleWithPermissions', {
  id: Integer,
  name: v.string(),
  type: RoleSchema.entries.type,
  description: v.string(),
  permissions: v.array(PermissionSchema),
});

const { users: _, ...GROUP_OWN_FIELDS } = shownFields('groups');

export const GROUP_FIELDS = { ...GROUP_OWN_FIELDS, userCount: Integer };

export const GroupSummarySchema = titled('GroupSummary', GROUP_FIELDS);

export const GroupUsersSchema = v.array(v.object({ user: FoundUserSchema }));

export const GroupSchema = titled('Group', {
  ...GROUP_FIELDS,
  users: GroupUsersSchema,
  projects: described(v.array(v.string()), 'Ids of projects in which it has a role.'),
});

export const UserSchema = titled('User', {
  id: Integer,
  isAPI: v.boolean(),
  name: v.nullable(v.string()),
  email: v.exactOptional(v.string()),
  username: v.nullable(v.string()),
  imageUrl: v.string(),
  loginAttempts: Integer,
  rootRole: Integer,
  seenAt: NullableTimestamp,
  createdAt: Timestamp,
  accountType: v.string(),
  permissions: v.array(v.string()),
});

/** A user as companions show one: fields that were never given are left out. */
export const CompanionUserSchema = titled('CompanionUser', {
  ...UserSchema.entries,
  ...NAMES,
});

/**
 * Gravatar's address for an email or a username. Only browsers request it, never the server (docs/specification/users.md#identity).
 */
export function imageUrlOf({ email, username }: Pick<User, 'email' | 'username'>): string {
  const identity = email ?? username ?? '';
  const hash = createHash('sha256').update(identity.trim().toLowerCase()).digest('hex');
  return `https://gravatar.com/avatar/${hash}?s=42&d=retro&r=g`;
}

/** Looks up the times at which users signed in. */
export type SignInsOf = UsageView['signIns'];

/** Fields of a user with those that responses add to them. */
export function userFields(user: User, signIns: SignInsOf) {
  const { lastMs, failedCount } = signIns.of(user.id);
  return {
    ...user,
    isAPI: false,
    imageUrl: imageUrlOf(user),
    loginAttempts: failedCount,
    seenAt: timeOrNull(lastMs),
    accountType: user.isService === true ? 'Service Account' : 'User',
    permissions: [],
  };
}

export const companionUserView = (user: User, signIns: SignInsOf) =>
  shown(CompanionUserSchema, userFields(user, signIns));

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

export function stageView(world: World, flag: Flag, seen: FlagSeen | null): Stage {
  return stagesView(world, flag, seen).at(-1)!;
}

export const coloredTags = (world: World, { tags }: Flag) =>
  tags.map(({ type, value }) => ({ type, value, color: findNamed(world, 'tagTypes', type)?.color ?? null }));

// Responses about roles, permissions and groups.

export const roleView = (role: Role) => shown(RoleSchema, { ...role, project: null });

/** Predefined ones for the whole service, and custom ones. */
export function rootRolesView(world: World) {
  const roles = allRoles(world).filter((role) => role.type === 'root' || (isCustom(role) && canBeRoot(role)));
  return roles.map(roleView);
}

export const permissionView = (permission: PermissionInfo, environment: string | null) =>
  shown(PermissionSchema, { ...permission, type: permission.kind, environment });

const BY_NAME = new Map(PERMISSIONS.map((one) => [one.name, one]));

export function roleWithPermissionsView(role: Role) {
  const permissions = permissionsOf(role).map((held) => {
    const info = BY_NAME.get(held.name);
    if (info === undefined) throw new Error(`the role ${role.id} holds ${held.name}, which is no permission`);
    return permissionView(info, held.environment);
  });
  return shown(RoleWithPermissionsSchema, { ...role, permissions });
}

export const foundUserView = (user: User) => shown(FoundUserSchema, { ...user, imageUrl: imageUrlOf(user) });

/** Without its users, of which each of a thousand groups may have a thousand. */
export const groupSummaryView = (group: Group) =>
  shown(GroupSummarySchema, { ...group, userCount: group.users.length });

/** Without the projects in which it has a role. A user may have gone since a list of groups was begun. */
export function bareGroupView({ users }: World['directory'], group: Group) {
  const members = group.users.flatMap((userId) => users.get(userId) ?? []);
  return { ...groupSummaryView(group), users: members.map((user) => ({ user: foundUserView(user) })) };
}

export function groupView(world: World, group: Group) {
  const projects: string[] = [];
  for (const { settings, groups } of world.projects.values()) {
    if (groups.has(group.id)) projects.push(settings.id);
  }
  return { ...bareGroupView(world.directory, group), projects };
}
