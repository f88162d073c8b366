/** What has changed since a client asked last. */
import { isRefusal } from '../../domain/state/refusal.ts';
import { taggedResponse } from '../serving/json-response.ts';
import { type ReadResponse, readRoute } from '../serving/route.ts';
import { DeltaSchema } from './client-schemas.ts';
import { refuseLargeDocument } from './documents/client-documents.ts';
import { clientQuery, type Payer, payerOf } from './documents/client-query.ts';
import type { EncodedBody } from './documents/encoded-body.ts';
import { QUERY_PARAMETERS } from './documents/query-parameters.ts';
import { flagStreams } from './streams/flag-streams.ts';
import type { QueryWatch } from './streams/query-watch.ts';
import { EVENTS_HEAD, EVENTS_TAIL, type QueryWatches } from './streams/query-watches.ts';

export const deltaRoute = readRoute({
  method: 'GET',
  path: '/delta',
  isPolled: true,
  operationId: 'getClientDelta',
  tag: 'Client',
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
    const { watches } = flagStreams(context.engine);
    const request: DeltaRequest = {
      seenId: eventIdIn(context.header('if-none-match')),
      acceptEncoding: context.header('accept-encoding'),
    };
    const payer = payerOf(query, context);
    const found = watches.read(query, (watch) => responseTo(request, watches, watch, payer), payer);
    return found instanceof Promise ? found.then((late) => late) : found;
  },
});

interface DeltaRequest {
  /** The newest event that the client has seen. */
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
  payer: Payer | undefined,
): ReadResponse | Promise<ReadResponse> {
  const { newestId } = watch.log;
  const missed = watch.log.since(seenId);
  if (missed === null) return hydrated(newestId, watches.bodyOf(watch, payer), acceptEncoding);
  const changes = Buffer.from(missed.map((update) => update.changes).join(','));
  const response = taggedResponse(`"${newestId}"`, Buffer.concat([EVENTS_HEAD, changes, EVENTS_TAIL]));
  return { revision: newestId, response: missed.length === 0 ? response.notModified : response };
}

async function hydrated(
  revision: number,
  body: EncodedBody | Promise<EncodedBody>,
  acceptEncoding: string,
): Promise<ReadResponse> {
  const encoded = await body;
  return { revision, response: await encoded.response(acceptEncoding) };
}

/** -1, which no client has seen, for what names no event. */
function eventIdIn(ifNoneMatch: string): number {
  const [, digits = '-1'] = /^(?:W\/)?"?([0-9]{1,15})"?$/.exec(ifNoneMatch) ?? [];
  return Number(digits);
}
