/** Responses about roles, permissions and groups. */

import { PERMISSIONS, type PermissionInfo } from '../../../domain/access/permissions.ts';
import { permissionsOf } from '../../../domain/access/rights.ts';
import { canBeRoot, isCustom, type Role } from '../../../domain/access/roles.ts';
import type { Group } from '../../../domain/kinds/group.ts';
import { allRoles } from '../../../domain/people/roles-and-groups.ts';
import type { User, World } from '../../../domain/state/world.ts';
import { imageUrlOf } from './views.ts';

export const roleView = ({ id, name, type, description }: Role) => ({
  id,
  name,
  type,
  description,
  project: null,
});

/** Predefined ones for the whole service, and custom ones. */
export function rootRolesView(world: World) {
  const roles = allRoles(world).filter((role) => role.type === 'root' || (isCustom(role) && canBeRoot(role)));
  return roles.map(roleView);
}

function permissionView({ id, name, displayName, kind }: PermissionInfo, environment: string | null) {
  return { id, name, displayName, type: kind, ...(environment === null ? {} : { environment }) };
}

const BY_NAME = new Map(PERMISSIONS.map((one) => [one.name, one]));

export function roleWithPermissionsView(role: Role) {
  const { id, name, type, description } = role;
  const permissions = permissionsOf(role).map((held) => {
    const info = BY_NAME.get(held.name);
    if (info === undefined) throw new Error(`the role ${id} holds ${held.name}, which is no permission`);
    return permissionView(info, held.environment);
  });
  return { id, name, type, description, permissions };
}

/** All that custom roles can hold. */
export function permissionsView({ directory }: World) {
  const ofKind = (kind: PermissionInfo['kind'], environment: string | null = null) =>
    PERMISSIONS.filter((one) => one.kind === kind).map((one) => permissionView(one, environment));
  const environments = directory.environments.map(({ name }) => ({
    name,
    permissions: ofKind('environment', name),
  }));
  return { version: 1, permissions: { root: ofKind('root'), project: ofKind('project'), environments } };
}

export function foundUserView({ id, name, username, email }: User) {
  return {
    id,
    ...(name === null ? {} : { name }),
    ...(username === null ? {} : { username }),
    ...(email === null ? {} : { email }),
    imageUrl: imageUrlOf(email ?? username ?? ''),
  };
}

/** Without its users, of which each of a thousand groups may have a thousand. */
export const groupSummaryView = ({
  id,
  name,
  description,
  rootRole,
  mappingsSSO,
  createdAt,
  createdBy,
  users,
}: Group) => ({
  id,
  name,
  ...(description === null ? {} : { description }),
  ...(rootRole === null ? {} : { rootRole }),
  mappingsSSO,
  createdAt,
  createdBy,
  userCount: users.length,
});

/** Without the projects in which it has a role. A user may have gone since a list of groups was begun. */
export function bareGroupView({ users: known }: World['directory'], group: Group) {
  const users = group.users.flatMap((userId) => {
    const user = known.get(userId);
    return user === undefined ? [] : [{ user: foundUserView(user) }];
  });
  return { ...groupSummaryView(group), users };
}

export function groupView(world: World, group: Group) {
  const projects: string[] = [];
  for (const { settings, groups } of world.projects.values()) {
    if (groups.has(group.id)) projects.push(settings.id);
  }
  return { ...bareGroupView(world.directory, group), projects };
}
