/**
 * The description of the interface: an OpenAPI 3.1 document made of the table of routes and the schemas that check
 * requests, so that it cannot say anything else than what the server does.
 */

import { API_PREFIX } from '../admin/routes.ts';
import { ErrorSchema, MembershipErrorSchema } from '../admin/schemas/schemas.ts';
import type { Route } from '../dispatch/route.ts';
import { componentSchemas } from './component-schemas.ts';
import { errorResponses, type OpenApiObject } from './error-answers.ts';
import { operationOf } from './operations.ts';
import { HEADER_PARAMETERS } from './parameters.ts';

export interface DescriptionOptions {
  readonly routes: readonly Route[];
  readonly version: string;
  /** `BASE_URI_PATH`: what stands before every path. */
  readonly basePath: string;
  /** True with `AUTH_TYPE=none`: no token is needed. */
  readonly open: boolean;
}

const DESCRIPTION = `Administration of feature flags: projects, flags, strategies, variants, membership, users, tokens
and events.

A change is answered once it is on disk. Every error but those of the membership rules has the same body, and its
\`name\` says what happened. Unknown fields of a request are ignored; nothing is coerced.`;

const NOT_MODIFIED = {
  description:
    'The response that If-None-Match names is still current. Only responses with an ETag support this.',
};

export function describeInterface({ routes, version, basePath, open }: DescriptionOptions): OpenApiObject {
  const bodies = routes.flatMap((route) => route.body ?? []);
  const answers = routes.flatMap((route) => route.success.schema ?? []);
  const schemas = componentSchemas(bodies, [...answers, ErrorSchema, MembershipErrorSchema]);
  return {
    openapi: '3.1.0',
    info: {
      title: 'Flagstaff',
      version,
      description: DESCRIPTION,
      license: { name: 'Apache 2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: basePath === '' ? '/' : basePath }],
    security: open ? [{}, { apiKey: [] }] : [{ apiKey: [] }],
    tags: [...new Set(routes.map((route) => route.tag))].map((name) => ({ name })),
    paths: pathsOf(routes, (route) => operationOf(route, schemas)),
    components: {
      securitySchemes: { apiKey: API_KEY },
      parameters: HEADER_PARAMETERS,
      responses: { NotModified: NOT_MODIFIED, ...errorResponses(routes) },
      schemas: schemas.components,
    },
  };
}

const API_KEY = {
  type: 'apiKey',
  in: 'header',
  name: 'Authorization',
  description: 'An admin API token `*:*.<secret>`, or a personal token `user:<secret>`.',
};

/** `/projects/:projectId` → `/api/admin/projects/{projectId}` → method → operation. */
function pathsOf(
  routes: readonly Route[],
  describe: (route: Route) => OpenApiObject,
): Readonly<Record<string, OpenApiObject>> {
  const paths: Record<string, Record<string, OpenApiObject>> = {};
  for (const route of routes) {
    const path = API_PREFIX + route.path.replaceAll(/:([A-Za-z]+)/g, '{$1}');
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: describe(route) };
  }
  return paths;
}
