/** Routes about segments, context fields and strategy types, besides those that every kind has (kinds.ts). */
import * as v from 'valibot';
import { ConstraintSchema } from '../../domain/flags/constraint.ts';
import type { Flag } from '../../domain/flags/flag.ts';
import type { Strategy } from '../../domain/flags/strategy.ts';
import { described, Integer, list, titled } from '../../domain/json/schema.ts';
import { LegalValueSchema } from '../../domain/kinds/context-field.ts';
import type { ReferenceKind } from '../../domain/kinds/kind.ts';
import type { Segment } from '../../domain/kinds/segment.ts';
import { isRefusal, notFound, type Refusal } from '../../domain/state/refusal.ts';
import { emptyResponse, jsonResponse } from '../serving/json-response.ts';
import {
  type ReadResponse,
  type RequestContext,
  type RouteDraft,
  readRoute,
  underTag,
  writeRoute,
} from '../serving/route.ts';
import * as locate from './locators.ts';
import { recordsSchema } from './record-schemas.ts';
import { recordsResponse } from './records.ts';
import { settledResponse } from './responses.ts';
import { walkFlags } from './shelf-walk.ts';

// Strategies found by what they are, and not by the path to them: those that use a segment or a context field, or have an id.

/** Bounds the response: 10,000 uses take about 2 MB. */
const STRATEGY_USES_MAX = 10_000;

const StrategyUsesSchema = titled('StrategyUses', {
  strategies: v.array(
    titled('StrategyUse', {
      id: v.string(),
      projectId: v.string(),
      featureName: v.string(),
      environment: v.string(),
      strategyName: v.string(),
    }),
  ),
});

interface FoundStrategy {
  readonly flag: Flag;
  readonly environment: string;
  readonly strategy: Strategy;
}

type Context = RequestContext<unknown>;

/** Calls `see` with each strategy of the projects' flags until it returns true. */
function walkStrategies(context: Context, ids: Iterable<string>, see: (found: FoundStrategy) => boolean) {
  const projects = [...ids].flatMap((id) => context.world.projects.get(id) ?? []);
  return walkFlags(context, projects, ({ record: { flag } }) =>
    flag.environments.some(({ name: environment, strategies }) =>
      strategies.some((strategy) => see({ flag, environment, strategy })),
    ),
  );
}

/** Strategies of flags that are not archived and refer to the segment of this id, or to the context field of this name. */
async function strategyUses(
  context: Context,
  kind: Exclude<ReferenceKind, 'strategy-type'>,
  name: string | number,
): Promise<ReadResponse | Refusal> {
  const strategies: v.InferOutput<typeof StrategyUsesSchema>['strategies'] = [];
  const projects = context.world.references.flagCounts(kind, name).keys();
  const refusal = await walkStrategies(context, projects, ({ flag, environment, strategy }) => {
    const { id, name: strategyName, segments, constraints } = strategy;
    const refers =
      typeof name === 'number'
        ? segments.includes(name)
        : constraints.some(({ contextName }) => contextName === name);
    if (flag.archivedAt !== null || !refers) return false;
    strategies.push({ id, projectId: flag.project, featureName: flag.name, environment, strategyName });
    return strategies.length === STRATEGY_USES_MAX;
  });
  return refusal ?? settledResponse(context, { strategies });
}

/** The strategy with an id, in any of the projects. */
async function findStrategy(
  context: Context,
  projects: Iterable<string>,
  strategyId: string,
): Promise<FoundStrategy | Refusal | null> {
  let wanted: FoundStrategy | null = null;
  const refusal = await walkStrategies(context, projects, (found) => {
    if (found.strategy.id !== strategyId) return false;
    wanted = found;
    return true;
  });
  return refusal ?? wanted;
}

const SEGMENTS = '/segments';
const SEGMENT = `${SEGMENTS}/:id`;

const SEGMENT_IDS_PHRASE = 'a list of segment ids';
const SEGMENT_ID_PHRASE = 'the id of a segment';
const StrategySegmentsBody = titled('SetStrategySegments', {
  projectId: v.string(),
  environmentId: v.string(),
  strategyId: v.string(),
  segmentIds: described(
    list(v.pipe(v.number(SEGMENT_ID_PHRASE), v.integer(SEGMENT_ID_PHRASE)), SEGMENT_IDS_PHRASE),
    'They replace those that the strategy has.',
  ),
});

const StrategySegmentsSchema = titled('StrategySegments', {
  projectId: v.string(),
  environmentId: v.string(),
  strategyId: v.string(),
  segmentIds: v.array(Integer),
});

export const strategySegmentRoutes = underTag('Segments', [
  readRoute(`GET ${SEGMENT}/strategies`, {
    operationId: 'getStrategiesBySegmentId',
    summary: 'List the strategies that use a segment.',
    locate: locate.segment,
    success: { status: 200, schema: StrategyUsesSchema },
    read: (context, segment) => strategyUses(context, 'segment', segment.id),
  }),
  readRoute(`GET ${SEGMENTS}/strategies/:strategyId`, {
    operationId: 'getSegmentsByStrategyId',
    summary: 'List the segments of a strategy.',
    success: { status: 200, schema: recordsSchema('segments') },
    read: async (context) => {
      const segments = await segmentsOfStrategy(context);
      return isRefusal(segments) ? segments : recordsResponse(context, 'segments', segments);
    },
  }),
  writeRoute(`POST ${SEGMENTS}/strategies`, {
    operationId: 'updateFeatureStrategySegments',
    summary: 'Set the segments of a strategy.',
    permission: 'targeting:write',
    body: StrategySegmentsBody,
    success: { status: 201, schema: StrategySegmentsSchema },
    refusals: ['NotFoundError'],
    command: async (context) => {
      const { body } = context;
      const { projectId: project, environmentId: environment, strategyId, segmentIds: segments } = body;
      const found = await findStrategy(context, [project], strategyId);
      if (isRefusal(found)) return found;
      if (found?.environment === environment) {
        const flag = found.flag.name;
        return { type: 'set-strategy-segments', project, flag, environment, strategyId, segments };
      }
      return notFound(
        `There is no strategy "${strategyId}" in the project "${project}" and the environment "${environment}".`,
      );
    },
    respond: ({ body: { projectId, environmentId, strategyId, segmentIds } }) =>
      jsonResponse(201, { projectId, environmentId, strategyId, segmentIds }),
  }),
]);

/** None for a strategy that does not exist, as Unleash answers. */
async function segmentsOfStrategy(context: Context): Promise<readonly Segment[] | Refusal> {
  const { directory, references } = context.world;
  const projects = new Set<string>();
  for (const id of directory.segments.keys()) {
    for (const project of references.flagCounts('segment', id).keys()) projects.add(project);
  }
  const found = await findStrategy(context, projects, context.params.strategyId);
  if (isRefusal(found)) return found;
  const segments = found?.strategy.segments.map((id) => directory.segments.get(id)) ?? [];
  return segments.filter((segment) => segment !== undefined);
}

// The legal values of context fields, and the strategies that compare with a field.

const FIELD = '/context/:contextField';

const FIELD_CHANGE = {
  permission: 'targeting:write',
  needs: ['UPDATE_CONTEXT_FIELD'],
  locate: locate.contextField,
  pinned: locate.contextField,
} as const;

export const contextFieldRoutes = underTag('Context', [
  readRoute(`GET ${FIELD}/strategies`, {
    operationId: 'getStrategiesByContextField',
    summary: 'List the strategies with a constraint on a context field.',
    locate: locate.contextField,
    success: { status: 200, schema: StrategyUsesSchema },
    read: (context, field) => strategyUses(context, 'context-field', field.name),
  }),
  writeRoute(`POST ${FIELD}/legal-values`, {
    operationId: 'updateContextFieldLegalValue',
    summary: 'Add a legal value to a context field, or give it another description.',
    ...FIELD_CHANGE,
    body: LegalValueSchema,
    command: ({ params, body }) => ({ type: 'set-legal-value', name: params.contextField, legalValue: body }),
  }),
  writeRoute(`DELETE ${FIELD}/legal-values/:legalValue`, {
    operationId: 'deleteContextFieldLegalValue',
    summary: 'Remove a legal value from a context field; one that it does not have changes nothing.',
    ...FIELD_CHANGE,
    command: ({ params }) => ({
      type: 'remove-legal-value',
      name: params.contextField,
      value: params.legalValue,
    }),
  }),
]);

/** The check of a constraint that a form makes before it adds it to a strategy. */
export const constraintCheckRoutes = underTag('Context', [
  readRoute('POST /constraints/validate', {
    operationId: 'validateConstraint',
    summary: 'Check whether a strategy can have a constraint.',
    body: ConstraintSchema,
    success: { status: 204, schema: null },
    read: ({ engine }) => ({ revision: engine.lastId, response: emptyResponse(204) }),
  }),
]);

// The deprecation of strategy types.

function deprecationRoute(action: 'deprecate' | 'reactivate'): RouteDraft {
  return writeRoute(`POST /strategies/:strategyName/${action}`, {
    operationId: `${action}Strategy`,
    summary:
      action === 'deprecate'
        ? 'Deprecate a strategy type: strategies of the type go on working, and forms stop offering it.'
        : 'Take back the deprecation of a strategy type.',
    permission: 'targeting:write',
    needs: ['UPDATE_STRATEGY'],
    locate: locate.strategyType,
    command: ({ params }) => ({
      type: 'deprecate-strategy-type',
      name: params.strategyName,
      deprecated: action === 'deprecate',
    }),
  });
}

export const strategyTypeRoutes = underTag('Strategies', [
  deprecationRoute('deprecate'),
  deprecationRoute('reactivate'),
]);
