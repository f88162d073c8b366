/** Maintenance: while it is on, all changes but its end are refused. */
import * as v from 'valibot';
import { isInMaintenance } from '../../../domain/state/settings.ts';
import { emptyResponse } from '../../serving/json-response.ts';
import { type Route, readRoute, writeRoute } from '../../serving/route.ts';
import { settledResponse } from '../views/responses.ts';

const MAINTENANCE = '/maintenance';

const MaintenanceSchema = v.pipe(
  v.object({ enabled: v.pipe(v.boolean(), v.description('Whether all changes are refused with 503.')) }),
  v.title('Maintenance'),
);

export const maintenanceRoutes: readonly Route[] = [
  readRoute({
    method: 'GET',
    path: MAINTENANCE,
    operationId: 'getMaintenance',
    tag: 'Instance',
    summary: 'Read whether the server is in maintenance.',
    permission: 'read',
    success: { status: 200, schema: MaintenanceSchema },
    read: (context) =>
      settledResponse(context, { enabled: isInMaintenance(context.world.directory.settings) }),
  }),
  writeRoute({
    method: 'POST',
    path: MAINTENANCE,
    operationId: 'toggleMaintenance',
    tag: 'Instance',
    summary: 'Begin or end maintenance.',
    permission: 'admin',
    needs: ['UPDATE_MAINTENANCE_MODE'],
    body: MaintenanceSchema,
    success: { status: 204, schema: null },
    command: ({ body }) => ({ type: 'set-maintenance', enabled: body.enabled }),
    respond: () => emptyResponse(204),
  }),
];
