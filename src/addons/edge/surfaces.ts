/** The surfaces of an edge: those of a server for SDKs, what Unleash Edge has beside them, and what operators ask. */
import * as v from 'valibot';
import { titled } from '../../domain/json/schema.ts';
import { COMMON_ERRORS, type ErrorShape } from '../../http/serving/errors.ts';
import { jsonResponse } from '../../http/serving/json-response.ts';
import { type RequestContext, type Route, readRoute, underTag } from '../../http/serving/route.ts';
import type { Surface } from '../../http/serving/surface.ts';
import { clientSurface } from '../sdk/client-surface.ts';
import { edgeSurface } from '../sdk/edge-surface.ts';
import { evaluated, evaluatedList, type ListOptions } from '../sdk/evaluated.ts';
import { frontendSurface } from '../sdk/frontend-surface.ts';
import { ofrepSurface } from '../sdk/ofrep-surface.ts';
import { OutcomeLists } from '../sdk/outcome-lists.ts';
import { ContextSchema, contextInBody, contextInQuery, type SentContext } from '../sdk/request-input.ts';
import { reportRoutes } from '../usage/report-routes.ts';

export interface SurfaceOptions {
  readonly operators: Surface;
  readonly hasAll: boolean;
}

export function edgeSurfaces({ operators, hasAll }: SurfaceOptions): readonly Surface[] {
  const frontend = frontendWithOffFlags(hasAll);
  return [
    { ...client, routes: [...client.routes, ...postedDocument, ...(reportRoutes[client.prefix] ?? [])] },
    frontend,
    // The older name of the frontend API.
    { ...frontend, prefix: '/api/proxy', description: null },
    ofrepSurface({ hintsAtStreams: false }),
    edgeSurface,
    noAdministration,
    operators,
  ];
}

const client = clientSurface({ hintsAtStreams: false });

/** Some SDKs request the document with a body, which is ignored. */
const postedDocument = client.routes.flatMap((route): Route[] =>
  route.kind === 'read' && route.path === '/features' ? [{ ...route, method: 'POST' }] : [],
);

const ADMIN_ERRORS: ErrorShape = {
  ...COMMON_ERRORS,
  bodyOf: (error, id, params) => {
    const message = 'An edge has no administrative interface: call the server that --upstream-url names.';
    return COMMON_ERRORS.bodyOf({ ...error, message }, id, params);
  },
};

const noAdministration: Surface = {
  ...{ prefix: '/api/admin', access: null, errors: ADMIN_ERRORS, routes: [], description: null },
};

// Flags that are off too, and one flag alone, as Unleash Edge has them.

const ALL_TOGGLES = new OutcomeLists({ field: 'toggles', form: 'toggle', view: ({ toggle }) => toggle });

const ALL: ListOptions = {
  key: 'all toggles',
  onlyEnabled: false,
  begin: (renderings) => ALL_TOGGLES.begin(renderings),
};

const ContextBody = titled('EdgeContext', { context: v.optional(ContextSchema, () => ({})) });

const ROUTE = { permission: 'scope', success: { status: 200, schema: null } } as const;

function one(request: RequestContext<unknown>, sent: SentContext) {
  return evaluated(request, sent, {
    name: request.params.featureName,
    respond: ({ toggle }) => jsonResponse(200, { ...toggle, impression_data: toggle.impressionData }),
  });
}

const frontendOne: readonly Route[] = underTag('Frontend', [
  readRoute('GET /features/:featureName', {
    ...{ ...ROUTE, operationId: 'getFrontendFeature', summary: 'Evaluate one flag.' },
    read: (request) => one(request, contextInQuery(request.rawQuery)),
  }),
  readRoute('POST /features/:featureName', {
    ...{ ...ROUTE, operationId: 'getFrontendFeatureByContext', summary: 'Evaluate one flag.' },
    body: ContextBody,
    bodyIsOptional: true,
    read: (request) => one(request, contextInBody(request.body.context)),
  }),
]);

const frontendAll: readonly Route[] = underTag('Frontend', [
  readRoute('GET /all', {
    ...{ ...ROUTE, operationId: 'getAllFrontendFeatures', summary: 'Evaluate all flags.' },
    read: (request) => evaluatedList(request, contextInQuery(request.rawQuery), ALL),
  }),
  readRoute('POST /all', {
    ...{ ...ROUTE, operationId: 'getAllFrontendFeaturesByContext', summary: 'Evaluate all flags.' },
    body: ContextBody,
    bodyIsOptional: true,
    read: (request) => evaluatedList(request, contextInBody(request.body.context), ALL),
  }),
]);

function frontendWithOffFlags(hasAll: boolean): Surface {
  const reports = reportRoutes[frontendSurface.prefix] ?? [];
  const all = hasAll ? frontendAll : [];
  return { ...frontendSurface, routes: [...frontendSurface.routes, ...reports, ...frontendOne, ...all] };
}
