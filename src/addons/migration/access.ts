/**
 * Custom roles and groups: the paid editions of Unleash have them, and Flagstaff. A permission that Flagstaff does not know stays behind,
 * and the report says so; a role never gets more than it had.
 */
import * as v from 'valibot';
import { permissionByName } from '../../domain/access/permissions.ts';
import type { AdminClient } from '../../host/admin-client.ts';
import { type MigratedItem, namedItem, request, segment, shaped } from './target-request.ts';

export interface CustomRole {
  readonly name: string;
  readonly type: string;
  readonly description: string;
  /** Permissions in the order of their names. */
  readonly permissions: readonly { readonly name: string; readonly environment?: string }[];
}

export interface Group {
  readonly name: string;
  readonly description: string;
  /** The name of a role; null for none. */
  readonly rootRole: string | null;
  /** Logins, sorted. */
  readonly users: readonly string[];
}

const CUSTOM_TYPES = new Set(['custom', 'root-custom']);

const text = v.nullish(v.string(), '');
const ROLES = v.object({
  roles: v.array(v.object({ id: v.number(), name: v.string(), type: text, description: text })),
});
const ROLE = v.object({
  permissions: v.nullish(v.array(v.object({ name: v.string(), environment: text })), []),
});
const GROUPS = v.object({
  groups: v.array(
    v.object({
      id: v.number(),
      name: v.string(),
      description: text,
      rootRole: v.nullish(v.number(), null),
      users: v.nullish(v.array(v.object({ user: v.object({ id: v.number() }) })), []),
    }),
  ),
});

export interface Access {
  readonly customRoles: ReadonlyMap<string, CustomRole>;
  readonly groups: ReadonlyMap<string, Group>;
  readonly groupIds: ReadonlyMap<string, number>;
}

/** `roles` gets the ids of those that are found. */
export async function readAccess(
  client: AdminClient,
  logins: ReadonlyMap<number, string>,
  roles: Map<string, number>,
  remarks: string[],
): Promise<Access> {
  const listed = shaped('/roles', (await client.getIfThere('/roles', true)) ?? { roles: [] }, ROLES);
  const customRoles = new Map<string, CustomRole>();
  for (const { id, name, type, description } of listed.roles) {
    roles.set(name, id);
    if (!CUSTOM_TYPES.has(type)) continue;
    const { permissions } = shaped(`/roles/${id}`, await client.get(`/roles/${id}`), ROLE);
    const known = permissions.filter((one) => permissionByName(one.name) !== undefined);
    const unknown = permissions.filter((one) => !known.includes(one)).map((one) => one.name);
    if (unknown.length > 0)
      remarks.push(`The role "${name}" has permissions that Flagstaff does not have: ${unknown.join(', ')}.`);
    customRoles.set(name, {
      name,
      type,
      description,
      permissions: known
        .map((one) =>
          one.environment ? { name: one.name, environment: one.environment } : { name: one.name },
        )
        .toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)),
    });
  }
  const sent = shaped('/groups', (await client.getIfThere('/groups', true)) ?? { groups: [] }, GROUPS);
  const roleNames = new Map([...roles].map(([name, id]) => [id, name]));
  const groups = sent.groups.map(({ name, description, rootRole, users }) => ({
    name,
    description,
    rootRole: rootRole === null ? null : (roleNames.get(rootRole) ?? null),
    users: users.flatMap(({ user }) => logins.get(user.id) ?? []).toSorted(),
  }));
  return {
    customRoles,
    groups: new Map(groups.map((group) => [group.name, group])),
    groupIds: new Map(sent.groups.map(({ name, id }) => [name, id])),
  };
}

export const roleItems = ({ customRoles }: Access): readonly MigratedItem[] =>
  [...customRoles.values()].map((role) => namedItem('role', '/roles', role, 'roles'));

/** After users and roles are there. */
export const groupItems = ({ groups }: Access): readonly MigratedItem[] =>
  [...groups.values()].map((group) =>
    namedItem('group', '/groups', group, 'groups', (ids) => ({
      ...group,
      rootRole: group.rootRole === null ? null : (ids.roles.get(group.rootRole) ?? null),
      users: group.users.flatMap((login) => {
        const id = ids.users.get(login);
        return id === undefined ? [] : [{ user: { id } }];
      }),
    })),
  );

/** A group's roles in a project. */
export interface GroupMembership {
  readonly group: string;
  readonly roles: readonly string[];
}

export function groupMembershipItem(project: string, { group, roles }: GroupMembership): MigratedItem {
  const does = `make group "${group}" ${roles.join(', ')} of project "${project}"`;
  const create = request(does, 'PUT', (ids) => ({
    path: `/projects/${segment(project)}/groups/${ids.groups.get(group) ?? 0}/roles`,
    body: { roles: roles.flatMap((role) => ids.roles.get(role) ?? []) },
  }));
  return { kind: 'group', name: `${group} of ${project}`, value: roles, needs: `project ${project}`, create };
}
