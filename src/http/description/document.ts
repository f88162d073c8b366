/**
 * The description of the interface: an OpenAPI 3.1 document made of the surfaces, their tables of routes and the
 * schemas that check requests, so that it cannot say anything else than what the server does.
 */
import assert from 'node:assert/strict';
import {
  DEFAULT_GROWTH_LIMITS,
  GROWTH_LIMIT_NAMES,
  GROWTH_LIMITS,
  type GrowthLimits,
} from '../../domain/flags/growth-limits.ts';
import { RECORD_TAGS } from '../admin/record-schemas.ts';
import { ErrorSchema, MembershipErrorSchema, MessageErrorSchema } from '../admin/schemas.ts';
import type { PlainDescription, Route } from '../serving/route.ts';
import type { Surface } from '../serving/surface.ts';
import { type ComponentSchemas, componentSchemas, type JsonSchema } from './component-schemas.ts';
import { errorResponses, errorsOf, type OpenApiObject, type SurfaceRoute } from './error-responses.ts';
import { type ComponentExamples, componentExamples, exampleOf } from './examples.ts';
import { HEADER_PARAMETERS, honoursIfNoneMatch, parametersOf } from './parameters.ts';

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
  const components = componentSchemas(bodies, [
    ...responses,
    ErrorSchema,
    MessageErrorSchema,
    MembershipErrorSchema,
    ...surfaces.flatMap(({ errors }) => errors.own?.schema ?? []),
  ]);
  const schemas = { ...components, examples: componentExamples(components.components) };
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
    // In an order that does not change where routes move to an add-on.
    paths: Object.fromEntries(
      Object.entries({ ...pathsOf(operations, schemas), ...plainPathsOf(plain) }).sort(([a], [b]) =>
        a < b ? -1 : 1,
      ),
    ),
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

interface DescribedSchemas extends ComponentSchemas {
  readonly examples: ComponentExamples;
}

function operationsOf(surfaces: readonly Surface[]): readonly SurfaceRoute[] {
  return surfaces.flatMap((surface) =>
    surface.routes.flatMap((route) => (route.kind === 'plain' ? [] : [{ surface, route }])),
  );
}

/** The descriptions of plain routes, by path. */
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
  schemas: DescribedSchemas,
): Readonly<Record<string, OpenApiObject>> {
  const paths: Record<string, Record<string, OpenApiObject>> = {};
  for (const operation of operations) {
    const { surface, route } = operation;
    const path = surface.prefix + route.path.replaceAll(/:([A-Za-z]+)/g, '{$1}');
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operationOf(operation, schemas) };
  }
  return paths;
}

// The headings under which the description lists operations.

const DESCRIPTIONS: ReadonlyMap<string, string> = new Map([
  ...RECORD_TAGS,
  ['Addons', 'Integrations, which tell others of events.'],
  ['API tokens', 'Tokens of applications and scripts.'],
  ['Archive', 'Flags that are out of use, and changes of many flags at once.'],
  ['Change Requests', 'Changes of an environment that others approve before they are applied.'],
  ['Client', 'Flags for server-side SDKs, and what these report.'],
  ['Dependencies', 'Flags that count only while another flag is on.'],
  ['Edge', 'For Unleash Edge.'],
  ['Environments', 'Where applications run, such as development and production.'],
  ['Events', 'What has changed, when, and by whom.'],
  ['Flags as code', 'Flags as files in a repository say them, compared and carried out.'],
  ['Export and import', 'Flags in a file, to take them to another environment, project or service.'],
  ['Favorites', 'What users mark to find it again.'],
  ['Features', 'Flags: to create, read, change, clone, archive and roll back.'],
  ['Frontend', 'Flags for SDKs in browsers and phones, evaluated here.'],
  ['Instance', 'Figures of the running server.'],
  ['OpenFeature', 'Flags for OpenFeature clients, by the OpenFeature Remote Evaluation Protocol.'],
  ['Personal tokens', 'Tokens of users.'],
  ['Playground', 'What flags would be for a context, and why.'],
  ['Probes', 'Whether the server runs, is ready, and what it measures.'],
  ['Projects', 'Groups of flags with members of their own.'],
  ['Service accounts', 'Programs with a name, a role and memberships of their own, and their tokens.'],
  ['Sessions', 'Signing in to the pages, and out of them.'],
  ['Strategies', 'Who gets a flag in an environment, and the types of strategies.'],
  ['Tags', 'Labels of flags.'],
  ['Usage', 'What applications report: which flags they evaluate, and how often.'],
  ['Users', 'People, their roles and their rights.'],
  ['Variants', 'Values that a flag has for different shares of users.'],
]);

/** Each of the names once, with what it stands for. */
function tagsOf(names: readonly string[]): { readonly name: string; readonly description: string }[] {
  return [...new Set(names)].sort().map((name) => {
    const description = DESCRIPTIONS.get(name);
    assert(description !== undefined, `the tag ${name} has no description here`);
    return { name, description };
  });
}

// One operation of the description: what its route says, in OpenAPI's words.

function operationOf(operation: SurfaceRoute, schemas: DescribedSchemas): OpenApiObject {
  const { surface, route } = operation;
  const whoMay = surface.access?.whoMay(route) ?? 'Everybody, without a token.';
  return {
    operationId: route.operationId,
    tags: [route.tag],
    summary: route.summary,
    description: `Who may: ${whoMay}`,
    parameters: parametersOf(route),
    ...requestBodyOf(route, schemas),
    responses: { ...successOf(route, schemas), ...notModifiedOf(route), ...errorsOf(operation) },
  };
}

/** A probe or the metrics page: everybody may ask, unless the statuses say otherwise. */
function plainOperationOf(described: PlainDescription): OpenApiObject {
  const { operationId, tag, summary, contentType, statuses } = described;
  const content = { [contentType]: { schema: { type: contentType.endsWith('json') ? 'object' : 'string' } } };
  const responses = Object.entries(statuses).map(([status, description]) => [
    status,
    { description, content },
  ]);
  return { operationId, tags: [tag], summary, security: [{}], responses: Object.fromEntries(responses) };
}

function requestBodyOf(
  { operationId, body, bodyIsOptional }: Route,
  schemas: DescribedSchemas,
): OpenApiObject {
  if (body === undefined) return {};
  const schema = schemas.ofBody(body);
  return {
    requestBody: {
      required: bodyIsOptional !== true,
      content: json(schema, exampleOf(schemas.examples, { operationId, side: 'body', schema })),
    },
  };
}

function successOf({ operationId, success, kind }: Route, schemas: DescribedSchemas): OpenApiObject {
  const status = String(success.status);
  if (kind === 'stream') return { [status]: eventStream(success.text ?? 'text/event-stream') };
  if (success.text !== undefined)
    return {
      [status]: {
        description: 'The requested data.',
        content: { [success.text]: { schema: { type: 'string' } } },
      },
    };
  if (success.schema === null) return { [status]: { description: 'Done.' } };
  const schema = schemas.ofResponse(success.schema);
  const description = kind === 'read' ? 'The requested data.' : 'Done.';
  return {
    [status]: {
      description,
      content: json(schema, exampleOf(schemas.examples, { operationId, side: 'response', schema })),
    },
  };
}

const eventStream = (type: string): OpenApiObject => ({
  description:
    'Events as they happen, until the client, the server or the end of the token closes the connection.',
  content: { [type]: { schema: { type: 'string' } } },
});

function notModifiedOf(route: Route): OpenApiObject {
  return honoursIfNoneMatch(route) ? { '304': { $ref: '#/components/responses/NotModified' } } : {};
}

function json(schema: JsonSchema, example: unknown): OpenApiObject {
  return { 'application/json': { schema, ...(example === undefined ? {} : { example }) } };
}
