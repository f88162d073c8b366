/** Rules of roles beyond those of their row (docs/specification/membership.md#custom-roles). */

import { PERMISSIONS, permissionByName } from '../access/permissions.ts';
import {
  type CustomRole,
  type CustomRoleType,
  canBeInProject,
  canBeRoot,
  type RolePermission,
} from '../access/roles.ts';
import { jsonSize } from '../json/json.ts';
import { didYouMean } from '../json/nearest-name.ts';
import { type DomainEvent, recordChange } from '../state/events.ts';
import { noEnvironment } from '../state/locate.ts';

import { invalid, invalidOperation, notFound, type Refusal, refuse } from '../state/refusal.ts';
import type { World } from '../state/world.ts';
import { allRoles, findRole } from './roles-and-groups.ts';

/** A role that somebody holds stays: whoever held it would silently lose rights, or have none. */
export function endsWithRole(world: World, { id, name }: CustomRole): readonly DomainEvent[] | Refusal {
  const holder = holderOf(world, id);
  if (holder === null) return [];
  return invalidOperation(`The role ${id} (${name}) is held by ${holder}; take it from there first.`);
}

export function refuseRole(world: World, { type, permissions }: CustomRole): Refusal | null {
  for (const [index, permission] of permissions.entries()) {
    const refusal = refusePermission(world, type, permission, `/body/permissions/${index}`);
    if (refusal !== null) return refusal;
  }
  return null;
}

/** A permission that nothing asks for is refused: it would promise what no request keeps. */
function refusePermission(
  world: World,
  type: CustomRoleType,
  { name, environment }: RolePermission,
  path: string,
): Refusal | null {
  const known = permissionByName(name);
  if (known === undefined) {
    const names = PERMISSIONS.map((one) => one.name);
    return invalid(`There is no permission "${name}".${didYouMean(name, names)}`, `${path}/name`);
  }
  if (known.kind === 'root' && type === 'custom') {
    const message = `The permission ${name} is about the whole service; only roles of the type root-custom hold it.`;
    return invalid(message, `${path}/name`);
  }
  if (known.kind !== 'environment') {
    if (environment === null) return null;
    return invalid(`The permission ${name} is not about environments.`, `${path}/environment`);
  }
  if (environment === null) {
    return invalid(`The permission ${name} holds in an environment; name it.`, `${path}/environment`);
  }
  const isKnown = world.directory.environments.some((one) => one.name === environment);
  return isKnown ? null : invalid(noEnvironment(world, environment), `${path}/environment`);
}

/** Bytes of the roles that one deletion changes: each is in an event twice, and the event must not hold up others for long. */
const FORGETTING_BYTES_MAX = 1024 * 1024;

/** The events by which custom roles lose what they hold in an environment that goes: a new one of its name gives nothing. */
export function environmentForgotten({ directory }: World, environment: string): DomainEvent[] | Refusal {
  const holders = [...directory.roles.values()].filter(({ permissions }) =>
    permissions.some((one) => one.environment === environment),
  );
  const bytes = holders.reduce((sum, role) => sum + jsonSize(role), 0);
  if (bytes > FORGETTING_BYTES_MAX) {
    return refuse(
      'PayloadTooLargeError',
      `${holders.length} custom roles hold permissions in the environment "${environment}", too many to change in one step. Take it out of some of them first, or delete roles that nobody holds.`,
    );
  }
  return holders.flatMap((role) => {
    const permissions = role.permissions.filter((one) => one.environment !== environment);
    return recordChange('roles', role, { ...role, permissions });
  });
}

/** The first thing that holds the role, in words. */
function holderOf({ directory, projects }: World, id: number): string | null {
  for (const user of directory.users.values()) if (user.rootRole === id) return `the user ${user.id}`;
  for (const group of directory.groups.values()) if (group.rootRole === id) return `the group ${group.id}`;
  for (const { settings, members, groups } of projects.values()) {
    if ([...members.values(), ...groups.values()].includes(id))
      return `members of the project "${settings.id}"`;
  }
  return null;
}

/** A 400 for the id of a role that cannot be a root role. */
export function refuseRootRole(world: World, id: number): Refusal | null {
  const role = findRole(world, id);
  if (role !== undefined && canBeRoot(role)) return null;
  const known = allRoles(world).filter(canBeRoot);
  const list = known.map((one) => `${one.id} (${one.name})`).join(', ');
  return invalid(`The field rootRole must be one of ${list}, not ${id}.`, '/body/rootRole');
}

/** A 404 for the id of a role that cannot be held in a project. */
export function locateProjectRole(world: World, id: number) {
  const role = findRole(world, id);
  if (role === undefined) return notFound(`There is no role ${id}.`);
  if (canBeInProject(role)) return role;
  const known = allRoles(world).filter(canBeInProject);
  return notFound(
    `The role ${id} (${role.name}) is a root role; in a project, ${known.map((one) => `${one.id} (${one.name})`).join(' and ')} exist.`,
  );
}
