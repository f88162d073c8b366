/** The permissions that custom roles hold (docs/specification/membership.md#custom-roles). */
import { readRoute, underTag } from '../serving/route.ts';
import { PermissionsSchema } from './access-schemas.ts';
import { permissionsView } from './views.ts';

export const permissionRoutes = underTag('Users', [
  readRoute('GET /permissions', {
    operationId: 'getPermissions',
    summary: 'List the permissions that custom roles can hold.',
    success: { status: 200, schema: PermissionsSchema },
    shows: ({ world }) => permissionsView(world),
  }),
]);
