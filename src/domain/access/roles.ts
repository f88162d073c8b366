/**
 * The five predefined roles (docs/specification/membership.md#roles). Their ids and names are part of the interface
 * and never change. Only project roles can be held in a project; any of the five can be a user's root role.
 */

export interface Role {
  readonly id: number;
  readonly name: RoleName;
  readonly type: 'root' | 'project';
  readonly description: string;
}

export const ROLE_NAMES = ['Admin', 'Editor', 'Viewer', 'Owner', 'Member'] as const;
export type RoleName = (typeof ROLE_NAMES)[number];

export const ROLES: readonly Role[] = [
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
export const MEMBER_ROLE_ID = 5;

export function roleById(id: number): Role | undefined {
  return ROLES.find((role) => role.id === id);
}

export function roleByName(name: string): Role | undefined {
  return ROLES.find((role) => role.name === name);
}

/** The role with an id that is known to exist, such as one from the state. */
export function knownRole(id: number): Role {
  const role = roleById(id);
  if (role === undefined) throw new Error(`the state names role ${id}, which does not exist`);
  return role;
}
