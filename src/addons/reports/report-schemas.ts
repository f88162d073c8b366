/** Schemas of responses that sum up projects, users and the service. */
import * as v from 'valibot';
import { FLAG_TYPES } from '../../domain/flags/metadata.ts';
import { Count, described, Percent, Timestamp, titled } from '../../domain/json/schema.ts';

const Days = v.pipe(v.number(), v.minValue(0), v.description('Days, to a tenth.'));

const StateCounts = { activeCount: Count, potentiallyStaleCount: Count, staleCount: Count } as const;

const LeadTimeSchema = v.pipe(
  v.object({
    projectAverage: Days,
    features: v.array(v.object({ name: v.string(), timeToProduction: Days })),
  }),
  v.description(
    'Of the 50 newest release flags, those that have been on in an environment of the type production: days from the creation until then.',
  ),
  v.title('LeadTime'),
);

const StatsSchema = v.pipe(
  v.object({
    avgTimeToProdCurrentWindow: Days,
    createdCurrentWindow: Count,
    createdPastWindow: Count,
    archivedCurrentWindow: Count,
    archivedPastWindow: Count,
    projectActivityCurrentWindow: Count,
    projectActivityPastWindow: Count,
    projectMembersAddedCurrentWindow: Count,
  }),
  v.description('Events of the last 30 days, and of the 30 days before them.'),
  v.title('ProjectStats'),
);

export const ProjectInsightsSchema = titled('ProjectInsights', {
  stats: StatsSchema,
  health: v.object({ rating: Percent, ...StateCounts }),
  leadTime: LeadTimeSchema,
  featureTypeCounts: v.array(v.object({ type: v.picklist(FLAG_TYPES), count: Count })),
  members: v.object({
    currentMembers: Count,
    change: v.pipe(
      v.number(),
      v.integer(),
      v.description('Members added in the last 30 days, less those removed.'),
    ),
  }),
});

export const StatisticsSchema = titled('InstanceStatistics', {
  instanceId: described(v.string(), 'Of the history that the data folder holds.'),
  timestamp: Timestamp,
  versionOSS: v.string(),
  users: Count,
  activeUsers: described(
    v.object({ last7: Count, last30: Count, last60: Count, last90: Count }),
    'Whose personal tokens were used in so many days.',
  ),
  featureToggles: described(Count, 'Archived ones included.'),
  projects: Count,
  contextFields: Count,
  roles: Count,
  groups: Count,
  environments: Count,
  segments: Count,
  strategies: Count,
  SAMLenabled: v.boolean(),
  OIDCenabled: v.boolean(),
  clientApps: v.array(v.object({ range: v.picklist(['allTime', '30d', '7d']), count: Count })),
  featureExports: Count,
  featureImports: Count,
  apiTokens: v.object({ admin: Count, client: Count, frontend: Count }),
});

const StageFigures = v.object({
  averageDays: described(
    v.nullable(v.pipe(v.number(), v.minValue(0))),
    'In the stage so far or until the next one, to a tenth; null: no flag has entered it.',
  ),
  currentFlags: Count,
});

export const ProjectStatusSchema = titled('ProjectStatus', {
  activityCountByDate: described(
    v.array(v.object({ date: v.string(), count: Count })),
    'Events of the last 30 days in UTC; days without any are left out.',
  ),
  flagsByWeek: described(
    v.array(v.object({ date: v.string(), created: Count, archived: Count })),
    'Flags created and archived in each of the last 12 weeks, which begin on Monday in UTC.',
  ),
  health: v.object({ current: Percent }),
  technicalDebt: described(v.object({ current: Percent }), 'How much is missing to a health of 100.'),
  resources: v.object({
    apiTokens: described(Count, 'That name the project.'),
    members: Count,
    segments: described(Count, 'For this project only.'),
  }),
  staleFlags: v.object({ total: described(Count, 'Stale and potentially stale ones.') }),
  lifecycleSummary: v.object({
    initial: StageFigures,
    preLive: StageFigures,
    live: StageFigures,
    completed: StageFigures,
    archived: v.object({ currentFlags: Count, last30Days: Count }),
  }),
});

export const StageCountsSchema = titled('StageCounts', {
  initial: Count,
  preLive: Count,
  live: Count,
  completed: Count,
  archived: Count,
});
