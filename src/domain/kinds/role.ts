/** Custom roles, which hold permissions (docs/specification/membership.md#custom-roles). The predefined ones are in no record. */
import * as v from 'valibot';
import { type PermissionName, permissionByName } from '../access/permissions.ts';
import { CUSTOM_ROLE_TYPES, type CustomRole, PREDEFINED_ROLE_ID_MAX } from '../access/roles.ts';
import { Id, Text } from './document-values.ts';
import { kind } from './kind.ts';

export const CUSTOM_ROLES_MAX = 200;
export const ROLE_BYTES_MAX = 64 * 1024;

const CUSTOM_ID_MIN = PREDEFINED_ROLE_ID_MAX + 1;
const ID_PHRASE = `an integer above ${PREDEFINED_ROLE_ID_MAX}, up to which roles are predefined`;

/** No two roles have the same name, predefined ones included: state documents are checked for that where all names are known. */
export const ROLE = kind({
  noun: 'role',
  since: { release: '0.2.0', contentVersion: 2, documentVersion: 3 },
  events: { created: 'role-created', changed: ['role-updated'], deleted: 'role-deleted' },
  document: v.object({
    id: v.pipe(Id, v.minValue(CUSTOM_ID_MIN, ID_PHRASE)),
    name: Text,
    type: v.picklist(CUSTOM_ROLE_TYPES, `one of ${CUSTOM_ROLE_TYPES.join(', ')}`),
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
  }),
  idOf: ({ id }: CustomRole) => id,
  lastId: 'lastRoleId',
  unique: ['id'],
});
