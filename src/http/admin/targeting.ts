/** Routes about segments, context fields and strategy types, besides those that every kind has (kinds.ts). */
import * as v from 'valibot';
import { ConstraintSchema } from '../../domain/flags/constraint.ts';
import { described, Integer, list, titled } from '../../domain/json/schema.ts';
import { LegalValueSchema } from '../../domain/kinds/context-field.ts';
import type { Segment } from '../../domain/kinds/segment.ts';
import { isRefusal, notFound, type Refusal } from '../../domain/state/refusal.ts';
import { emptyResponse, jsonResponse } from '../serving/json-response.ts';
import { type RequestContext, type RouteDraft, readRoute, underTag, writeRoute } from '../serving/route.ts';
import * as locate from './locators.ts';
import { recordsSchema } from './record-schemas.ts';
import { recordsResponse } from './records.ts';
import { settledResponse } from './responses.ts';
import { findStrategy, StrategyUsesSchema, strategyUses } from './strategy-uses.ts';

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
    read: async (context, segment) => {
      const strategies = await strategyUses(context, 'segment', segment.id);
      return isRefusal(strategies) ? strategies : settledResponse(context, { strategies });
    },
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
      const { projectId: project, environmentId, strategyId, segmentIds: segments } = body;
      const found = await findStrategy(context, [project], strategyId);
      if (isRefusal(found)) return found;
      if (found === null || found.environment !== environmentId) return noStrategy(body);
      const { flag, environment } = found;
      return { type: 'set-strategy-segments', project, flag: flag.name, environment, strategyId, segments };
    },
    respond: ({ body: { projectId, environmentId, strategyId, segmentIds } }) =>
      jsonResponse(201, { projectId, environmentId, strategyId, segmentIds }),
  }),
]);

function noStrategy({
  projectId,
  environmentId,
  strategyId,
}: v.InferOutput<typeof StrategySegmentsBody>): Refusal {
  return notFound(
    `There is no strategy "${strategyId}" in the project "${projectId}" and the environment "${environmentId}".`,
  );
}

/** None for a strategy that does not exist, as Unleash answers. */
async function segmentsOfStrategy(context: RequestContext<unknown>): Promise<readonly Segment[] | Refusal> {
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

export const contextFieldRoutes = underTag('Context', [
  readRoute(`GET ${FIELD}/strategies`, {
    operationId: 'getStrategiesByContextField',
    summary: 'List the strategies with a constraint on a context field.',
    locate: locate.contextField,
    success: { status: 200, schema: StrategyUsesSchema },
    read: async (context, field) => {
      const strategies = await strategyUses(context, 'context-field', field.name);
      return isRefusal(strategies) ? strategies : settledResponse(context, { strategies });
    },
  }),
  writeRoute(`POST ${FIELD}/legal-values`, {
    operationId: 'updateContextFieldLegalValue',
    summary: 'Add a legal value to a context field, or give it another description.',
    permission: 'targeting:write',
    needs: ['UPDATE_CONTEXT_FIELD'],
    locate: locate.contextField,
    pinned: locate.contextField,
    body: LegalValueSchema,
    command: ({ params, body }) => ({
      type: 'set-legal-value',
      name: params.contextField,
      legalValue: body,
    }),
  }),
  writeRoute(`DELETE ${FIELD}/legal-values/:legalValue`, {
    operationId: 'deleteContextFieldLegalValue',
    summary: 'Remove a legal value from a context field; one that it does not have changes nothing.',
    permission: 'targeting:write',
    needs: ['UPDATE_CONTEXT_FIELD'],
    locate: locate.contextField,
    pinned: locate.contextField,
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
