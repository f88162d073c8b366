/**
 * Roles (docs/specification/membership.md#roles). The five predefined ones give rights; their ids and names are part of the
 * interface and never change. Custom roles hold permissions: those of the type `root-custom` can be a root role, those of
 * the type `custom` can be held in a project. Owner and Member can be both.
 */
import type { PermissionName } from './permissions.ts';

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

/** The id of a predefined role by its name. */
export function roleIdByName(name: RoleName): number {
  return ROLE_NAMES.indexOf(name) + 1;
}

export function isCustom(role: Role): role is CustomRole {
  return 'permissions' in role;
}

export const canBeRoot = ({ type }: Role): boolean => type !== 'custom';
export const canBeInProject = ({ type }: Role): boolean => type === 'project' || type === 'custom';
