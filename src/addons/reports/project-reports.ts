/** Reports about a project: how its flags are, and what was done lately (docs/specification/companions.md#reports). */
import { STAGES, type StageName } from '../../domain/flags/lifecycle.ts';
import { isRefusal, type Refusal } from '../../domain/state/refusal.ts';
import type { ProjectState } from '../../domain/state/world.ts';
import { walkFlags } from '../../http/admin/chunk-walk.ts';
import * as locate from '../../http/admin/locators.ts';
import { healthOf, projectFigures, stateCounts } from '../../http/admin/project-figures.ts';
import { settledResponse } from '../../http/admin/responses.ts';
import { stagesView } from '../../http/admin/views.ts';
import { type ReadResponse, type RequestContext, readRoute, underTag } from '../../http/serving/route.ts';
import { activityByDate, countAll, flagsByWeek, leadTimes, windowStarts } from './event-counts.ts';
import { ProjectInsightsSchema, ProjectStatusSchema, StageCountsSchema } from './report-schemas.ts';

type Context = RequestContext<unknown>;
type Times = readonly { readonly name: string; readonly timeToProduction: number; readonly atMs: number }[];

/** The average of days, to a tenth; 0 of none. */
function averageOf(times: Times): number {
  if (times.length === 0) return 0;
  const sum = times.reduce((days, { timeToProduction }) => days + timeToProduction, 0);
  return Math.round((10 * sum) / times.length) / 10;
}

async function readInsights(context: Context, project: ProjectState): Promise<ReadResponse | Refusal> {
  const now = context.now();
  const { id } = project.settings;
  const currentMembers = project.members.size;
  const [figures] = await projectFigures([project], { world: context.world, now }, context.requester);
  const windows = windowStarts(now);
  const current = { project: id, fromMs: windows.current };
  const past = { project: id, fromMs: windows.past, untilMs: windows.current - 1 };
  const counts = await countAll(context, {
    createdCurrentWindow: { ...current, type: 'feature-created' },
    createdPastWindow: { ...past, type: 'feature-created' },
    archivedCurrentWindow: { ...current, type: 'feature-archived' },
    archivedPastWindow: { ...past, type: 'feature-archived' },
    projectActivityCurrentWindow: current,
    projectActivityPastWindow: past,
    projectMembersAddedCurrentWindow: { ...current, type: 'project-user-added' },
    removed: { ...current, type: 'project-user-removed' },
  });
  if (isRefusal(counts)) return counts;
  const times = await leadTimes(context, project);
  if (isRefusal(times)) return times;
  const { removed, ...stats } = counts;
  const lately = times.filter(({ atMs }) => atMs >= windows.current);
  return settledResponse(context, {
    stats: { avgTimeToProdCurrentWindow: averageOf(lately), ...stats },
    health: { rating: healthOf(figures!), ...stateCounts(figures!) },
    leadTime: {
      projectAverage: averageOf(times),
      features: times.map(({ name, timeToProduction }) => ({ name, timeToProduction })),
    },
    featureTypeCounts: [...figures!.typeCounts].map(([type, count]) => ({ type, count })),
    members: { currentMembers, change: stats.projectMembersAddedCurrentWindow - removed },
  });
}

async function readStatus(context: Context, project: ProjectState): Promise<ReadResponse | Refusal> {
  const { world, now, requester } = context;
  const { id } = project.settings;
  const { apiTokens, segments } = world.directory;
  const resources = {
    apiTokens: [...apiTokens.values()].filter(({ projects }) => projects.includes(id)).length,
    members: project.members.size,
    segments: [...segments.values()].filter((segment) => segment.project === id).length,
  };
  const stages = await stageFigures(context, [project]);
  if (isRefusal(stages)) return stages;
  const [figures] = await projectFigures([project], { world, now: now() }, requester);
  const activityCountByDate = await activityByDate(context, id);
  if (isRefusal(activityCountByDate)) return activityCountByDate;
  const weeks = await flagsByWeek(context, id);
  if (isRefusal(weeks)) return weeks;
  const { staleCount, potentiallyStaleCount } = stateCounts(figures!);
  const health = healthOf(figures!);
  return settledResponse(context, {
    activityCountByDate,
    flagsByWeek: weeks,
    health: { current: health },
    technicalDebt: { current: 100 - health },
    resources,
    staleFlags: { total: staleCount + potentiallyStaleCount },
    lifecycleSummary: stageSummary(stages),
  });
}

async function readStageCounts(context: Context): Promise<ReadResponse | Refusal> {
  const stages = await stageFigures(context, context.world.projects.values());
  if (isRefusal(stages)) return stages;
  return settledResponse(context, {
    initial: stages.initial.current,
    preLive: stages['pre-live'].current,
    live: stages.live.current,
    completed: stages.completed.current,
    archived: stages.archived.current,
  });
}

export const projectReportRoutes = underTag('Projects', [
  readRoute('GET /projects/:projectId/status', {
    operationId: 'getProjectStatus',
    summary: 'Read what was done in a project each day, and in which stages its flags are.',
    locate: locate.project,
    success: { status: 200, schema: ProjectStatusSchema },
    read: readStatus,
  }),
  readRoute('GET /lifecycle/count', {
    operationId: 'getFeatureLifecycleCount',
    tag: 'Features',
    summary: 'Count the flags of all projects by the stages that they are in.',
    success: { status: 200, schema: StageCountsSchema },
    read: readStageCounts,
  }),
  readRoute('GET /projects/:projectId/insights', {
    operationId: 'getProjectInsights',
    summary: 'Read how the flags of a project are, and what was done in it lately.',
    locate: locate.project,
    success: { status: 200, schema: ProjectInsightsSchema },
    read: readInsights,
  }),
]);

// How many flags are in which stage of their life, and for how long (docs/specification/flags.md#lifecycle).

const DAY_MS = 24 * 60 * 60 * 1000;
const LATELY_MS = 30 * DAY_MS;

interface StageSum {
  /** Flags that are in it. */
  current: number;
  /** Flags that have entered it, whether or not they have left it. */
  entered: number;
  /** Milliseconds that flags spent in this stage, summed. */
  ms: number;
  /** Flags in it that have entered it in the last 30 days. */
  lately: number;
}

type StageFigures = Readonly<Record<StageName, Readonly<StageSum>>>;

/** Over all flags of the projects, in turns. */
async function stageFigures(
  context: RequestContext<unknown>,
  projects: Iterable<ProjectState>,
): Promise<StageFigures | Refusal> {
  const { world, usage, now } = context;
  const nowMs = now();
  const sums = Object.fromEntries(
    STAGES.map((stage) => [stage, { current: 0, entered: 0, ms: 0, lately: 0 }]),
  ) as Record<StageName, StageSum>;
  const refusal = await walkFlags(context, projects, ({ record: { flag } }) => {
    const stages = stagesView(world, flag, usage.seen.flag(flag.name));
    for (const [at, { stage, enteredStageAt }] of stages.entries()) {
      const sum = sums[stage];
      const enteredMs = Date.parse(enteredStageAt);
      const next = stages[at + 1];
      sum.entered += 1;
      sum.ms += Math.max(0, (next === undefined ? nowMs : Date.parse(next.enteredStageAt)) - enteredMs);
      if (next !== undefined) continue;
      sum.current += 1;
      if (nowMs - enteredMs <= LATELY_MS) sum.lately += 1;
    }
  });
  return refusal ?? sums;
}

function stageSummary(figures: StageFigures) {
  const shown = ({ current, entered, ms }: StageSum) => ({
    averageDays: entered === 0 ? null : Math.round((10 * ms) / entered / DAY_MS) / 10,
    currentFlags: current,
  });
  return {
    initial: shown(figures.initial),
    preLive: shown(figures['pre-live']),
    live: shown(figures.live),
    completed: shown(figures.completed),
    archived: { currentFlags: figures.archived.current, last30Days: figures.archived.lately },
  };
}
