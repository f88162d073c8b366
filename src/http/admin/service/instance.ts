/** The figures of the running process. */
import * as v from 'valibot';
import { jsonResponse } from '../../serving/json-response.ts';
import { type Route, readRoute } from '../../serving/route.ts';

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
