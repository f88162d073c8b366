/** Figures of the running process and of all that it stores, and maintenance. */
import * as v from 'valibot';
import { Count, described, titled } from '../../domain/json/schema.ts';
import { isInMaintenance } from '../../domain/state/settings.ts';
import { jsonResponse } from '../serving/json-response.ts';
import { readRoute, underTag, writeRoute } from '../serving/route.ts';

const Bytes = described(Count, 'Bytes.');

const SnapshotSchema = titled('SnapshotFigures', {
  eventId: described(Count, 'Of the last event in it.'),
  eventAt: v.pipe(v.string(), v.isoTimestamp(), v.description('Time of that event.')),
  ageSeconds: Count,
  bytes: Bytes,
});

const InstanceSchema = titled('InstanceFigures', {
  version: v.string(),
  httpEngine: v.picklist(['uws', 'node']),
  uptimeSeconds: Count,
  writable: described(v.boolean(), 'Whether changes are accepted.'),
  refusalReason: v.nullable(v.string()),
  lastEventId: Count,
  durableEventId: described(Count, 'The last event that is on disk.'),
  waitingCommands: Count,
  connections: Count,
  projects: Count,
  flags: described(Count, 'Archived ones included.'),
  users: Count,
  events: described(Count, 'That can be searched.'),
  journal: v.object({ bytes: Bytes, segments: Count }),
  snapshots: v.object({ count: Count, newest: v.nullable(SnapshotSchema) }),
  disk: v.object({ freeBytes: v.nullable(Bytes) }),
  memory: v.object({ rssBytes: Bytes, heapUsedBytes: Bytes }),
});

export const instanceRoutes = underTag('Instance', [
  readRoute('GET /instance-stats', {
    operationId: 'getInstanceStats',
    summary: 'Read what the running process holds, what is on disk, and what resources it takes.',
    success: { status: 200, schema: InstanceSchema },
    read: async ({ instance, engine, world, now }) => {
      const figures = await instance.figures(engine, now());
      const seen = { projects: world.projects.size, flags: world.flagProjects.size };
      return { revision: figures.lastEventId, response: jsonResponse(200, { ...figures, ...seen }) };
    },
  }),
]);

// Maintenance: while it is on, all changes but its end are refused.

const MAINTENANCE = '/maintenance';

const MaintenanceSchema = titled('Maintenance', {
  enabled: described(v.boolean(), 'Whether all changes are refused with 503.'),
});

export const maintenanceRoutes = underTag('Instance', [
  readRoute(`GET ${MAINTENANCE}`, {
    operationId: 'getMaintenance',
    summary: 'Read whether the server is in maintenance.',
    success: { status: 200, schema: MaintenanceSchema },
    shows: ({ world }) => ({ enabled: isInMaintenance(world.directory.settings) }),
  }),
  writeRoute(`POST ${MAINTENANCE}`, {
    operationId: 'toggleMaintenance',
    summary: 'Begin or end maintenance.',
    needs: ['UPDATE_MAINTENANCE_MODE'],
    body: MaintenanceSchema,
    success: { status: 204, schema: null },
    command: ({ body }) => ({ type: 'set-maintenance', enabled: body.enabled }),
  }),
]);
