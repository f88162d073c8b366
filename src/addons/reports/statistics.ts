/** How much there is of everything in the service, as JSON. */
import { allRoles } from '../../domain/people/roles-and-groups.ts';
import { recordsOf } from '../../domain/state/directory-records.ts';
import { peopleOf } from '../../domain/state/locate.ts';
import { isRefusal } from '../../domain/state/refusal.ts';
import type { ApiTokenType, World } from '../../domain/state/world.ts';
import { settledResponse } from '../../http/admin/responses.ts';
import { type RequestContext, readRoute, underTag } from '../../http/serving/route.ts';
import { allApplications, updatedAtMs } from '../usage/application-views.ts';
import { countAll } from './event-counts.ts';
import { StatisticsSchema } from './report-schemas.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

type Context = RequestContext<unknown>;

const tokenCount = ({ directory }: World, wanted: ApiTokenType): number =>
  [...directory.apiTokens.values()].filter(({ type }) => type === wanted).length;

/** The name that the events of the folder had first. */
function instanceId({ lineage }: World): string {
  for (const { name } of lineage.recorded) return name;
  return 'new';
}

/** Since when each user's personal tokens and sessions were used last, in milliseconds; users who used none are left out. */
function idleTimes({ world, usage, now }: Context): readonly number[] {
  const seen = new Map<number, number>();
  const { personalTokens, sessions } = world.directory;
  for (const { digest, userId } of [...personalTokens.values(), ...sessions.values()]) {
    const atMs = usage.seen.token(digest);
    if (atMs !== null && userId !== null) seen.set(userId, Math.max(atMs, seen.get(userId) ?? 0));
  }
  return [...seen.values()].map((atMs) => now() - atMs);
}

/** Applications that reported in so many days, on either side. */
function applicationCount(context: Context, days: number): number {
  const sinceMs = context.now() - days * DAY_MS;
  return allApplications(context).filter((one) => updatedAtMs(one) >= sinceMs).length;
}

/** Counted as far back as the event log reaches. */
const TRANSFERS = {
  featureExports: { type: 'features-exported' },
  featureImports: { type: 'features-imported' },
} as const;

async function statistics(context: Context) {
  const transfers = await countAll(context, TRANSFERS);
  if (isRefusal(transfers)) return transfers;
  const { world, instance } = context;
  const { directory } = world;
  const idle = idleTimes(context);
  const activeIn = (days: number): number => idle.filter((ms) => ms <= days * DAY_MS).length;
  return {
    instanceId: instanceId(world),
    timestamp: new Date(context.now()).toISOString(),
    versionOSS: instance.version,
    users: peopleOf(directory).length,
    activeUsers: { last7: activeIn(7), last30: activeIn(30), last60: activeIn(60), last90: activeIn(90) },
    featureToggles: world.flagProjects.size,
    projects: world.projects.size,
    contextFields: recordsOf(world, 'contextFields').length,
    roles: allRoles(world).length,
    groups: directory.groups.size,
    environments: directory.environments.length,
    segments: directory.segments.size,
    strategies: recordsOf(world, 'strategyTypes').length,
    SAMLenabled: false,
    OIDCenabled: false,
    clientApps: [
      { range: 'allTime', count: applicationCount(context, Number.POSITIVE_INFINITY) },
      { range: '30d', count: applicationCount(context, 30) },
      { range: '7d', count: applicationCount(context, 7) },
    ],
    ...transfers,
    apiTokens: {
      admin: tokenCount(world, 'admin'),
      client: tokenCount(world, 'client'),
      frontend: tokenCount(world, 'frontend'),
    },
  };
}

export const statisticsRoutes = underTag('Instance', [
  readRoute('GET /instance-admin/statistics', {
    operationId: 'getInstanceAdminStats',
    summary: 'Read how much there is of everything in the service.',
    success: { status: 200, schema: StatisticsSchema },
    read: async (context) => {
      const counted = await statistics(context);
      return isRefusal(counted) ? counted : settledResponse(context, counted);
    },
  }),
]);
