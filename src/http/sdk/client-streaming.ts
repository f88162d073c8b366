/** The stream of changes, for server-side SDKs and Unleash Edge. */
import { isRefusal } from '../../domain/state/refusal.ts';
import type { StreamRoute } from '../serving/route.ts';
import { refuseLargeDocument } from './documents/client-documents.ts';
import { clientQuery, payerOf } from './documents/client-query.ts';
import { QUERY_PARAMETERS } from './documents/query-parameters.ts';
import { flagStreams } from './streams/flag-streams.ts';
import { DELTA_FORMAT } from './streams/stream-format.ts';

export const streamingRoute: StreamRoute = {
  kind: 'stream',
  method: 'GET',
  path: '/streaming',
  operationId: 'streamClientFeatures',
  tag: 'Client',
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
    return flagStreams(context.engine).open({
      query,
      format: DELTA_FORMAT,
      token: context.caller.token,
      lastEventId: context.header('last-event-id'),
      payer: payerOf(query, context),
    });
  },
};
