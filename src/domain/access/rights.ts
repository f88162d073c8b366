/** The rights of roles, and the one place that decides on them (docs/specification/rights.md#rights-by-role). */
import {
  includesPermission,
  type Need,
  PERMISSIONS,
  type PermissionName,
  type Right,
} from './permissions.ts';
import { isCustom, type PredefinedRole, type Role, type RoleName, type RolePermission } from './roles.ts';

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
  const held = roles
    .filter(isCustom)
    .flatMap(({ permissions }) => permissions.filter((one) => includesPermission(one.name, name)));
  if (held.length === 0) return false;
  if (held.some(({ environment }) => environment === null)) return true;
  const { environment, environments } = place;
  const wanted = environment === null ? (environments ?? []) : [environment];
  return (
    wanted.length > 0 && wanted.every((one) => held.some((permission) => permission.environment === one))
  );
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
