/** Segments, and which of them a strategy has. */
import * as v from 'valibot';
import { refuseTakenSegmentName } from '../../../domain/decide/segment-commands.ts';
import { list } from '../../../domain/json/list-schema.ts';
import { type Segment, SegmentInputSchema, SegmentNameSchema } from '../../../domain/kinds/segment.ts';
import { textOrder } from '../../../domain/state/directory-records.ts';
import { isRefusal, notFound, type Refusal } from '../../../domain/state/refusal.ts';
import { emptyResponse, JSON_HEADERS, jsonResponse } from '../../serving/json-response.ts';
import {
  type ReadResponse,
  type RequestContext,
  type Route,
  readRoute,
  writeRoute,
} from '../../serving/route.ts';
import * as locate from '../requests/locators.ts';
import * as pins from '../requests/pins.ts';
import {
  SegmentSchema,
  SegmentsSchema,
  StrategySegmentsSchema,
  StrategyUsesSchema,
} from '../schemas/targeting-schemas.ts';
import { pinnedResponse, recorded, settledResponse } from '../views/responses.ts';
import { findStrategy, strategyUses } from '../views/strategy-uses.ts';
import { segmentsText, segmentText } from '../views/views.ts';

const SEGMENTS = '/segments';
const SEGMENT = `${SEGMENTS}/:id`;

const ValidateSegmentBody = v.pipe(v.object({ name: SegmentNameSchema }), v.title('ValidateSegment'));

const SEGMENT_IDS_PHRASE = 'a list of segment ids';
const SEGMENT_ID_PHRASE = 'the id of a segment';
const StrategySegmentsBody = v.pipe(
  v.object({
    projectId: v.string(),
    environmentId: v.string(),
    strategyId: v.string(),
    segmentIds: v.pipe(
      list(v.pipe(v.number(SEGMENT_ID_PHRASE), v.integer(SEGMENT_ID_PHRASE)), SEGMENT_IDS_PHRASE),
      v.description('They replace those that the strategy has.'),
    ),
  }),
  v.title('SetStrategySegments'),
);

function textResponse({ engine }: RequestContext<unknown>, text: string): ReadResponse {
  return { revision: engine.lastId, response: { status: 200, headers: JSON_HEADERS, body: text } };
}

export const segmentRoutes: readonly Route[] = [
  readRoute({
    method: 'GET',
    path: SEGMENTS,
    operationId: 'getSegments',
    tag: 'Segments',
    summary: 'List the segments by name.',
    permission: 'read',
    success: { status: 200, schema: SegmentsSchema },
    read: (context) => {
      const { world } = context;
      const segments = [...world.directory.segments.values()];
      segments.sort((one, other) => textOrder(one.name, other.name));
      return textResponse(context, segmentsText(world, segments));
    },
  }),
  writeRoute({
    method: 'POST',
    path: SEGMENTS,
    operationId: 'createSegment',
    tag: 'Segments',
    summary: 'Create a segment.',
    permission: 'targeting:write',
    needs: ['CREATE_SEGMENT'],
    body: SegmentInputSchema,
    success: { status: 201, schema: SegmentSchema },
    refusals: ['NameExistsError', 'InvalidOperationError', 'PayloadTooLargeError'],
    command: ({ body }) => ({ type: 'create-segment', fields: body }),
    respond: ({ world }, events) => ({
      status: 201,
      headers: JSON_HEADERS,
      body: segmentText(world, recorded(events, 'segment-created').data),
    }),
  }),
  readRoute({
    method: 'POST',
    path: `${SEGMENTS}/validate`,
    operationId: 'validateSegment',
    tag: 'Segments',
    summary: 'Check whether a segment can have a name: it is valid and not taken.',
    permission: 'read',
    body: ValidateSegmentBody,
    success: { status: 204, schema: null },
    refusals: ['NameExistsError'],
    read: ({ world, engine, body }) =>
      refuseTakenSegmentName(world, body.name) ?? { revision: engine.lastId, response: emptyResponse(204) },
  }),
  readRoute({
    method: 'GET',
    path: SEGMENT,
    operationId: 'getSegment',
    tag: 'Segments',
    summary: 'Read a segment.',
    permission: 'read',
    locate: locate.segment,
    success: { status: 200, schema: SegmentSchema },
    refusals: ['NotFoundError'],
    read: (context, segment) => pinnedResponse(context, segment, segmentText(context.world, segment)),
  }),
  writeRoute({
    method: 'PUT',
    path: SEGMENT,
    operationId: 'updateSegment',
    tag: 'Segments',
    summary: 'Replace a segment.',
    permission: 'targeting:write',
    needs: ['UPDATE_SEGMENT'],
    locate: locate.segment,
    pinned: pins.segment,
    body: SegmentInputSchema,
    success: { status: 204, schema: null },
    refusals: ['NameExistsError', 'InvalidOperationError', 'PayloadTooLargeError'],
    command: ({ params, body }) => ({
      type: 'update-segment',
      id: locate.numericId(params.id),
      fields: body,
    }),
    respond: () => emptyResponse(204),
  }),
  writeRoute({
    method: 'DELETE',
    path: SEGMENT,
    operationId: 'removeSegment',
    tag: 'Segments',
    summary: 'Delete a segment that no strategy uses.',
    permission: 'targeting:write',
    needs: ['DELETE_SEGMENT'],
    locate: locate.segment,
    pinned: pins.segment,
    success: { status: 204, schema: null },
    refusals: ['InvalidOperationError'],
    command: ({ params }) => ({ type: 'delete-segment', id: locate.numericId(params.id) }),
    respond: () => emptyResponse(204),
  }),
  readRoute({
    method: 'GET',
    path: `${SEGMENT}/strategies`,
    operationId: 'getStrategiesBySegmentId',
    tag: 'Segments',
    summary: 'List the strategies that use a segment.',
    permission: 'read',
    locate: locate.segment,
    success: { status: 200, schema: StrategyUsesSchema },
    refusals: ['NotFoundError'],
    read: async (context, segment) => {
      const strategies = await strategyUses(context, 'segment', segment.id);
      return isRefusal(strategies) ? strategies : settledResponse(context, { strategies });
    },
  }),
  readRoute({
    method: 'GET',
    path: `${SEGMENTS}/strategies/:strategyId`,
    operationId: 'getSegmentsByStrategyId',
    tag: 'Segments',
    summary: 'List the segments of a strategy.',
    permission: 'read',
    success: { status: 200, schema: SegmentsSchema },
    read: async (context) => {
      const segments = await segmentsOfStrategy(context);
      if (isRefusal(segments)) return segments;
      return textResponse(context, segmentsText(context.world, segments));
    },
  }),
  writeRoute({
    method: 'POST',
    path: `${SEGMENTS}/strategies`,
    operationId: 'updateFeatureStrategySegments',
    tag: 'Segments',
    summary: 'Set the segments of a strategy.',
    permission: 'targeting:write',
    body: StrategySegmentsBody,
    success: { status: 201, schema: StrategySegmentsSchema },
    refusals: ['NotFoundError', 'InvalidOperationError', 'PayloadTooLargeError'],
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
];

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
