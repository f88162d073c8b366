/** One operation of the description: what its route says, in OpenAPI's words. */
import type { Permission } from '../dispatch/access.ts';
import type { Route } from '../dispatch/route.ts';
import type { ComponentSchemas, JsonSchema } from './component-schemas.ts';
import { errorsOf, type OpenApiObject } from './error-answers.ts';
import { exampleOf } from './examples.ts';
import { parametersOf } from './parameters.ts';

const WHO_MAY: Readonly<Record<Permission, string>> = {
  read: 'Any root role, or a role in the project.',
  'flag:write': 'Root Admin or Editor; Owner or Member of the project.',
  'project:write': 'Root Admin; Owner of the project.',
  'project:create': 'Root Admin or Editor.',
  admin: 'Root Admin.',
  self: 'Every user, and admin tokens.',
  personal: 'Every user; API tokens are not users.',
};

export function operationOf(route: Route, schemas: ComponentSchemas): OpenApiObject {
  return {
    operationId: route.operationId,
    tags: [route.tag],
    summary: route.summary,
    description: `Who may: ${WHO_MAY[route.permission]}`,
    parameters: parametersOf(route),
    ...requestBodyOf(route, schemas),
    responses: { ...successOf(route, schemas), ...notModifiedOf(route), ...errorsOf(route) },
  };
}

function requestBodyOf({ operationId, body }: Route, schemas: ComponentSchemas): OpenApiObject {
  if (body === undefined) return {};
  const schema = schemas.ofBody(body);
  return {
    requestBody: { required: true, content: json(schema, exampleOf(operationId, 'body', schema)) },
  };
}

function successOf({ operationId, success, kind }: Route, schemas: ComponentSchemas): OpenApiObject {
  const status = String(success.status);
  if (success.schema === null) return { [status]: { description: 'Done.' } };
  const schema = schemas.ofAnswer(success.schema);
  const description = kind === 'read' ? 'The requested data.' : 'Done.';
  return { [status]: { description, content: json(schema, exampleOf(operationId, 'answer', schema)) } };
}

function notModifiedOf({ method }: Route): OpenApiObject {
  return method === 'GET' ? { '304': { $ref: '#/components/responses/NotModified' } } : {};
}

function json(schema: JsonSchema, example: unknown): OpenApiObject {
  return { 'application/json': { schema, ...(example === undefined ? {} : { example }) } };
}
