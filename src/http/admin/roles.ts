/** Routes about roles, the permissions that custom ones hold, and groups (docs/specification/membership.md#custom-roles). */
import * as v from 'valibot';
import { CUSTOM_ROLE_TYPES } from '../../domain/access/roles.ts';
import { described, lineOfText, list, TEXT_LENGTH_MAX, titled } from '../../domain/json/schema.ts';
import { allRoles } from '../../domain/people/roles-and-groups.ts';
import { jsonResponse } from '../serving/json-response.ts';
import { readRoute, underTag, writeRoute } from '../serving/route.ts';
import { ChangedRoleSchema, PermissionsSchema, RoleWithPermissionsSchema } from './access-schemas.ts';
import { RolesSchema } from './directory-schemas.ts';
import * as locate from './locators.ts';
import { settledResponse } from './responses.ts';
import { permissionsView, roleView, roleWithPermissionsView } from './views.ts';

const ROLE = '/roles/:roleId';

/** Each permission in each of 50 environments, and some repeated. */
const PERMISSIONS_MAX = 500;

const TYPE_PHRASE = `one of ${CUSTOM_ROLE_TYPES.join(', ')}`;
const TypeSchema = described(
  v.picklist(CUSTOM_ROLE_TYPES, TYPE_PHRASE),
  'root-custom: a root role; custom: a role in projects.',
);

const SentPermissionSchema = v.object({
  name: described(v.string(), 'As GET /permissions lists it.'),
  environment: described(
    v.optional(v.nullable(v.string())),
    'The environment in which it holds, for permissions of that type alone.',
  ),
});

const ROLE_ENTRIES = {
  name: lineOfText('a name', 1, TEXT_LENGTH_MAX),
  description: v.optional(lineOfText('a description', 0, TEXT_LENGTH_MAX), ''),
  permissions: v.optional(
    v.pipe(
      list(SentPermissionSchema, 'a list of permissions'),
      v.maxLength(PERMISSIONS_MAX, `a list of at most ${PERMISSIONS_MAX} permissions`),
    ),
    [],
  ),
} as const;

const CreateRoleBody = titled('CreateRole', { ...ROLE_ENTRIES, type: v.optional(TypeSchema, 'custom') });
const UpdateRoleBody = titled('UpdateRole', { ...ROLE_ENTRIES, type: v.optional(TypeSchema) });

export const roleRoutes = underTag('Users', [
  readRoute('GET /permissions', {
    operationId: 'getPermissions',
    summary: 'List the permissions that custom roles can hold.',
    success: { status: 200, schema: PermissionsSchema },
    read: (context) => settledResponse(context, permissionsView(context.world)),
  }),
  readRoute('GET /roles', {
    operationId: 'getRoles',
    summary: 'List the roles.',
    success: { status: 200, schema: RolesSchema },
    read: (context) => settledResponse(context, { version: 1, roles: allRoles(context.world).map(roleView) }),
  }),
  writeRoute('POST /roles', {
    operationId: 'createRole',
    summary: 'Create a custom role.',
    permission: 'admin',
    body: CreateRoleBody,
    success: { status: 200, schema: ChangedRoleSchema },
    refusals: ['NameExistsError'],
    command: ({ body }) => ({ type: 'create-role', fields: body }),
    respond: ({ world }) => {
      const role = locate.present(locate.role(world, { roleId: String(world.directory.lastRoleId) }));
      return jsonResponse(200, { version: 1, roles: roleWithPermissionsView(role) });
    },
  }),
  readRoute(`GET ${ROLE}`, {
    operationId: 'getRoleById',
    summary: 'Read a role with its permissions.',
    locate: locate.role,
    success: { status: 200, schema: RoleWithPermissionsSchema },
    read: (context, role) => settledResponse(context, roleWithPermissionsView(role)),
  }),
  writeRoute(`PUT ${ROLE}`, {
    operationId: 'updateRole',
    summary: 'Replace the name, the description and the permissions of a custom role.',
    permission: 'admin',
    locate: locate.role,
    body: UpdateRoleBody,
    success: { status: 200, schema: ChangedRoleSchema },
    refusals: ['NameExistsError'],
    command: ({ params, body }) => ({
      type: 'update-role',
      id: locate.numericId(params.roleId),
      fields: body,
    }),
    respond: ({ world, params }) => {
      const role = locate.present(locate.role(world, params));
      return jsonResponse(200, { version: 1, roles: roleWithPermissionsView(role) });
    },
  }),
  writeRoute(`DELETE ${ROLE}`, {
    operationId: 'deleteRole',
    summary: 'Delete a custom role that nobody holds.',
    permission: 'admin',
    locate: locate.role,
    command: ({ params }) => ({ type: 'delete-role', id: locate.numericId(params.roleId) }),
  }),
]);
