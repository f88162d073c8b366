/** The routes by which server-side SDKs, and Unleash Edge, read flags. */

import { locateFlagAnywhere } from '../../domain/state/locate.ts';
import { isRefusal, notFound, type Refusal } from '../../domain/state/refusal.ts';
import { JSON_HEADERS, TaggedResponse } from '../serving/json-response.ts';
import { type ReadResponse, type RequestContext, type Route, readRoute } from '../serving/route.ts';
import { ClientFlagSchema, ClientFlagsSchema } from './client-schemas.ts';
import { type Answer, clientDocuments } from './documents/client-documents.ts';
import { clientQuery, coversProject, payerOf } from './documents/client-query.ts';
import { QUERY_PARAMETERS } from './documents/query-parameters.ts';

function documentResponse(
  document: Answer,
  context: RequestContext<undefined>,
): ReadResponse | Refusal | Promise<ReadResponse> {
  if (isRefusal(document)) return document;
  const { revision, encoded } = document;
  const { forSdks } = context.streaming;
  const response = encoded.response(context.header('accept-encoding'));
  if (!(response instanceof Promise)) return { revision, response: forSdks ? hinting(response) : response };
  return response.then((late) => ({ revision, response: forSdks ? hinting(late) : late }));
}

/** Tells SDKs that know the header to stream from now on. They do not use the body, and ignore the hint where streams fail. */
function hinting(response: TaggedResponse): TaggedResponse {
  let known = hintingResponses.get(response);
  if (known === undefined) {
    known = new TaggedResponse(
      response.etag,
      response.body,
      response.headers.with('fetch-mode', 'streaming'),
    );
    hintingResponses.set(response, known);
  }
  return known;
}

const hintingResponses = new WeakMap<TaggedResponse, TaggedResponse>();

export const clientFlagRoutes: readonly Route[] = [
  readRoute({
    method: 'GET',
    path: '/features',
    operationId: 'getAllClientFeatures',
    isPolled: true,
    tag: 'Client',
    summary: 'Read all flags that the token covers, as SDKs evaluate them.',
    permission: 'scope',
    query: QUERY_PARAMETERS,
    success: { status: 200, schema: ClientFlagsSchema },
    refusals: ['ValidationError', 'PayloadTooLargeError'],
    read: (context) => {
      const query = clientQuery(context);
      if (isRefusal(query)) return query;
      const { engine } = context;
      const document = clientDocuments(engine).get(query, () => engine.lastId, payerOf(query, context));
      if (!(document instanceof Promise)) return documentResponse(document, context);
      return document.then((late) => documentResponse(late, context));
    },
  }),
  readRoute({
    method: 'GET',
    path: '/features/:featureName',
    operationId: 'getClientFeature',
    tag: 'Client',
    summary: 'Read one flag that the token covers, as SDKs evaluate it.',
    permission: 'scope',
    success: { status: 200, schema: ClientFlagSchema },
    refusals: ['NotFoundError'],
    // Not by `locate`: what there is depends on what the token covers.
    read: (context) => {
      const query = clientQuery(context);
      if (isRefusal(query)) return query;
      const { engine, world, params } = context;
      const located = locateFlagAnywhere(world, params.featureName);
      const isThere =
        !isRefusal(located) &&
        located.record.flag.archivedAt === null &&
        coversProject(query, located.project.settings.id);
      if (!isThere) return notFound(`This token covers no flag "${params.featureName}".`);
      const body = clientDocuments(engine).feature(query, located.record);
      return { revision: engine.lastId, response: { status: 200, headers: JSON_HEADERS, body } };
    },
  }),
];
