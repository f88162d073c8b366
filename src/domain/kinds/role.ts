/** Custom roles, which hold permissions (docs/specification/membership.md#custom-roles). The predefined ones are in no record. */
import * as v from 'valibot';
import { type PermissionName, permissionByName } from '../access/permissions.ts';
import { CUSTOM_ROLE_TYPES, type CustomRole, PREDEFINED_ROLE_ID_MAX, ROLES } from '../access/roles.ts';
import { described, lineOfText, listUpTo, TEXT_LENGTH_MAX } from '../json/schema.ts';
import { Id, Text } from './document-values.ts';
import { managedKind } from './kind.ts';

export const CUSTOM_ROLES_MAX = 200;
export const ROLE_BYTES_MAX = 64 * 1024;

const CUSTOM_ID_MIN = PREDEFINED_ROLE_ID_MAX + 1;
const ID_PHRASE = `an integer above ${PREDEFINED_ROLE_ID_MAX}, up to which roles are predefined`;

/** Each permission in each of 50 environments, and some repeated. */
const PERMISSIONS_MAX = 500;

const TYPE_PHRASE = `one of ${CUSTOM_ROLE_TYPES.join(', ')}`;
const TypeSchema = v.picklist(CUSTOM_ROLE_TYPES, TYPE_PHRASE);
const SentTypeSchema = described(TypeSchema, 'root-custom: a root role; custom: a role in projects.');

/** Whether there is such a permission is decided with the command, which knows the names that are near. */
const SentPermissionSchema = v.pipe(
  v.object({
    name: described(v.string(), 'As GET /permissions lists it.'),
    environment: described(
      v.optional(v.nullable(v.string())),
      'The environment in which it holds, for permissions of that type alone.',
    ),
  }),
  v.transform(({ name, environment }) => ({
    name: name as PermissionName,
    environment: environment || null,
  })),
);

const SENT = {
  name: lineOfText('a name', 1, TEXT_LENGTH_MAX),
  description: v.optional(lineOfText('a description', 0, TEXT_LENGTH_MAX), ''),
  permissions: v.optional(listUpTo(PERMISSIONS_MAX, 'permissions', SentPermissionSchema), []),
  type: v.optional(SentTypeSchema, 'custom'),
} as const;

const DocumentSchema = v.object({
  id: v.pipe(Id, v.minValue(CUSTOM_ID_MIN, ID_PHRASE)),
  name: Text,
  type: TypeSchema,
  description: v.string(),
  permissions: v.array(
    v.object({
      name: v.custom<PermissionName>(
        (text) => typeof text === 'string' && permissionByName(text) !== undefined,
        'the name of a permission',
      ),
      environment: v.nullable(Text),
    }),
  ),
});

/** Each permission once in an environment, of whose names none has a space. */
function distinct(permissions: CustomRole['permissions']): CustomRole['permissions'] {
  return [...new Map(permissions.map((one) => [`${one.name} ${one.environment ?? ''}`, one])).values()];
}

/** No two roles have the same name, predefined ones included. */
export const ROLE = managedKind({
  noun: 'role',
  since: { release: '0.2.0', contentVersion: 2, documentVersion: 3 },
  events: { created: 'role-created', changed: ['role-updated'], deleted: 'role-deleted' },
  sent: SENT,
  changes: { ...SENT, type: v.optional(SentTypeSchema) },
  added: { id: Id },
  document: DocumentSchema,
  lastId: 'lastRoleId',
  uniqueFolded: ['name'],
  defaults: {},
  normal: (role) => ({ ...role, permissions: distinct(role.permissions) }),
  countMax: CUSTOM_ROLES_MAX,
  bytesMax: ROLE_BYTES_MAX,
  predefined: ROLES as readonly unknown[] as readonly CustomRole[],
  canChangePredefined: false,
  compare: (one, other) => one.id - other.id,
  faultOf: ({ after, before }) => {
    if (before === null || before.type === after.type) return null;
    const message = `The role ${after.id} is of the type ${before.type}, which cannot change; create another role instead.`;
    return { message, path: '/body/type' };
  },
  routes: {
    path: '/roles',
    param: 'roleId',
    tag: 'Users',
    permission: 'admin',
    list: { id: 'getRoles', summary: 'List the roles.', field: 'roles' },
    create: { id: 'createRole', summary: 'Create a custom role.' },
    read: { id: 'getRoleById', summary: 'Read a role with its permissions.' },
    update: {
      id: 'updateRole',
      summary: 'Replace the name, the description and the permissions of a custom role.',
    },
    remove: { id: 'deleteRole', summary: 'Delete a custom role that nobody holds.' },
    createdStatus: 200,
    doneStatus: 200,
    updateShows: true,
    changedField: 'roles',
    listVersion: 1,
  },
});
