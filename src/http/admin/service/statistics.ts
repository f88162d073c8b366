/** How much there is of everything in the service, as JSON and for spreadsheets. */
import { allRoles } from '../../../domain/people/roles-and-groups.ts';
import { contextFields, strategyTypes } from '../../../domain/state/targeting.ts';
import type { ApiTokenType, World } from '../../../domain/state/world.ts';
import { type RequestContext, type Route, readRoute } from '../../dispatch/route.ts';
import { StatisticsSchema } from '../schemas/report-schemas.ts';
import { settledResponse } from '../views/responses.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

type Context = RequestContext<unknown>;

const tokenCount = ({ directory }: World, wanted: ApiTokenType): number =>
  [...directory.apiTokens.values()].filter(({ type }) => type === wanted).length;

/** The name that the events of the folder had first. */
function instanceId({ lineage }: World): string {
  for (const { name } of lineage.recorded) return name;
  return 'new';
}

/** Since when each user's personal tokens were used last, in milliseconds; users who used none are left out. */
function idleTimes({ world, usage, now }: Context): readonly number[] {
  const seen = new Map<number, number>();
  for (const { digest, userId } of world.directory.personalTokens.values()) {
    const atMs = usage.seen.token(digest);
    if (atMs !== null) seen.set(userId, Math.max(atMs, seen.get(userId) ?? 0));
  }
  return [...seen.values()].map((atMs) => now() - atMs);
}

/** Applications that reported in so many days, on either side. */
function applicationCount({ usage, now }: Context, days: number): number {
  const names = new Set<string>();
  for (const side of ['backend', 'frontend'] as const) {
    for (const { appName, seenAtMs } of usage.applications(side).values())
      if (now() - seenAtMs <= days * DAY_MS) names.add(appName);
  }
  return names.size;
}

function statistics(context: Context) {
  const { world, instance } = context;
  const { directory } = world;
  const idle = idleTimes(context);
  const activeIn = (days: number): number => idle.filter((ms) => ms <= days * DAY_MS).length;
  return {
    instanceId: instanceId(world),
    timestamp: new Date(context.now()).toISOString(),
    versionOSS: instance.version,
    users: directory.users.size,
    activeUsers: { last7: activeIn(7), last30: activeIn(30), last60: activeIn(60), last90: activeIn(90) },
    featureToggles: directory.flagProjects.size,
    projects: world.projects.size,
    contextFields: contextFields(world).length,
    roles: allRoles(world).length,
    groups: directory.groups.size,
    environments: directory.environments.length,
    segments: directory.segments.size,
    strategies: strategyTypes(world).length,
    SAMLenabled: false,
    OIDCenabled: false,
    clientApps: [
      { range: 'allTime', count: applicationCount(context, Number.POSITIVE_INFINITY) },
      { range: '30d', count: applicationCount(context, 30) },
      { range: '7d', count: applicationCount(context, 7) },
    ],
    // Flags are exported and imported with the whole state only, of which no event tells.
    featureExports: 0,
    featureImports: 0,
    apiTokens: {
      admin: tokenCount(world, 'admin'),
      client: tokenCount(world, 'client'),
      frontend: tokenCount(world, 'frontend'),
    },
  };
}

export const statisticsRoutes: readonly Route[] = [
  readRoute({
    method: 'GET',
    path: '/instance-admin/statistics',
    operationId: 'getInstanceAdminStats',
    tag: 'Instance',
    summary: 'Read how much there is of everything in the service.',
    permission: 'read',
    success: { status: 200, schema: StatisticsSchema },
    read: (context) => settledResponse(context, statistics(context)),
  }),
];
