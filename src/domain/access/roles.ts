/**
 * Roles (docs/specification/membership.md#roles). The five predefined ones give rights; their ids and names are part of the
 * interface and never change. Custom roles hold permissions: those of the type `root-custom` can be a root role, those of
 * the type `custom` can be held in a project. Owner and Member can be both.
 */
import {
  includedPermissions,
  type Need,
  PERMISSIONS,
  type PermissionName,
  type Right,
} from './permissions.ts';

export const ROLE_NAMES = ['Admin', 'Editor', 'Viewer', 'Owner', 'Member'] as const;
export type RoleName = (typeof ROLE_NAMES)[number];

export interface PredefinedRole {
  readonly id: number;
  readonly name: RoleName;
  readonly type: 'root' | 'project';
  readonly description: string;
}

export const CUSTOM_ROLE_TYPES = ['root-custom', 'custom'] as const;
export type CustomRoleType = (typeof CUSTOM_ROLE_TYPES)[number];

export interface RolePermission {
  readonly name: PermissionName;
  /** A name; null for a permission that is not about environments. */
  readonly environment: string | null;
}

export interface CustomRole {
  readonly id: number;
  readonly name: string;
  readonly type: CustomRoleType;
  readonly description: string;
  readonly permissions: readonly RolePermission[];
}

export type Role = PredefinedRole | CustomRole;

export const ROLES: readonly PredefinedRole[] = [
  { id: 1, name: 'Admin', type: 'root', description: 'May do everything.' },
  {
    id: 2,
    name: 'Editor',
    type: 'root',
    description: 'May read everything, write flags in every project and create projects.',
  },
  { id: 3, name: 'Viewer', type: 'root', description: 'May read everything.' },
  { id: 4, name: 'Owner', type: 'project', description: 'May do everything in the project.' },
  { id: 5, name: 'Member', type: 'project', description: 'May write flags in the project.' },
];

export const ADMIN_ROLE_ID = 1;
export const OWNER_ROLE_ID = 4;

/** Ids of custom roles are greater. */
export const PREDEFINED_ROLE_ID_MAX = 5;

export function predefinedRole(id: number): PredefinedRole | undefined {
  return ROLES.find((role) => role.id === id);
}

export function roleIdByName(name: RoleName): number {
  return ROLE_NAMES.indexOf(name) + 1;
}

export function isCustom(role: Role): role is CustomRole {
  return 'permissions' in role;
}

export const canBeRoot = ({ type }: Role): boolean => type !== 'custom';
export const canBeInProject = ({ type }: Role): boolean => type === 'project' || type === 'custom';

// The rights of roles, and the one place that decides on them (docs/specification/rights.md#rights-by-role).

/** Rights that a root role gives in every project. */
const ROOT_RIGHTS: Readonly<Record<RoleName, readonly Right[]>> = {
  Admin: ['read', 'flag:write', 'targeting:write', 'project:write', 'project:create', 'admin', 'self'],
  Editor: ['read', 'flag:write', 'targeting:write', 'project:create', 'self'],
  Viewer: ['read', 'self'],
  Owner: ['read', 'flag:write', 'targeting:write', 'project:write', 'self'],
  Member: ['read', 'flag:write', 'targeting:write', 'self'],
};

/** Rights that a role in a project gives there. */
const OWNER_RIGHTS: readonly Right[] = ['read', 'flag:write', 'project:write'];
const MEMBER_RIGHTS: readonly Right[] = ['read', 'flag:write'];

/** Beside its permissions, a custom role gives what everybody with a role may. */
const CUSTOM_ROOT_RIGHTS: readonly Right[] = ['read', 'self'];
const CUSTOM_PROJECT_RIGHTS: readonly Right[] = ['read'];

/** The place that a request is about. */
export interface Place {
  /** The environment that the request names; null: it names none, and may change all of the project's. */
  readonly environment: string | null;
  /** Names of all environments of the project; null where the request is about no project. */
  readonly environments: readonly string[] | null;
}

/** Whether a root role gives the right by itself. */
export function givesEverywhere(role: Role, right: Right): boolean {
  return (isCustom(role) ? CUSTOM_ROOT_RIGHTS : ROOT_RIGHTS[role.name]).includes(right);
}

/** Whether a role in a project gives the right there by itself. */
export function givesInProject(role: Role, right: Right): boolean {
  if (isCustom(role)) return CUSTOM_PROJECT_RIGHTS.includes(right);
  return (role.name === 'Owner' ? OWNER_RIGHTS : MEMBER_RIGHTS).includes(right);
}

/**
 * Whether the roles together hold all permissions that are needed, or one of those of which one is. `roles` are the root roles and those
 * in the project that the request is about.
 */
export function holdEnough(
  roles: readonly Role[],
  { needs = [], needsOneOf = [] }: Need,
  place: Place,
): boolean {
  if (needsOneOf.some((name) => holdOne(roles, name, place))) return true;
  return needs.length > 0 && needs.every((name) => holdOne(roles, name, place));
}

function holdOne(roles: readonly Role[], name: PermissionName, place: Place): boolean {
  const held = roles.filter(isCustom).flatMap((role) => placesOf(role).get(name) ?? []);
  if (held.length === 0) return false;
  if (held.some((environments) => environments === EVERYWHERE)) return true;
  const { environment, environments } = place;
  const wanted = environment === null ? (environments ?? []) : [environment];
  return wanted.length > 0 && wanted.every((one) => held.some((places) => places.has(one)));
}

/** Stands for all environments. */
const EVERYWHERE: ReadonlySet<string> = new Set();

/** The environments in which a role holds each permission. A role may hold 500, and a list of rights asks for each in each project. */
const places = new WeakMap<CustomRole, ReadonlyMap<PermissionName, ReadonlySet<string>>>();

function placesOf(role: CustomRole): ReadonlyMap<PermissionName, ReadonlySet<string>> {
  let known = places.get(role);
  if (known === undefined) {
    known = placesIn(role.permissions);
    places.set(role, known);
  }
  return known;
}

function placesIn(permissions: readonly RolePermission[]): ReadonlyMap<PermissionName, ReadonlySet<string>> {
  const found = new Map<PermissionName, Set<string> | typeof EVERYWHERE>();
  for (const { name, environment } of permissions) {
    for (const held of includedPermissions(name)) {
      const before = found.get(held);
      if (environment === null) found.set(held, EVERYWHERE);
      else if (before === undefined) found.set(held, new Set([environment]));
      else if (before !== EVERYWHERE) (before as Set<string>).add(environment);
    }
  }
  return found;
}

/** The permissions that a role holds: of a predefined one, those that its rights include, everywhere. */
export function permissionsOf(role: Role): readonly RolePermission[] {
  return isCustom(role) ? role.permissions : PREDEFINED_PERMISSIONS[role.name];
}

const PREDEFINED_PERMISSIONS = Object.fromEntries(
  (Object.keys(ROOT_RIGHTS) as RoleName[]).map((name) => [name, includedIn(name)]),
) as Readonly<Record<PredefinedRole['name'], readonly RolePermission[]>>;

function includedIn(name: RoleName): readonly RolePermission[] {
  return PERMISSIONS.filter(({ within }) => ROOT_RIGHTS[name].includes(within)).map((one) => ({
    name: one.name,
    environment: null,
  }));
}
