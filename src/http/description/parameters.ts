/** The parameters that stand in paths and queries, described once by name. */
import { RECORD_PARAMETERS } from '../admin/record-schemas.ts';
import type { Route } from '../serving/route.ts';
import { type OpenApiObject, takesIfMatch } from './error-responses.ts';

interface ParameterText {
  readonly description: string;
  readonly example: string | number;
  readonly schema?: OpenApiObject;
}

const INTEGER = { type: 'integer', minimum: 1 };

/** By the name that routes give it. */
export const PATH_PARAMETERS: Readonly<Record<string, ParameterText>> = {
  ...RECORD_PARAMETERS,
  projectId: { description: 'Id of the project.', example: 'default' },
  featureName: { description: 'Name of the flag.', example: 'checkout-redesign' },
  child: { description: 'Name of the flag that depends on others.', example: 'checkout-redesign' },
  parent: { description: 'Name of the flag that is depended on.', example: 'new-payment-provider' },
  environment: { description: 'Name of the environment.', example: 'development' },
  name: { description: 'Name of the environment.', example: 'development' },
  strategyId: {
    description: 'Id of the strategy.',
    example: '0b1c1a3e-8d5e-4c57-9f2a-5b7a1d2c3e4f',
    schema: { type: 'string', format: 'uuid' },
  },
  userId: { description: 'Id of the user.', example: 2, schema: INTEGER },
  roleId: {
    description: 'Id of the role: 4 for Owner, 5 for Member, or that of a custom role.',
    example: 5,
    schema: INTEGER,
  },
  id: { description: 'Id of the thing that the path names before it.', example: '1' },
  tokenId: { description: 'Id of the personal token.', example: 1, schema: INTEGER },
  token: { description: 'The secret of the token, or its SHA-256 in hexadecimal.', example: 'a'.repeat(64) },
  appName: { description: 'Name of the application.', example: 'shop' },
  strategyName: { description: 'Name of the strategy type.', example: 'flexibleRollout' },
  changeId: { description: 'Id of the change in its change request.', example: '3' },
  linkId: { description: 'Id of the link.', example: '0b1c1a3e-8d5e-4c57-9f2a-5b7a1d2c3e4f' },
  ticket: { description: 'Of a token, as an evaluation names it.', example: '0'.repeat(32) },
  type: { description: 'Type of the tag.', example: 'simple' },
  value: { description: 'Value of the tag.', example: 'checkout' },
};

/**
 * Headers that requests may carry, each a component of its own. Without examples: pages that send requests fill them
 * in, and a made-up ETag is a precondition that fails.
 */
export const HEADER_PARAMETERS = {
  IfMatch: {
    name: 'If-Match',
    in: 'header',
    description:
      'ETag of what is changed as it was read, in quotes. The write is refused with 412 when it has changed since.',
    schema: { type: 'string' },
  },
  IfNoneMatch: {
    name: 'If-None-Match',
    in: 'header',
    description:
      'ETag of the response that the client has, in quotes. The response is 304 without a body when it is still current.',
    schema: { type: 'string' },
  },
  LastEventId: {
    name: 'Last-Event-ID',
    in: 'header',
    description:
      'The id that the client has seen last. The stream goes on after it where that is still known, and begins anew otherwise.',
    schema: { type: 'string' },
  },
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    description:
      'Any value, such as a UUID, that no other write of this token has used. When it is sent again, the response is the first one.',
    schema: { type: 'string', minLength: 1, maxLength: 255 },
  },
} as const;

/** Refers to a request header that is described once. */
const header = (name: keyof typeof HEADER_PARAMETERS): OpenApiObject => ({
  $ref: `#/components/parameters/${name}`,
});

export function parametersOf(route: Route): readonly OpenApiObject[] {
  const inPath = [...route.path.matchAll(/:([A-Za-z]+)/g)].map(([, name = '']) => pathParameter(name));
  const inQuery = Object.entries(route.query ?? {}).map(([name, { description, schema }]) => ({
    name,
    in: 'query',
    description,
    schema: schema ?? { type: 'string' },
  }));
  return [...inPath, ...inQuery, ...headersOf(route)];
}

/** Whether the response can be a 304. */
export function honoursIfNoneMatch(route: Route): boolean {
  return route.kind === 'read' && (route.method === 'GET' || route.honoursIfNoneMatch === true);
}

function headersOf(route: Route): readonly OpenApiObject[] {
  if (route.kind === 'stream') return [header('LastEventId')];
  if (route.kind === 'read') return honoursIfNoneMatch(route) ? [header('IfNoneMatch')] : [];
  return [...(takesIfMatch(route) ? [header('IfMatch')] : []), header('IdempotencyKey')];
}

function pathParameter(name: string): OpenApiObject {
  const text = PATH_PARAMETERS[name];
  return {
    name,
    in: 'path',
    required: true,
    description: text?.description ?? `The ${name}.`,
    schema: text?.schema ?? { type: 'string' },
    ...(text === undefined ? {} : { example: text.example }),
  };
}
