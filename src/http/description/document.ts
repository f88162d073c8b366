/**
 * The description of the interface: an OpenAPI 3.1 document made of the surfaces, their tables of routes and the
 * schemas that check requests, so that it cannot say anything else than what the server does.
 */

import {
  DEFAULT_GROWTH_LIMITS,
  GROWTH_LIMIT_NAMES,
  GROWTH_LIMITS,
  type GrowthLimits,
} from '../../domain/flags/growth-limits.ts';
import { ErrorSchema, MembershipErrorSchema, MessageErrorSchema } from '../admin/schemas/schemas.ts';
import type { PlainDescription } from '../serving/route.ts';
import type { Surface } from '../serving/surface.ts';
import { type ComponentSchemas, componentSchemas } from './component-schemas.ts';
import { errorResponses, type OpenApiObject, type SurfaceRoute } from './error-responses.ts';
import { operationOf, plainOperationOf } from './operations.ts';
import { HEADER_PARAMETERS } from './parameters.ts';
import { tagsOf } from './tags.ts';

export interface DescriptionOptions {
  /** Their routes are described, except plain ones that say nothing of themselves. */
  readonly surfaces: readonly Surface[];
  readonly version: string;
  /** `BASE_URI_PATH`, the prefix of every path. */
  readonly basePath: string;
  /** True with `AUTH_TYPE=none`: no token is needed. */
  readonly open: boolean;
  /** The defaults unless given. */
  readonly limits?: GrowthLimits;
}

const NOT_MODIFIED = {
  description:
    'The response that If-None-Match names is still current. Only responses with an ETag support this.',
};

export function describeInterface({
  surfaces,
  version,
  basePath,
  open,
  limits = DEFAULT_GROWTH_LIMITS,
}: DescriptionOptions): OpenApiObject {
  const operations = operationsOf(surfaces);
  const plain = plainRoutesOf(surfaces);
  const routes = operations.map(({ route }) => route);
  const bodies = routes.flatMap((route) => route.body ?? []);
  const responses = routes.flatMap((route) => route.success.schema ?? []);
  const schemas = componentSchemas(bodies, [
    ...responses,
    ErrorSchema,
    MessageErrorSchema,
    MembershipErrorSchema,
    ...surfaces.flatMap(({ errors }) => errors.own?.schema ?? []),
  ]);
  return {
    openapi: '3.1.0',
    info: {
      title: 'Flagstaff',
      version,
      description: [...surfaces.flatMap(({ description }) => description ?? []), limitsSection(limits)].join(
        '\n\n',
      ),
      contact: { name: 'Whoever operates this server' },
      license: { name: 'Apache 2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: basePath === '' ? '/' : basePath }],
    security: open ? [{}, { apiKey: [] }] : [{ apiKey: [] }],
    tags: tagsOf([...routes, ...plain.values()].map(({ tag }) => tag)),
    paths: { ...pathsOf(operations, schemas), ...plainPathsOf(plain) },
    components: {
      securitySchemes: { apiKey: apiKeyOf(surfaces) },
      parameters: HEADER_PARAMETERS,
      responses: { NotModified: NOT_MODIFIED, ...errorResponses(operations, schemas) },
      schemas: schemas.components,
    },
  };
}

function limitsSection(limits: GrowthLimits): string {
  const rows = GROWTH_LIMIT_NAMES.map((name) => {
    const { counted, setting } = GROWTH_LIMITS[name];
    return `| ${counted} | ${limits[name]} | \`${setting}\` |`;
  });
  return `## Limits
A change that would take a flag beyond one of these limits is refused with 400, which names the number, the limit and the
setting. What is beyond a limit already can be read, switched and made smaller. The page \`docs/limits.md\` has
the limits of the server as a whole.

| what is counted | at most | setting |
|---|---|---|
${rows.join('\n')}`;
}

function operationsOf(surfaces: readonly Surface[]): readonly SurfaceRoute[] {
  return surfaces.flatMap((surface) =>
    surface.routes.flatMap((route) => (route.kind === 'plain' ? [] : [{ surface, route }])),
  );
}

/** What plain routes say of themselves, by path. */
function plainRoutesOf(surfaces: readonly Surface[]): ReadonlyMap<string, PlainDescription> {
  const described = surfaces.flatMap(({ prefix, routes }) =>
    routes.flatMap((route) =>
      route.kind === 'plain' && route.described !== undefined
        ? [[prefix + route.path, route.described] as const]
        : [],
    ),
  );
  return new Map(described);
}

const plainPathsOf = (
  plain: ReadonlyMap<string, PlainDescription>,
): Readonly<Record<string, OpenApiObject>> =>
  Object.fromEntries([...plain].map(([path, described]) => [path, { get: plainOperationOf(described) }]));

function apiKeyOf(surfaces: readonly Surface[]): OpenApiObject {
  const credentials = surfaces.flatMap(({ prefix, access }) =>
    access === null ? [] : `\`${prefix}\`: ${access.credentials}`,
  );
  const description = [...new Set(credentials)].join('\n\n');
  return { type: 'apiKey', in: 'header', name: 'Authorization', description };
}

/** `/projects/:projectId` of a surface → `/api/admin/projects/{projectId}` → method → operation. */
function pathsOf(
  operations: readonly SurfaceRoute[],
  schemas: ComponentSchemas,
): Readonly<Record<string, OpenApiObject>> {
  const paths: Record<string, Record<string, OpenApiObject>> = {};
  for (const operation of operations) {
    const { surface, route } = operation;
    const path = surface.prefix + route.path.replaceAll(/:([A-Za-z]+)/g, '{$1}');
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operationOf(operation, schemas) };
  }
  return paths;
}
