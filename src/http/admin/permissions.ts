/** The permissions that custom roles hold (docs/specification/membership.md#custom-roles). */

import * as v from 'valibot';
import { PERMISSIONS, type PermissionInfo } from '../../domain/access/permissions.ts';
import { titled, Version } from '../../domain/json/schema.ts';
import type { World } from '../../domain/state/world.ts';
import { readRoute, underTag } from '../serving/route.ts';
import { PermissionSchema, permissionView } from './views.ts';

const PermissionsSchema = titled('Permissions', {
  version: Version,
  permissions: v.object({
    root: v.array(PermissionSchema),
    project: v.array(PermissionSchema),
    environments: v.array(v.object({ name: v.string(), permissions: v.array(PermissionSchema) })),
  }),
});

/** All that custom roles can hold. */
function permissionsView({ directory }: World) {
  const ofKind = (kind: PermissionInfo['kind'], environment: string | null = null) =>
    PERMISSIONS.filter((one) => one.kind === kind).map((one) => permissionView(one, environment));
  const environments = directory.environments.map(({ name }) => ({
    name,
    permissions: ofKind('environment', name),
  }));
  return { version: 1, permissions: { root: ofKind('root'), project: ofKind('project'), environments } };
}

export const permissionRoutes = underTag('Users', [
  readRoute('GET /permissions', {
    operationId: 'getPermissions',
    summary: 'List the permissions that custom roles can hold.',
    success: { status: 200, schema: PermissionsSchema },
    shows: ({ world }) => permissionsView(world),
  }),
]);
