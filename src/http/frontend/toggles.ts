/** The flags that are on for one context, for SDKs in browsers and phones. */
import * as v from 'valibot';
import { isRefusal, type Refusal } from '../../domain/state/refusal.ts';
import { type ReadAnswer, type RequestContext, type Route, readRoute } from '../dispatch/route.ts';
import { ContextSchema, contextInQuery, requestInput } from '../evaluation/request-input.ts';
import type { ScopeEvaluator } from '../evaluation/scope-evaluator.ts';
import { scopeEvaluators } from '../evaluation/scope-evaluators.ts';
import { TogglesSchema } from './schemas.ts';
import { toggleList } from './toggle-list.ts';

const ContextBody = v.pipe(
  v.object({ context: v.optional(ContextSchema, () => ({})) }),
  v.title('FrontendContext'),
);

function togglesFor(
  request: RequestContext<unknown>,
  sent: Readonly<Record<string, unknown>>,
  path: string,
): ReadAnswer | Refusal | Promise<ReadAnswer> {
  const input = requestInput(request, sent, path);
  if (isRefusal(input)) return input;
  const { engine, caller } = request;
  const answer = ({ evaluator, revision }: ScopeEvaluator): ReadAnswer => ({
    revision,
    reply: toggleList(evaluator.toggles(input)),
  });
  const found = scopeEvaluators(engine).get(caller.scope, () => engine.lastId);
  return found instanceof Promise ? found.then(answer) : answer(found);
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
    operationId: 'getFrontendFeatures',
    tag: 'Frontend',
    summary: 'Read the flags that are on for the context in the query.',
    permission: 'scope',
    query: QUERY_PARAMETERS,
    success: { status: 200, schema: TogglesSchema },
    refusals: ['ValidationError'],
    read: (request) => togglesFor(request, contextInQuery(request.rawQuery), '/query'),
  }),
  readRoute({
    method: 'POST',
    path: '',
    operationId: 'getFrontendFeaturesByContext',
    tag: 'Frontend',
    summary: 'Read the flags that are on for the context in the body.',
    permission: 'scope',
    body: ContextBody,
    success: { status: 200, schema: TogglesSchema },
    read: (request) => togglesFor(request, request.body.context, '/body/context'),
  }),
];
