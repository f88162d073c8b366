/** The flags that are on for one context, for SDKs in browsers and phones. */
import * as v from 'valibot';
import type { Refusal } from '../../domain/state/refusal.ts';
import { type ReadResponse, type RequestContext, type Route, readRoute } from '../serving/route.ts';
import { evaluatedList, type ListOptions } from './evaluation/evaluated.ts';
import { OutcomeLists } from './evaluation/outcome-lists.ts';
import {
  ContextSchema,
  contextInBody,
  contextInQuery,
  type SentContext,
} from './evaluation/request-input.ts';
import { TogglesSchema } from './frontend-schemas.ts';

const TOGGLES = new OutcomeLists({ field: 'toggles', form: 'toggle', view: ({ toggle }) => toggle });

const TOGGLE_LIST: ListOptions = {
  key: 'toggles',
  onlyEnabled: true,
  begin: () => TOGGLES.begin(),
};

const ContextBody = v.pipe(
  v.object({ context: v.optional(ContextSchema, () => ({})) }),
  v.title('FrontendContext'),
);

function togglesFor(
  request: RequestContext<unknown>,
  sent: SentContext,
): ReadResponse | Refusal | Promise<ReadResponse | Refusal> {
  return evaluatedList(request, sent, TOGGLE_LIST);
}

const QUERY_PARAMETERS = {
  userId: {
    description: 'A field of the context. Any name may be given; those that are no fields are properties.',
  },
  sessionId: { description: 'A field of the context. Default: a random one.' },
  remoteAddress: { description: 'A field of the context. Default: the address of the caller.' },
  appName: { description: 'A field of the context.' },
  environment: {
    description: 'A field of the context. The flags are those of the environment of the token.',
  },
  currentTime: { description: 'A field of the context, such as 2026-11-21T10:00:00Z. Default: now.' },
} as const;

export const toggleRoutes: readonly Route[] = [
  readRoute({
    method: 'GET',
    path: '',
    isPolled: true,
    operationId: 'getFrontendFeatures',
    tag: 'Frontend',
    summary: 'Read the flags that are on for the context in the query.',
    permission: 'scope',
    query: QUERY_PARAMETERS,
    success: { status: 200, schema: TogglesSchema },
    refusals: ['ValidationError'],
    read: (request) => togglesFor(request, contextInQuery(request.rawQuery)),
  }),
  readRoute({
    method: 'POST',
    path: '',
    operationId: 'getFrontendFeaturesByContext',
    tag: 'Frontend',
    summary: 'Read the flags that are on for the context in the body.',
    permission: 'scope',
    body: ContextBody,
    bodyIsOptional: true,
    success: { status: 200, schema: TogglesSchema },
    read: (request) => togglesFor(request, contextInBody(request.body.context)),
  }),
];
