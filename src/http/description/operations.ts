/** One operation of the description: what its route says, in OpenAPI's words. */
import type { PlainDescription, Route } from '../serving/route.ts';
import type { ComponentSchemas, JsonSchema } from './component-schemas.ts';
import { errorsOf, type OpenApiObject, type SurfaceRoute } from './error-responses.ts';
import { exampleOf } from './examples.ts';
import { honoursIfNoneMatch, parametersOf } from './parameters.ts';

export function operationOf(operation: SurfaceRoute, schemas: ComponentSchemas): OpenApiObject {
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
export function plainOperationOf(described: PlainDescription): OpenApiObject {
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
  schemas: ComponentSchemas,
): OpenApiObject {
  if (body === undefined) return {};
  const schema = schemas.ofBody(body);
  return {
    requestBody: {
      required: bodyIsOptional !== true,
      content: json(schema, exampleOf(operationId, 'body', schema)),
    },
  };
}

function successOf({ operationId, success, kind }: Route, schemas: ComponentSchemas): OpenApiObject {
  const status = String(success.status);
  if (kind === 'stream') return { [status]: EVENT_STREAM };
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
  return { [status]: { description, content: json(schema, exampleOf(operationId, 'response', schema)) } };
}

const EVENT_STREAM: OpenApiObject = {
  description:
    'Events as they happen, until the client, the server or the end of the token closes the connection.',
  content: { 'text/event-stream': { schema: { type: 'string' } } },
};

function notModifiedOf(route: Route): OpenApiObject {
  return honoursIfNoneMatch(route) ? { '304': { $ref: '#/components/responses/NotModified' } } : {};
}

function json(schema: JsonSchema, example: unknown): OpenApiObject {
  return { 'application/json': { schema, ...(example === undefined ? {} : { example }) } };
}
