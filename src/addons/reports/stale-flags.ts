/**
 * Flags that may go, with what speaks for it (docs/specification/flags.md#flags-that-may-go): those that are stale, potentially stale or
 * completed, the oldest first.
 */
import * as v from 'valibot';
import { each, inTurns } from '../../actors/turn.ts';
import type { Flag } from '../../domain/flags/flag.ts';
import { endOfLife, stalenessOf } from '../../domain/flags/lifetime.ts';
import { FLAG_TYPES } from '../../domain/flags/metadata.ts';
import { Count, described, NullableTimestamp, Timestamp, titled } from '../../domain/json/schema.ts';
import type { EventType } from '../../domain/state/event-types.ts';
import { isRefusal, type Refusal } from '../../domain/state/refusal.ts';
import { lifetimesIn } from '../../domain/state/settings.ts';
import { actingName, type ProjectState, projectEnvironments, type World } from '../../domain/state/world.ts';
import { flagsNow, type ShownFlag } from '../../http/admin/chunk-walk.ts';
import * as locate from '../../http/admin/locators.ts';
import { pageParameters } from '../../http/admin/query-parameters.ts';
import { settledResponse } from '../../http/admin/responses.ts';
import { NextOffset } from '../../http/admin/schemas.ts';
import { SortedPage } from '../../http/admin/sorted-page.ts';
import { timeOrNull } from '../../http/admin/views.ts';
import { type ReadResponse, type RequestContext, readRoute, underTag } from '../../http/serving/route.ts';
import { hiddenProjects } from '../../http/serving/visible-world.ts';
import { compileFlag } from '../sdk/evaluation/compiled-flag.ts';
import { allApplications, createdAtMs, updatedAtMs } from '../usage/application-views.ts';
import { applicationsOf } from '../usage/flag-usage.ts';
import { constantOutcome } from './constant-outcome.ts';

type Context = RequestContext<unknown>;

/** Applications that are named of each flag, and flags. */
const NAMES_MAX = 20;

const PAGE = pageParameters({
  limitMax: 50,
  limitInitial: 20,
  limit: 'The maximum number of flags; 20 unless it is sent.',
  offset: 'How many flags to pass over.',
});

const STATES = ['stale', 'potentially-stale', 'completed'] as const;

const StaleFlagSchema = titled('StaleFlag', {
  name: v.string(),
  project: v.string(),
  type: v.picklist(FLAG_TYPES),
  createdAt: Timestamp,
  owner: described(v.nullable(v.string()), 'The user who created it; null: not known.'),
  state: v.picklist(STATES),
  stateSince: described(NullableTimestamp, 'Null: not known.'),
  environments: v.array(
    titled('StaleFlagEnvironment', {
      name: v.string(),
      outcome: described(
        v.nullable(v.object({ enabled: v.boolean(), variant: v.nullable(v.string()) })),
        'The same for every context; null: it may depend on the context.',
      ),
      since: described(
        v.nullable(v.object({ at: Timestamp, eventId: Count })),
        'The last change after which the outcome has been the same; null: not known, or there is no such outcome.',
      ),
      lastSeenAt: described(NullableTimestamp, 'The last report of an evaluation; null: none.'),
    }),
  ),
  applications: described(
    v.array(v.string()),
    `Those that reported evaluations of it in the last 90 days, ${NAMES_MAX} at most.`,
  ),
  dependents: described(v.array(v.string()), `Flags that have it as a parent, ${NAMES_MAX} at most.`),
});

const StaleFlagsSchema = titled('StaleFlags', {
  features: v.array(StaleFlagSchema),
  total: described(Count, 'All of them, whatever the page.'),
  nextOffset: NextOffset,
  reports: described(
    v.object({ since: NullableTimestamp, lastAt: NullableTimestamp }),
    'The first and the last report of any application. Null: none has reported, so that no flag is known to be unused.',
  ),
});

function stateOf({ world }: Context, flag: Flag, nowMs: number): (typeof STATES)[number] | null {
  if (flag.archivedAt !== null) return null;
  const staleness = stalenessOf(flag, lifetimesIn(world, flag.project), nowMs);
  if (staleness !== 'active') return staleness;
  return world.directory.completions.has(flag.name) ? 'completed' : null;
}

const byAge = ({ record: { flag: one } }: ShownFlag, { record: { flag: other } }: ShownFlag): number =>
  compare(one.createdAt, other.createdAt) || compare(one.name, other.name);

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

interface Found {
  readonly listed: readonly ShownFlag[];
  readonly total: number;
}

async function findPage(
  context: Context,
  projects: Iterable<ProjectState>,
  { limit, offset, nowMs }: { readonly limit: number; readonly offset: number; readonly nowMs: number },
): Promise<Found | Refusal> {
  const { reads, requester } = context;
  return reads.walk(async () => {
    const page = new SortedPage<ShownFlag>(byAge);
    const add = (flag: ShownFlag): void => {
      if (stateOf(context, flag.record.flag, nowMs) !== null) page.add(flag);
    };
    await inTurns(each(flagsNow(projects), add), requester);
    const listed: ShownFlag[] = [];
    let position = 0;
    const list = (flag: ShownFlag): boolean => {
      if (position >= offset) listed.push(flag);
      position += 1;
      return listed.length === limit;
    };
    await inTurns(each(page.inOrder(), list), requester);
    return { listed, total: page.total };
  }, requester);
}

async function readStaleFlags(
  context: Context,
  projects: Iterable<ProjectState>,
): Promise<ReadResponse | Refusal> {
  const page = PAGE.of(context);
  if (isRefusal(page)) return page;
  const nowMs = context.now();
  const found = await findPage(context, projects, { ...page, nowMs });
  if (isRefusal(found)) return found;
  const switches = await changesOfEnvironments(context);
  if (isRefusal(switches)) return switches;
  const features: object[] = [];
  for (const flag of found.listed) {
    const view = await viewOf(context, flag, { nowMs, switches });
    if (isRefusal(view)) return view;
    features.push(view);
  }
  const nextOffset = page.offset + features.length;
  return settledResponse(context, {
    features,
    total: found.total,
    ...(nextOffset < found.total && features.length > 0 ? { nextOffset } : {}),
    reports: reportsOf(context),
  });
}

function reportsOf(context: Context) {
  const all = allApplications(context);
  if (all.length === 0) return { since: null, lastAt: null };
  const since = all.reduce((first, one) => Math.min(first, createdAtMs(one)), Number.POSITIVE_INFINITY);
  const lastAt = all.reduce((last, one) => Math.max(last, updatedAtMs(one)), 0);
  return { since: timeOrNull(since), lastAt: timeOrNull(lastAt) };
}

interface Moment {
  readonly nowMs: number;
  readonly switches: ReadonlyMap<string, Change | null>;
}

async function viewOf(context: Context, { project, record }: ShownFlag, { nowMs, switches }: Moment) {
  const { world, usage, requester } = context;
  const { flag, createdBy } = record;
  const owner = createdBy === null ? undefined : world.directory.users.get(createdBy);
  const state = stateOf(context, flag, nowMs);
  const wide = await lastChange(context, { feature: flag.name, type: OF_ALL_ENVIRONMENTS });
  if (isRefusal(wide)) return wide;
  const environments: object[] = [];
  for (const { name, constant, isOn } of await inTurns(outcomesOf(world, project, flag), requester)) {
    const switched = isOn ? (switches.get(name) ?? null) : null;
    const isDated = constant?.isOwn === true;
    const query = { feature: flag.name, type: OF_ONE_ENVIRONMENT, environment: name } as const;
    const own = isDated ? await lastChange(context, query) : null;
    if (isRefusal(own)) return own;
    environments.push({
      name,
      outcome: constant === null ? null : { enabled: constant.enabled, variant: constant.variant },
      since: isDated ? newest([wide, own, switched]) : null,
      lastSeenAt: timeOrNull(usage.seen.flag(flag.name)?.environments.get(name)),
    });
  }
  const stateSince = await stateSinceOf(context, flag, state);
  if (isRefusal(stateSince)) return stateSince;
  return {
    ...{ name: flag.name, project: flag.project, type: flag.type, createdAt: flag.createdAt },
    owner: owner === undefined ? null : actingName(owner),
    ...{ state, stateSince, environments },
    applications: applicationsOf(context, flag.name, NAMES_MAX),
    dependents: flag.children.slice(0, NAMES_MAX),
  };
}

async function stateSinceOf(
  context: Context,
  flag: Flag,
  state: string | null,
): Promise<string | null | Refusal> {
  const { world } = context;
  if (state === 'completed') return world.directory.completions.get(flag.name)?.at ?? null;
  if (state === 'potentially-stale')
    return new Date(endOfLife(flag, lifetimesIn(world, flag.project))).toISOString();
  const marked = await lastChange(context, { feature: flag.name, type: MARKS });
  return marked === null || isRefusal(marked) ? marked : marked.at;
}

/** The outcomes in each environment of the project, in steps: a flag may have a thousand rules in each. */
function* outcomesOf(world: World, project: ProjectState, flag: Flag) {
  const outcomes = [];
  for (const { name, enabled } of projectEnvironments(world, project)) {
    const compiled = compileFlag(flag, name);
    const constant = constantOutcome(compiled, scopeOf(world, name, enabled));
    outcomes.push({ name, constant, isOn: compiled.isOn });
    yield;
  }
  return outcomes;
}

function scopeOf({ directory, projects, flagProjects }: World, environment: string, isEnabled: boolean) {
  return {
    environmentEnabled: isEnabled,
    segment: (id: number) => directory.segments.get(id),
    flag: (name: string) => {
      const found = projects.get(flagProjects.get(name) ?? '')?.flags.get(name);
      const isThere = found !== undefined && found.flag.archivedAt === null;
      return isThere ? compileFlag(found.flag, environment) : undefined;
    },
  };
}

// When something changed last, from the event log.

interface Change {
  readonly at: string;
  readonly eventId: number;
}

/** Events of a flag after which its outcomes may be others, in the environment that they name. */
const OF_ONE_ENVIRONMENT: readonly EventType[] = [
  'feature-strategy-add',
  'feature-strategy-update',
  'feature-strategy-remove',
  'strategy-order-changed',
  'feature-environment-enabled',
  'feature-environment-disabled',
  'feature-environment-variants-updated',
];

/** Events that make flags stale: a flag that is stale may have been created so. */
const MARKS: readonly EventType[] = ['feature-stale-on', 'feature-created'];

const OF_ALL_ENVIRONMENTS: readonly EventType[] = [
  'feature-created',
  'feature-archived',
  'feature-revived',
  'feature-project-change',
  'feature-variants-updated',
  'feature-dependency-added',
  'feature-dependency-removed',
  'feature-dependencies-removed',
];

/** Events of environments after which outcomes of all flags in them may be others. */
const OF_ENVIRONMENTS: readonly EventType[] = [
  'environment-created',
  'environment-updated',
  'project-environment-added',
  'project-environment-removed',
];

interface Sought {
  readonly type: readonly EventType[];
  readonly feature?: string;
  readonly environment?: string;
}

async function lastChange(
  { reads, engine, caller, requester }: Context,
  sought: Sought,
): Promise<Change | null | Refusal> {
  const hidden = hiddenProjects(engine.world, caller);
  const query = { ...sought, hiddenProjects: hidden, limit: 1, offset: 0 };
  const page = await reads.search(query, engine.durableId, requester);
  if (isRefusal(page)) return page;
  const [event] = JSON.parse(Buffer.from(page.json).toString()) as readonly {
    id: number;
    createdAt: string;
  }[];
  return event === undefined ? null : { at: event.createdAt, eventId: event.id };
}

async function changesOfEnvironments(context: Context): Promise<Map<string, Change | null> | Refusal> {
  const changes = new Map<string, Change | null>();
  for (const { name } of context.world.directory.environments) {
    const change = await lastChange(context, { type: OF_ENVIRONMENTS, environment: name });
    if (isRefusal(change)) return change;
    changes.set(name, change);
  }
  return changes;
}

function newest(changes: readonly (Change | null)[]): Change | null {
  return changes.reduce(
    (last, one) => (one !== null && (last === null || one.eventId > last.eventId) ? one : last),
    null,
  );
}

export const staleFlagRoutes = underTag('Features', [
  readRoute('GET /stale-flags', {
    operationId: 'getStaleFlags',
    summary: 'List the flags of all projects that may go, with what speaks for it.',
    query: PAGE.parameters,
    success: { status: 200, schema: StaleFlagsSchema },
    refusals: ['ValidationError'],
    read: (context) => readStaleFlags(context, context.world.projects.values()),
  }),
  readRoute('GET /projects/:projectId/stale-flags', {
    operationId: 'getProjectStaleFlags',
    summary: 'List the flags of a project that may go, with what speaks for it.',
    locate: locate.project,
    query: PAGE.parameters,
    success: { status: 200, schema: StaleFlagsSchema },
    refusals: ['ValidationError'],
    read: (context, project) => readStaleFlags(context, [project]),
  }),
]);
