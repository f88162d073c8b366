/** The segments of strategies. */
import * as v from 'valibot';
import { described, list, titled } from '../../../domain/json/schema.ts';
import type { Segment } from '../../../domain/kinds/segment.ts';
import { isRefusal, notFound, type Refusal } from '../../../domain/state/refusal.ts';
import { jsonResponse } from '../../serving/json-response.ts';
import { type RequestContext, readRoute, underTag, writeRoute } from '../../serving/route.ts';
import * as locate from '../requests/locators.ts';
import { recordsSchema } from '../schemas/record-schemas.ts';
import { recordsResponse } from '../views/records.ts';
import { settledResponse } from '../views/responses.ts';
import { findStrategy, StrategyUsesSchema, strategyUses } from '../views/strategy-uses.ts';

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
  segmentIds: v.array(v.pipe(v.number(), v.integer())),
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
