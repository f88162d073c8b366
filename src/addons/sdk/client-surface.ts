/** The surface for server-side SDKs and Unleash Edge. */
import * as v from 'valibot';
import type { Requester } from '../../actors/turn.ts';
import { ConstraintSchema } from '../../domain/flags/constraint.ts';
import { FLAG_TYPES } from '../../domain/flags/metadata.ts';
import { VariantSchema } from '../../domain/flags/variant.ts';
import { described, titled } from '../../domain/json/schema.ts';
import { locateFlagAnywhere } from '../../domain/state/locate.ts';
import { isRefusal, notFound, type Refusal } from '../../domain/state/refusal.ts';
import { JSON_HEADERS, TaggedResponse, taggedResponse } from '../../http/serving/json-response.ts';
import {
  type ReadResponse,
  type RequestContext,
  readRoute,
  type StreamRoute,
  underTag,
} from '../../http/serving/route.ts';
import type { Surface } from '../../http/serving/surface.ts';
import { type Answer, clientDocuments, refuseLargeDocument } from './client-documents.ts';
import { clientQuery, coversProject, payerOf, QUERY_PARAMETERS, requesterOf } from './client-query.ts';
import { onceEach } from './evaluation/once-each.ts';
import { flagStreams } from './flag-streams.ts';
import type { QueryWatch } from './query-watch.ts';
import { EVENTS_HEAD, EVENTS_TAIL, type HydrationBody, type QueryWatches } from './query-watches.ts';
import { SDK_ERRORS, sdkAccess } from './sdk-access.ts';
import { DELTA_FORMAT } from './stream-format.ts';

// The schemas of responses to SDKs (docs/specification/surfaces.md#what-applications-get).

const SentVariantSchema = titled('Client variant', {
  ...VariantSchema.entries,
  weightType: v.picklist(['variable', 'fix']),
  stickiness: v.string(),
  overrides: v.exactOptional(v.array(v.object({ contextName: v.string(), values: v.array(v.string()) }))),
});

const SentConstraintSchema = titled('Client constraint', {
  ...ConstraintSchema.entries,
  caseInsensitive: v.boolean(),
  inverted: v.boolean(),
  values: v.array(v.string()),
});

const SentStrategySchema = titled('Client strategy', {
  name: v.string(),
  title: v.exactOptional(v.string()),
  sortOrder: v.number(),
  constraints: v.array(SentConstraintSchema),
  parameters: described(v.record(v.string(), v.string()), 'All values as texts.'),
  variants: v.array(SentVariantSchema),
  segments: described(
    v.exactOptional(v.array(v.number())),
    'Ids of segments; only when there are any, and for clients that know them.',
  ),
});

const ClientFlagSchema = titled('Client feature', {
  name: v.string(),
  type: v.picklist(FLAG_TYPES),
  enabled: described(v.boolean(), "In the token's environment."),
  project: v.string(),
  stale: v.boolean(),
  impressionData: v.boolean(),
  description: v.nullable(v.string()),
  strategies: described(v.array(SentStrategySchema), 'Without disabled ones.'),
  variants: v.array(SentVariantSchema),
  dependencies: v.exactOptional(
    v.array(v.object({ feature: v.string(), enabled: v.boolean(), variants: v.array(v.string()) })),
  ),
});

const SentSegmentSchema = v.object({
  id: v.number(),
  name: v.string(),
  constraints: v.array(SentConstraintSchema),
});

const ClientFlagsSchema = titled('Client features', {
  version: v.number(),
  features: v.array(ClientFlagSchema),
  query: v.object({
    environment: v.string(),
    inlineSegmentConstraints: v.boolean(),
    project: v.exactOptional(v.array(v.string())),
    namePrefix: v.exactOptional(v.string()),
    tag: v.exactOptional(v.array(v.array(v.string()))),
  }),
  segments: v.exactOptional(v.array(SentSegmentSchema)),
  meta: v.object({ etag: v.string(), queryHash: v.string() }),
});

const EventIdSchema = described(v.number(), 'Of the event in the log that it comes from.');

const DeltaSchema = titled('Client delta', {
  events: described(
    v.array(
      v.variant('type', [
        v.object({
          type: v.literal('hydration'),
          eventId: EventIdSchema,
          features: v.array(ClientFlagSchema),
          segments: v.array(SentSegmentSchema),
        }),
        v.object({ type: v.literal('feature-updated'), eventId: EventIdSchema, feature: ClientFlagSchema }),
        v.object({
          type: v.literal('feature-removed'),
          eventId: EventIdSchema,
          featureName: v.string(),
          project: v.string(),
        }),
        v.object({
          type: v.literal('segment-updated'),
          eventId: EventIdSchema,
          segment: SentSegmentSchema,
        }),
        v.object({ type: v.literal('segment-removed'), eventId: EventIdSchema, segmentId: v.number() }),
      ]),
    ),
    'In this order. A hydration replaces everything that the client has.',
  ),
});

const deltaRoute = readRoute('GET /delta', {
  isPolled: true,
  operationId: 'getClientDelta',
  summary:
    'Read what has changed in the flags that the token covers since the response that If-None-Match names.',
  permission: 'scope',
  query: QUERY_PARAMETERS,
  success: { status: 200, schema: DeltaSchema },
  refusals: ['ValidationError', 'PayloadTooLargeError'],
  read: (context) => {
    const query = clientQuery(context, false);
    if (isRefusal(query)) return query;
    const refusal = refuseLargeDocument(context.world, query);
    if (refusal !== null) return refusal;
    const { watches } = flagStreams(context.state);
    const request: DeltaRequest = {
      seenId: eventIdIn(context.header('if-none-match')),
      acceptEncoding: context.header('accept-encoding'),
    };
    const payer = payerOf(query, context);
    const requester = (): Requester => requesterOf(query, context);
    const found = watches.read(query, (watch) => responseTo(request, watches, watch, requester), payer);
    return found instanceof Promise ? found.then((late) => late) : found;
  },
});

interface DeltaRequest {
  readonly seenId: number;
  readonly acceptEncoding: string;
}

/**
 * All flags where it is not known what the client has missed. The tag is the id of the newest event that the response tells of, a
 * number in quotes, because clients read it as one.
 */
function responseTo(
  { seenId, acceptEncoding }: DeltaRequest,
  watches: QueryWatches,
  watch: QueryWatch,
  requester: () => Requester,
): ReadResponse | Promise<ReadResponse> {
  const { newestId } = watch.log;
  const missed = watch.log.since(seenId);
  if (missed === null) return hydrated(watches.bodyOf(watch, requester), acceptEncoding);
  const changes = Buffer.from(missed.map((update) => update.changes).join(','));
  const response = taggedResponse(`"${newestId}"`, Buffer.concat([EVENTS_HEAD, changes, EVENTS_TAIL]));
  return { revision: newestId, response: missed.length === 0 ? response.notModified : response };
}

async function hydrated(
  body: HydrationBody | Promise<HydrationBody>,
  acceptEncoding: string,
): Promise<ReadResponse> {
  const { id, encoded } = await body;
  return { revision: id, response: await encoded.response(acceptEncoding) };
}

/** -1, which no client has seen, for what names no event. */
function eventIdIn(ifNoneMatch: string): number {
  const [, digits = '-1'] = /^(?:W\/)?"?([0-9]{1,15})"?$/.exec(ifNoneMatch) ?? [];
  return Number(digits);
}

// The routes by which server-side SDKs, and Unleash Edge, read flags.

interface Hints {
  readonly hintsAtStreams: boolean;
}

function documentResponse(
  document: Answer,
  context: RequestContext<undefined>,
  { hintsAtStreams }: Hints,
): ReadResponse | Refusal | Promise<ReadResponse> {
  if (isRefusal(document)) return document;
  const { revision, encoded } = document;
  const response = encoded.response(context.header('accept-encoding'));
  if (!(response instanceof Promise))
    return { revision, response: hintsAtStreams ? hinting(response) : response };
  return response.then((late) => ({ revision, response: hintsAtStreams ? hinting(late) : late }));
}

/** Tells SDKs that know the header to stream from now on. They do not use the body, and ignore the hint where streams fail. */
const hinting = onceEach(
  ({ etag, body, headers }: TaggedResponse) =>
    new TaggedResponse(etag, body, headers.with('fetch-mode', 'streaming')),
);

const clientFlagRoutes = (hints: Hints) =>
  underTag('Client', [
    readRoute('GET /features', {
      operationId: 'getAllClientFeatures',
      isPolled: true,
      summary: 'Read all flags that the token covers, as SDKs evaluate them.',
      permission: 'scope',
      query: QUERY_PARAMETERS,
      success: { status: 200, schema: ClientFlagsSchema },
      refusals: ['ValidationError', 'PayloadTooLargeError'],
      read: (context) => {
        const query = clientQuery(context);
        if (isRefusal(query)) return query;
        const { state } = context;
        // Not constants, because tsx sets the names of such functions at each call.
        const document = clientDocuments(state).get(
          query,
          () => state.lastId,
          () => requesterOf(query, context),
        );
        if (!(document instanceof Promise)) return documentResponse(document, context, hints);
        return document.then((late) => documentResponse(late, context, hints));
      },
    }),
    readRoute('GET /features/:featureName', {
      operationId: 'getClientFeature',
      summary: 'Read one flag that the token covers, as SDKs evaluate it.',
      permission: 'scope',
      success: { status: 200, schema: ClientFlagSchema },
      refusals: ['NotFoundError'],
      // Not by `locate`: what there is depends on what the token covers.
      read: (context) => {
        const query = clientQuery(context);
        if (isRefusal(query)) return query;
        const { state, world, params } = context;
        const located = locateFlagAnywhere(world, params.featureName);
        const isThere =
          !isRefusal(located) &&
          located.record.flag.archivedAt === null &&
          coversProject(query, located.project.settings.id);
        if (!isThere) return notFound(`This token covers no flag "${params.featureName}".`);
        const body = clientDocuments(state).feature(query, located.record);
        return { revision: state.lastId, response: { status: 200, headers: JSON_HEADERS, body } };
      },
    }),
  ]);

/** The stream of changes, for server-side SDKs and Unleash Edge. */
const streamingRoute: Omit<StreamRoute, 'tag'> = {
  kind: 'stream',
  method: 'GET',
  path: '/streaming',
  operationId: 'streamClientFeatures',
  summary: 'Read all flags that the token covers, and hear of each change, as server-sent events.',
  permission: 'scope',
  query: QUERY_PARAMETERS,
  success: { status: 200, schema: null },
  refusals: ['ValidationError', 'PayloadTooLargeError', 'ServiceUnavailableError'],
  open: (context) => {
    const query = clientQuery(context, false);
    if (isRefusal(query)) return query;
    const refusal = refuseLargeDocument(context.world, query);
    if (refusal !== null) return refusal;
    return flagStreams(context.state).open({
      query,
      format: DELTA_FORMAT,
      token: context.caller.token,
      lastEventId: context.header('last-event-id'),
      payer: payerOf(query, context),
    });
  },
};

export const clientSurface = (hints: Hints): Surface => ({
  prefix: '/api/client',
  access: sdkAccess('client'),
  errors: SDK_ERRORS,
  routes: [...clientFlagRoutes(hints), ...underTag('Client', [deltaRoute, streamingRoute])],
  description: `\`/api/client\` is for server-side SDKs: the flags of the projects and the environment that a client token
covers. Only durable changes are shown. 401 and 403 have a body with nothing but a \`message\`.`,
});
