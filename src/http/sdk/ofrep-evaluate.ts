/** Flags evaluated for one context: one, and all of them. */
import * as v from 'valibot';
import { namesTag } from '../serving/conditional.ts';
import { jsonResponse } from '../serving/json-response.ts';
import { type Route, readRoute } from '../serving/route.ts';
import { evaluated, evaluatedList } from './evaluation/evaluated.ts';
import { OutcomeLists } from './evaluation/outcome-lists.ts';
import { ContextSchema, contextField, contextInBody, type SentContext } from './evaluation/request-input.ts';
import { eventStreamsField } from './ofrep-streams.ts';
import { EvaluationSchema, EvaluationsSchema, evaluationView } from './ofrep-view.ts';

const OfrepBody = v.pipe(
  v.object({
    context: v.optional(
      v.pipe(
        ContextSchema,
        contextField('targetingKey', (value) => typeof value === 'string', 'a string'),
      ),
      () => ({}),
    ),
  }),
  v.title('OfrepRequest'),
);

/** OpenFeature's name for whom a flag is evaluated for is `targetingKey`; the flags' is `userId`. */
function contextOf({ context }: v.InferOutput<typeof OfrepBody>): SentContext {
  return contextInBody({ ...context, userId: context.userId ?? context.targetingKey });
}

const EVALUATIONS = new OutcomeLists({ field: 'flags', form: 'evaluation', view: evaluationView });

export const evaluateRoutes: readonly Route[] = [
  readRoute({
    method: 'POST',
    path: '/evaluate/flags',
    operationId: 'evaluateFlags',
    tag: 'OpenFeature',
    summary:
      'Evaluate all flags that the token covers; with If-None-Match, 304 while the result is the same.',
    permission: 'scope',
    body: OfrepBody,
    success: { status: 200, schema: EvaluationsSchema },
    honoursIfNoneMatch: true,
    read: (request) => {
      const streams = eventStreamsField(request);
      return evaluatedList(request, contextOf(request.body), {
        key: `evaluations${streams}`,
        onlyEnabled: false,
        begin: () => EVALUATIONS.begin(streams),
        finish: (response) =>
          namesTag(request.header('if-none-match'), response.etag) ? response.notModified : response,
      });
    },
  }),
  readRoute({
    method: 'POST',
    path: '/evaluate/flags/:featureName',
    operationId: 'evaluateFlag',
    tag: 'OpenFeature',
    summary: 'Evaluate one flag.',
    permission: 'scope',
    body: OfrepBody,
    success: { status: 200, schema: EvaluationSchema },
    refusals: ['NotFoundError'],
    read: (request) =>
      evaluated(request, contextOf(request.body), {
        name: request.params.featureName,
        respond: (outcome) => jsonResponse(200, evaluationView(outcome)),
      }),
  }),
];
