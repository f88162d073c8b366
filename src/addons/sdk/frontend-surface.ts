/** The surface for SDKs in browsers and phones, which get evaluated flags. */
import * as v from 'valibot';
import { described, titled } from '../../domain/json/schema.ts';
import { type Refusal, refuse } from '../../domain/state/refusal.ts';
import { errorOfRefusal, plainErrorResponse } from '../../http/serving/errors.ts';
import {
  type PlainRoute,
  type ReadResponse,
  type RequestContext,
  type Route,
  readRoute,
  underTag,
} from '../../http/serving/route.ts';
import type { Surface } from '../../http/serving/surface.ts';
import { evaluatedList, type ListOptions } from './evaluated.ts';
import { OutcomeLists } from './outcome-lists.ts';
import { ContextSchema, contextInBody, contextInQuery, type SentContext } from './request-input.ts';
import { SDK_ERRORS, sdkAccess } from './sdk-access.ts';

// Paths that SDKs and probes know of the frontend API and that it does not have. Unleash responds 405 to them, and clients take that
// for "not supported", while a 404 would tell them that there is no frontend API at all.

const UNSUPPORTED: Readonly<Record<string, string>> = {
  '/client/features': 'The frontend API sends evaluated flags only: ask GET /api/frontend.',
  '/health': 'The frontend API has no health of its own: ask GET /health.',
};

const unsupportedRoutes: readonly PlainRoute[] = Object.entries(UNSUPPORTED).map(([path, message]) => ({
  kind: 'plain',
  method: 'GET',
  path,
  respond: () => plainErrorResponse(errorOfRefusal(refuse('MethodNotAllowedError', message))),
}));

// The flags that are on for one context, for SDKs in browsers and phones.

// The schemas of responses to SDKs in browsers (docs/specification/surfaces.md#what-pages-get).

const ToggleSchema = titled('Toggle', {
  name: v.string(),
  enabled: v.boolean(),
  impressionData: v.boolean(),
  variant: v.object({
    name: described(v.string(), '`disabled` when there is none.'),
    enabled: v.boolean(),
    payload: v.exactOptional(v.object({ type: v.string(), value: v.string() })),
    feature_enabled: v.boolean(),
    featureEnabled: v.boolean(),
  }),
});

const TogglesSchema = titled('Toggles', {
  toggles: described(v.array(ToggleSchema), 'Those that are on, by name.'),
});

const TOGGLES = new OutcomeLists({ field: 'toggles', form: 'toggle', view: ({ toggle }) => toggle });

const TOGGLE_LIST: ListOptions = {
  key: 'toggles',
  onlyEnabled: true,
  begin: (renderings) => TOGGLES.begin(renderings),
};

const ContextBody = titled('FrontendContext', { context: v.optional(ContextSchema, () => ({})) });

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

const toggleRoutes: readonly Route[] = underTag('Frontend', [
  readRoute('GET ', {
    isPolled: true,
    operationId: 'getFrontendFeatures',
    summary: 'Read the flags that are on for the context in the query.',
    permission: 'scope',
    query: QUERY_PARAMETERS,
    success: { status: 200, schema: TogglesSchema },
    refusals: ['ValidationError'],
    read: (request) => togglesFor(request, contextInQuery(request.rawQuery)),
  }),
  readRoute('POST ', {
    operationId: 'getFrontendFeaturesByContext',
    summary: 'Read the flags that are on for the context in the body.',
    permission: 'scope',
    body: ContextBody,
    bodyIsOptional: true,
    success: { status: 200, schema: TogglesSchema },
    read: (request) => togglesFor(request, contextInBody(request.body.context)),
  }),
]);

export const frontendSurface: Surface = {
  prefix: '/api/frontend',
  access: sdkAccess('frontend'),
  errors: SDK_ERRORS,
  routes: [...toggleRoutes, ...unsupportedRoutes],
  isForPages: true,
  description: `\`/api/frontend\` is for SDKs in browsers and phones: the flags that are on for one context, of the projects and
the environment that a frontend token covers. Pages of other origins may call it.`,
};
