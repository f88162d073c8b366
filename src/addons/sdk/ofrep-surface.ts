/** The surface for OpenFeature clients, by the OpenFeature Remote Evaluation Protocol. */
import { createHash } from 'node:crypto';
import * as v from 'valibot';
import { described, titled } from '../../domain/json/schema.ts';
import { isRefusal, notFound, type Refusal } from '../../domain/state/refusal.ts';
import type { ApiToken, World } from '../../domain/state/world.ts';
import { expiryOf, scopeOf } from '../../http/serving/access.ts';
import type { ErrorShape, HttpError } from '../../http/serving/errors.ts';
import { namesTag } from '../../http/serving/etag.ts';
import { jsonResponse } from '../../http/serving/json-response.ts';
import type { Params } from '../../http/serving/params.ts';
import {
  type RequestContext,
  type Route,
  readRoute,
  type StreamRoute,
  underTag,
} from '../../http/serving/route.ts';
import type { Surface } from '../../http/serving/surface.ts';
import { queryOfAnyone, queryOfScope } from './client-query.ts';
import { evaluated, evaluatedList } from './evaluated.ts';
import { onceEach } from './evaluation/once-each.ts';
import type { Outcome } from './evaluation/outcome.ts';
import { flagStreams, type StreamRequest } from './flag-streams.ts';
import { OutcomeLists } from './outcome-lists.ts';
import { payloadValue } from './payload-value.ts';
import { ContextSchema, contextField, contextInBody, type SentContext } from './request-input.ts';
import { sdkAccess } from './sdk-access.ts';
import { REFETCH_FORMAT } from './stream-format.ts';

// Streams that tell OpenFeature clients when to evaluate again. A browser opens them without headers, so that the path has to show
// what the client may hear of: it holds a ticket, derived from the digest of a token. A ticket reveals that
// something has changed in what the token covers, never what, nor the token.

const STREAMS_PATH = '/ofrep/v1/streams';

/** Hexadecimal digits. */
const TICKET_LENGTH = 32;

const ticketOf = onceEach(({ digest }: ApiToken) =>
  createHash('sha256').update(`${STREAMS_PATH}/${digest}`).digest('hex').slice(0, TICKET_LENGTH),
);

const tokenOfTicket = ({ directory }: World, ticket: string): ApiToken | undefined =>
  [...directory.apiTokens.values()].find((token) => token.type !== 'admin' && ticketOf(token) === ticket);

/** Takes the place of a ticket where no token is needed; no ticket has a letter beyond f. */
const OPEN_TICKET = 'open';

/** The field `eventStreams` as JSON, with a comma before it. */
function eventStreamsField({ site, caller }: RequestContext<unknown>): string {
  const ticket = caller.token === null ? OPEN_TICKET : ticketOf(caller.token);
  const requestUri = `${site.basePath}${STREAMS_PATH}/${ticket}`;
  return `,"eventStreams":${JSON.stringify([{ type: 'sse', endpoint: { requestUri } }])}`;
}

type Heard = Pick<StreamRequest, 'query' | 'token'>;

const NO_STREAM = notFound('No token gives this stream.');

function heardWith({ world, params, now }: RequestContext<unknown>): Heard | Refusal {
  const token = tokenOfTicket(world, params.ticket);
  if (token === undefined || expiryOf(token.expiresAt) <= now()) return NO_STREAM;
  return { query: queryOfScope(scopeOf(token), false), token };
}

function heardByAnyone({ world, site }: RequestContext<unknown>): Heard | Refusal {
  return site.isOpen ? { query: queryOfAnyone(world, false), token: null } : NO_STREAM;
}

const eventStreamRoute: StreamRoute = {
  kind: 'stream',
  method: 'GET',
  path: '/:ticket',
  operationId: 'streamEvaluationHints',
  tag: 'OpenFeature',
  summary: 'Hear, as server-sent events, that flags have changed and are to be evaluated again.',
  permission: 'scope',
  success: { status: 200, schema: null },
  refusals: ['NotFoundError'],
  open: (context) => {
    const { state, params } = context;
    const heard = params.ticket === OPEN_TICKET ? heardByAnyone(context) : heardWith(context);
    if (isRefusal(heard)) return heard;
    return flagStreams(state).open({
      ...heard,
      format: REFETCH_FORMAT,
      lastEventId: context.header('last-event-id'),
    });
  },
};

// Flags evaluated for one context: one, and all of them.

// The evaluation of a flag, as OpenFeature clients read it (docs/specification/surfaces.md#what-openfeature-clients-get).

const EvaluationSchema = titled('OfrepEvaluation', {
  key: v.string(),
  value: described(
    v.union([v.boolean(), v.string(), v.number(), v.record(v.string(), v.unknown()), v.array(v.unknown())]),
    "The chosen variant's payload; without one, whether the flag is on.",
  ),
  reason: v.picklist(['STATIC', 'TARGETING_MATCH', 'SPLIT', 'DISABLED']),
  variant: v.exactOptional(v.string()),
  metadata: v.object({ enabled: v.boolean() }),
});

const EvaluationsSchema = titled('OfrepEvaluations', {
  flags: described(v.array(EvaluationSchema), 'All that the token covers, by name.'),
  eventStreams: described(
    v.exactOptional(
      v.array(v.object({ type: v.literal('sse'), endpoint: v.object({ requestUri: v.string() }) })),
    ),
    'Where a client hears that it should evaluate again; only where the server offers it.',
  ),
});

function evaluationView({ name, enabled, variant, reason }: Outcome) {
  return {
    key: name,
    value: payloadValue(variant) ?? enabled,
    reason,
    ...(variant === null ? {} : { variant: variant.name }),
    metadata: { enabled },
  };
}

const OfrepBody = titled('OfrepRequest', {
  context: v.optional(
    v.pipe(
      ContextSchema,
      contextField('targetingKey', (value) => typeof value === 'string', 'a string'),
    ),
    () => ({}),
  ),
});

/** OpenFeature calls the user of an evaluation `targetingKey`; flags call it `userId`. */
function contextOf({ context }: v.InferOutput<typeof OfrepBody>): SentContext {
  return contextInBody({ ...context, userId: context.userId ?? context.targetingKey });
}

interface Hints {
  readonly hintsAtStreams: boolean;
}

const EVALUATIONS = new OutcomeLists({ field: 'flags', form: 'evaluation', view: evaluationView });

const evaluateRoutes = ({ hintsAtStreams }: Hints): readonly Route[] =>
  underTag('OpenFeature', [
    readRoute('POST /evaluate/flags', {
      operationId: 'evaluateFlags',
      summary:
        'Evaluate all flags that the token covers; with If-None-Match, 304 while the result is the same.',
      permission: 'scope',
      body: OfrepBody,
      success: { status: 200, schema: EvaluationsSchema },
      honoursIfNoneMatch: true,
      read: (request) => {
        const streams = hintsAtStreams ? eventStreamsField(request) : '';
        return evaluatedList(request, contextOf(request.body), {
          key: `evaluations${streams}`,
          onlyEnabled: false,
          begin: (renderings) => EVALUATIONS.begin(renderings, streams),
          finish: (response) =>
            namesTag(request.header('if-none-match'), response.etag) ? response.notModified : response,
        });
      },
    }),
    readRoute('POST /evaluate/flags/:featureName', {
      operationId: 'evaluateFlag',
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
  ]);

// Errors as OpenFeature clients read them: those about one flag name it, and each has a code of the protocol.

const ERROR_CODES = ['FLAG_NOT_FOUND', 'PARSE_ERROR', 'INVALID_CONTEXT', 'GENERAL'] as const;

type ErrorCode = (typeof ERROR_CODES)[number];

const OfrepErrorSchema = titled('OfrepError', {
  key: v.exactOptional(described(v.string(), 'Only where the path names a flag.')),
  errorCode: v.picklist(ERROR_CODES),
  errorDetails: v.string(),
});

const OFREP_ERRORS: ErrorShape = {
  messageOnly: new Set(),
  own: {
    schema: OfrepErrorSchema,
    example: (name, message) => bodyOf({ errorCode: codeOf(name, ''), errorDetails: message }),
  },
  bodyOf({ name, message, details }, _, params) {
    return bodyOf({
      key: params?.featureName,
      errorCode: codeOf(name, details[0]?.path ?? '', params),
      errorDetails: message,
    });
  },
};

interface ErrorParts {
  readonly key?: string | undefined;
  readonly errorCode: ErrorCode;
  readonly errorDetails: string;
}

function bodyOf({ key, ...rest }: ErrorParts): v.InferOutput<typeof OfrepErrorSchema> {
  return { ...(key === undefined ? {} : { key }), ...rest };
}

/** `path` is where in the request the fault is. */
function codeOf(name: HttpError['name'], path: string, params: Params | null = null): ErrorCode {
  if (name === 'NotFoundError' && params?.featureName !== undefined) return 'FLAG_NOT_FOUND';
  if (path.startsWith('/body/context')) return 'INVALID_CONTEXT';
  return path.startsWith('/body') || name === 'UnsupportedMediaTypeError' ? 'PARSE_ERROR' : 'GENERAL';
}

export const ofrepSurface = (hints: Hints): Surface => ({
  prefix: '/ofrep/v1',
  access: sdkAccess('frontend', 'client'),
  errors: OFREP_ERRORS,
  routes: evaluateRoutes(hints),
  isForPages: true,
  description: `\`/ofrep/v1\` is the OpenFeature Remote Evaluation Protocol: flags evaluated for one context, of the projects and
the environment that a frontend or client token covers. Pages of other origins may call it.`,
});

/** The streams that evaluations name; their path is what shows that a client may open them. */
export const ofrepStreamSurface: Surface = {
  prefix: STREAMS_PATH,
  access: null,
  errors: OFREP_ERRORS,
  routes: [eventStreamRoute],
  isForPages: true,
  description: `\`${STREAMS_PATH}\` are the streams that evaluations name. They need no token.`,
};
