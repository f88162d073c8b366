/** What has changed since a client asked last. */
import { isRefusal } from '../../domain/state/refusal.ts';
import { clientQuery } from '../client-flags/client-query.ts';
import { taggedResponse } from '../dispatch/json-response.ts';
import { type ReadResponse, readRoute } from '../dispatch/route.ts';
import { flagStreams } from '../watch/flag-streams.ts';
import type { QueryWatch } from '../watch/query-watch.ts';
import type { QueryWatches } from '../watch/query-watches.ts';
import { QUERY_PARAMETERS } from './query-parameters.ts';
import { DeltaSchema } from './schemas.ts';

export const deltaRoute = readRoute({
  method: 'GET',
  path: '/delta',
  operationId: 'getClientDelta',
  tag: 'Client',
  summary:
    'Read what has changed in the flags that the token covers since the response that If-None-Match names.',
  permission: 'scope',
  query: QUERY_PARAMETERS,
  success: { status: 200, schema: DeltaSchema },
  refusals: ['ValidationError'],
  read: (context) => {
    const query = clientQuery(context, false);
    if (isRefusal(query)) return query;
    const { watches } = flagStreams(context.engine);
    const seenId = eventIdIn(context.header('if-none-match'));
    const found = watches.read(query, (watch) => eventsAfter(watches, watch, seenId));
    return found instanceof Promise ? found.then(responseOf) : responseOf(found);
  },
});

interface FoundEvents {
  readonly newestId: number;
  /** JSON, separated by commas; null: the client has them all. */
  readonly events: readonly Uint8Array[] | Promise<readonly Uint8Array[]> | null;
}

/** All flags where it is not known what a client has missed that has seen `seenId`. */
function eventsAfter(watches: QueryWatches, watch: QueryWatch, seenId: number): FoundEvents {
  const { newestId } = watch.log;
  const missed = watch.log.since(seenId);
  if (missed === null) return { newestId, events: watches.hydrationOf(watch).parts() };
  if (missed.length === 0) return { newestId, events: null };
  return { newestId, events: [Buffer.from(missed.map(({ changes }) => changes).join(','))] };
}

/** The tag is the id of the newest event that the response tells of, a number in quotes, because clients read it as one. */
function responseOf({ newestId, events }: FoundEvents): ReadResponse | Promise<ReadResponse> {
  if (events instanceof Promise) return events.then((late) => responseOf({ newestId, events: late }));
  const response = taggedResponse(`"${newestId}"`, Buffer.concat([HEAD, ...(events ?? []), TAIL]));
  return { revision: newestId, response: events === null ? response.notModified : response };
}

const HEAD = Buffer.from('{"events":[');
const TAIL = Buffer.from(']}');

/** -1, which no client has seen, for what names no event. */
function eventIdIn(ifNoneMatch: string): number {
  const [, digits = '-1'] = /^(?:W\/)?"?([0-9]{1,15})"?$/.exec(ifNoneMatch) ?? [];
  return Number(digits);
}
