/** Decisions on custom roles (docs/specification/membership.md#custom-roles). */

import { PERMISSIONS, permissionByName } from '../access/permissions.ts';
import {
  type CustomRole,
  type CustomRoleType,
  canBeInProject,
  canBeRoot,
  isCustom,
  PREDEFINED_ROLE_ID_MAX,
  type RolePermission,
} from '../access/roles.ts';
import { refuseLargerThan } from '../growth/refuse-size.ts';
import { jsonEqual, jsonSize } from '../json/json.ts';
import { CUSTOM_ROLES_MAX, ROLE_BYTES_MAX } from '../kinds/role.ts';
import { type Decision, UNCHANGED } from '../state/decision.ts';
import { ABOUT_NOTHING, type DomainEvent } from '../state/events.ts';
import { noEnvironment } from '../state/locate.ts';
import { didYouMean } from '../state/nearest-name.ts';
import {
  invalid,
  invalidOperation,
  isRefusal,
  nameExists,
  notFound,
  type Refusal,
  refuse,
} from '../state/refusal.ts';
import type { World } from '../state/world.ts';
import { allRoles, findRole, locateRole } from './roles-and-groups.ts';

/** A permission as the request has it. */
interface SentPermission {
  readonly name: string;
  readonly environment?: string | null | undefined;
}

interface RoleFields {
  readonly name: string;
  readonly description: string;
  readonly permissions: readonly SentPermission[];
}

interface CreateRole {
  readonly fields: RoleFields & { readonly type: CustomRoleType };
}

export function createRole(world: World, { fields }: CreateRole): Decision {
  const { roles, lastRoleId } = world.directory;
  if (roles.size >= CUSTOM_ROLES_MAX) {
    return invalidOperation(`There are ${CUSTOM_ROLES_MAX} custom roles, and there cannot be more.`);
  }
  const id = Math.max(lastRoleId, PREDEFINED_ROLE_ID_MAX) + 1;
  const data = roleOf(world, id, fields);
  if (isRefusal(data)) return data;
  return (
    refuseTakenRoleName(world, data.name, null) ?? [
      { type: 'role-created', ...ABOUT_NOTHING, data, preData: null },
    ]
  );
}

interface UpdateRole {
  readonly id: number;
  /** An absent type keeps what it is; none can change. */
  readonly fields: RoleFields & { readonly type?: CustomRoleType | undefined };
}

export function updateRole(world: World, { id, fields }: UpdateRole): Decision {
  const preData = locateCustomRole(world, id);
  if (isRefusal(preData)) return preData;
  if (fields.type !== undefined && fields.type !== preData.type) {
    return invalid(
      `The role ${id} is of the type ${preData.type}, which cannot change; create another role instead.`,
      '/body/type',
    );
  }
  const data = roleOf(world, id, { ...fields, type: preData.type });
  if (isRefusal(data)) return data;
  const taken = refuseTakenRoleName(world, data.name, id);
  if (taken !== null) return taken;
  if (jsonEqual(data, preData)) return UNCHANGED;
  return [{ type: 'role-updated', ...ABOUT_NOTHING, data, preData }];
}

/** A role that somebody holds stays: whoever held it would silently lose rights, or have none. */
export function deleteRole(world: World, { id }: { readonly id: number }): Decision {
  const preData = locateCustomRole(world, id);
  if (isRefusal(preData)) return preData;
  const holder = holderOf(world, id);
  if (holder !== null) {
    return invalidOperation(
      `The role ${id} (${preData.name}) is held by ${holder}; take it from there first.`,
    );
  }
  return [{ type: 'role-deleted', ...ABOUT_NOTHING, data: null, preData }];
}

/** Names of roles differ by more than case, from those of predefined ones too. */
export function refuseTakenRoleName(world: World, name: string, ownId: number | null): Refusal | null {
  const folded = name.toLowerCase();
  const taken = allRoles(world).some((role) => role.id !== ownId && role.name.toLowerCase() === folded);
  return taken ? nameExists(`A role named "${name}" exists already.`) : null;
}

function locateCustomRole(world: World, id: number): CustomRole | Refusal {
  const role = locateRole(world, id);
  if (isRefusal(role) || isCustom(role)) return role;
  return invalidOperation(`The role ${id} (${role.name}) is predefined; only custom roles can change.`);
}

function roleOf(world: World, id: number, { name, type, description, permissions }: CreateRole['fields']) {
  const held = new Map<string, RolePermission>();
  for (const [index, sent] of permissions.entries()) {
    const permission = permissionOf(world, type, sent, `/body/permissions/${index}`);
    if (isRefusal(permission)) return permission;
    // No name of an environment has a space.
    held.set(`${permission.name} ${permission.environment ?? ''}`, permission);
  }
  const role: CustomRole = { id, name, type, description, permissions: [...held.values()] };
  return refuseLargerThan(ROLE_BYTES_MAX, `The role "${name}"`, role) ?? role;
}

/** A permission that nothing asks for is refused: it would promise what no request keeps. */
function permissionOf(
  world: World,
  type: CustomRoleType,
  { name, environment = null }: SentPermission,
  path: string,
): RolePermission | Refusal {
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
    if (environment === null || environment === '') return { name: known.name, environment: null };
    return invalid(`The permission ${name} is not about environments.`, `${path}/environment`);
  }
  if (environment === null || environment === '') {
    return invalid(`The permission ${name} holds in an environment; name it.`, `${path}/environment`);
  }
  if (world.directory.environments.every((one) => one.name !== environment)) {
    return invalid(noEnvironment(world, environment), `${path}/environment`);
  }
  return { name: known.name, environment };
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
  return holders.map((preData) => {
    const permissions = preData.permissions.filter((one) => one.environment !== environment);
    return { type: 'role-updated', ...ABOUT_NOTHING, data: { ...preData, permissions }, preData };
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
