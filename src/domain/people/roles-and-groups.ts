/** Roles and groups of the state: found, and listed. */

import { predefinedRole, ROLES, type Role } from '../access/roles.ts';
import type { Group } from '../kinds/group.ts';
import { notFound, type Refusal } from '../state/refusal.ts';
import type { DirectoryState, World } from '../state/world.ts';

type HasRoles = Pick<World, 'directory'>;

/** The predefined ones first, then the others in order of creation. */
export function allRoles({ directory }: HasRoles): readonly Role[] {
  return [...ROLES, ...directory.roles.values()];
}

export function findRole({ directory }: HasRoles, id: number): Role | undefined {
  return predefinedRole(id) ?? directory.roles.get(id);
}

/** The role with an id that is known to exist, such as one from the state. */
export function knownRole(world: HasRoles, id: number): Role {
  const role = findRole(world, id);
  if (role === undefined) throw new Error(`the state names role ${id}, which does not exist`);
  return role;
}

export function locateGroup({ directory }: World, id: number): Group | Refusal {
  return directory.groups.get(id) ?? notFound(`There is no group ${id}.`);
}

export function groupsOf({ groups }: Pick<DirectoryState, 'groups'>, userId: number): readonly Group[] {
  return [...groups.values()].filter(({ users }) => users.includes(userId));
}
