/** The figures of the running process. */
import * as v from 'valibot';
import { isInMaintenance } from '../../../domain/state/settings.ts';
import { emptyResponse, jsonResponse } from '../../serving/json-response.ts';
import { type Route, readRoute, writeRoute } from '../../serving/route.ts';
import { settledResponse } from '../views/responses.ts';

const Count = v.pipe(v.number(), v.integer(), v.minValue(0));
const Bytes = v.pipe(Count, v.description('Bytes.'));

const SnapshotSchema = v.pipe(
  v.object({
    eventId: v.pipe(Count, v.description('Of the last event in it.')),
    eventAt: v.pipe(v.string(), v.isoTimestamp(), v.description('Time of that event.')),
    ageSeconds: Count,
    bytes: Bytes,
  }),
  v.title('SnapshotFigures'),
);

const InstanceSchema = v.pipe(
  v.object({
    version: v.string(),
    httpEngine: v.picklist(['uws', 'node']),
    uptimeSeconds: Count,
    writable: v.pipe(v.boolean(), v.description('Whether changes are accepted.')),
    refusalReason: v.nullable(v.string()),
    lastEventId: Count,
    durableEventId: v.pipe(Count, v.description('The last event that is on disk.')),
    waitingCommands: Count,
    connections: Count,
    projects: Count,
    flags: v.pipe(Count, v.description('Archived ones included.')),
    users: Count,
    events: v.pipe(Count, v.description('That can be searched.')),
    journal: v.object({ bytes: Bytes, segments: Count }),
    snapshots: v.object({ count: Count, newest: v.nullable(SnapshotSchema) }),
    disk: v.object({ freeBytes: v.nullable(Bytes) }),
    memory: v.object({ rssBytes: Bytes, heapUsedBytes: Bytes }),
  }),
  v.title('InstanceFigures'),
);

export const instanceRoutes: readonly Route[] = [
  readRoute({
    method: 'GET',
    path: '/instance-stats',
    operationId: 'getInstanceStats',
    tag: 'Instance',
    summary: 'Read what the running process holds, what is on disk, and what resources it takes.',
    permission: 'read',
    success: { status: 200, schema: InstanceSchema },
    read: async ({ instance, engine, world, now }) => {
      const figures = await instance.figures(engine, now());
      const seen = { projects: world.projects.size, flags: world.directory.flagProjects.size };
      return { revision: figures.lastEventId, response: jsonResponse(200, { ...figures, ...seen }) };
    },
  }),
];

// Maintenance: while it is on, all changes but its end are refused.

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
