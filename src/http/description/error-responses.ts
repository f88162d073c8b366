/**
 * The errors with which an operation can respond, read off its route, and how each is described. A status that several errors
 * share is described by all of them; the body names the one.
 */
import * as v from 'valibot';
import { ERROR_STATUS, type ErrorName, type ErrorShape } from '../serving/errors.ts';
import type { Route } from '../serving/route.ts';
import type { Surface } from '../serving/surface.ts';
import type { ComponentSchemas, JsonSchema } from './component-schemas.ts';

export type OpenApiObject = { readonly [field: string]: unknown };

export interface SurfaceRoute {
  readonly surface: Surface;
  readonly route: Route;
}

interface Described {
  /** The circumstances of the error: the description of the response. */
  readonly when: string;
  /** The message of the example. */
  readonly message: string;
}

const DESCRIBED: Readonly<Record<ErrorName, Described>> = {
  ValidationError: {
    when: 'The request does not match what the operation expects.',
    message:
      'The field type must be one of release, experiment, operational, kill-switch, permission, not "beta".',
  },
  MembershipRuleError: {
    when: 'A rule of membership forbids it.',
    message: 'A project must have at least one owner',
  },
  AuthenticationRequired: {
    when: 'The header Authorization holds no valid token.',
    message: 'A valid API token or personal token is required in the header Authorization.',
  },
  NoAccessError: {
    when: 'The token may not do this.',
    message:
      'ada lacks the permission flag:write in the project "default"; ask an Admin or an Owner of the project for it.',
  },
  NotFoundError: {
    when: 'What the path names does not exist.',
    message: 'There is no flag "checkout-redesign" in the project "default".',
  },
  MethodNotAllowedError: {
    when: 'The path does not have this method.',
    message: 'The path /api/admin/events/search does not support PUT; it supports POST.',
  },
  NameExistsError: {
    when: 'The name is taken.',
    message: 'The flag name "checkout-redesign" is taken.',
  },
  InvalidOperationError: {
    when: 'The present state forbids it.',
    message: 'The flag "checkout-redesign" is archived and cannot be changed.',
  },
  GoneError: {
    when: 'Some of the requested events are no longer kept.',
    message:
      'The events before 1200 are no longer kept: what came after event 7 is lost in part. Leave the parameter after away to begin with the oldest event.',
  },
  PreconditionFailedError: {
    when: 'What the path names has changed since the response that If-Match names.',
    message: 'The flag "checkout-redesign" has changed since it was read.',
  },
  PayloadTooLargeError: {
    when: 'The body is too large.',
    message: 'The body is larger than 1 MiB.',
  },
  UnsupportedMediaTypeError: {
    when: 'The body is not JSON in UTF-8.',
    message: 'The body must be application/json in UTF-8, not "text/plain".',
  },
  TooManyRequestsError: {
    when: 'There were too many wrong attempts; nothing was checked.',
    message: 'Too many wrong passwords; try again in 30 seconds.',
  },
  ServiceUnavailableError: {
    when: 'The service is too busy, or its disk accepts no writes; nothing was changed.',
    message: 'Too many commands are waiting for the project "default"; try again in a moment.',
  },
  InsufficientStorageError: {
    when: 'The change would make the state larger than its memory budget; what makes it smaller still works.',
    message:
      'With this change the state would take 512.1 MiB of memory; the budget is 512.0 MiB (MEMORY_BUDGET_BYTES).',
  },
  InternalError: {
    when: 'The server failed; its log has the details under the id.',
    message:
      'The server failed to answer this request; its log has the details under the id 6f1c9a52-3f0e-4d8b-9a37-0c5f6f1f2b11.',
  },
};

const EXAMPLE_ID = '6f1c9a52-3f0e-4d8b-9a37-0c5f6f1f2b11';

/** Errors that every operation can respond with: no token, a weak one, a stuck disk, a fault. */
const ALWAYS: readonly ErrorName[] = [
  'AuthenticationRequired',
  'NoAccessError',
  'ServiceUnavailableError',
  'InternalError',
];
const WITH_BODY: readonly ErrorName[] = [
  'ValidationError',
  'PayloadTooLargeError',
  'UnsupportedMediaTypeError',
];

/** A malformed `Idempotency-Key`, one that another write has had, and a state that takes all of its memory. */
const WITH_WRITE: readonly ErrorName[] = [
  'ValidationError',
  'InvalidOperationError',
  'InsufficientStorageError',
];

export function errorNames(route: Route): ReadonlySet<ErrorName> {
  const named = route.path.includes('/:');
  return new Set([
    ...ALWAYS,
    ...(route.body === undefined ? [] : WITH_BODY),
    ...(route.kind === 'write' ? WITH_WRITE : []),
    // A parameter that is not percent-encoded UTF-8.
    ...(named ? (['ValidationError'] as const) : []),
    ...(route.locate === undefined ? [] : (['NotFoundError'] as const)),
    ...(takesIfMatch(route) ? (['PreconditionFailedError'] as const) : []),
    ...(route.refusals ?? []),
  ]);
}

/** Whether the route writes to something that its path names and `If-Match` may pin. */
export function takesIfMatch(route: Route): boolean {
  return route.kind === 'write' && (route.pinned !== undefined || isAboutFlag(route));
}

function isAboutFlag({ path }: Route): boolean {
  return /\/:(?:featureName|child)(?:\/|$)/.test(path);
}

/** Component responses: one for each error alone, and one for each set of errors that share a status somewhere. */
export function errorResponses(
  operations: readonly SurfaceRoute[],
  schemas: ComponentSchemas,
): Readonly<Record<string, OpenApiObject>> {
  const groups = new Map(
    operations.flatMap((operation) => errorGroups(operation).map((group) => [nameOf(group), group] as const)),
  );
  const sorted = [...groups].sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(sorted.map(([name, group]) => [name, errorResponse(group, schemas)]));
}

/** Status → reference, for one operation. */
export function errorsOf(operation: SurfaceRoute): Readonly<Record<string, OpenApiObject>> {
  return Object.fromEntries(
    errorGroups(operation).map((group) => [
      String(ERROR_STATUS[group.names[0] ?? 'InternalError']),
      { $ref: `#/components/responses/${nameOf(group)}` },
    ]),
  );
}

/** Errors of one status, described together. */
interface ErrorGroup {
  readonly names: readonly ErrorName[];
  /** Whether their body has only a message. */
  readonly isMessageOnly: boolean;
  /** The errors of the surface where they are not the common ones. */
  readonly own: ErrorShape['own'];
}

/** The errors of a route, those of one status together. */
function errorGroups({ surface, route }: SurfaceRoute): readonly ErrorGroup[] {
  const byStatus = new Map<number, ErrorName[]>();
  for (const name of [...errorNames(route)].sort()) {
    const status = ERROR_STATUS[name];
    byStatus.set(status, [...(byStatus.get(status) ?? []), name]);
  }
  return [...byStatus.values()].map((names) => ({
    names,
    isMessageOnly: names.every((name) => surface.errors.messageOnly.has(name)),
    own: surface.errors.own,
  }));
}

function nameOf({ names, isMessageOnly, own }: ErrorGroup): string {
  const joined = names.map((name) => name.replace(/Error$/, '')).join('Or');
  if (own !== undefined) return `${joined}${v.getTitle(own.schema)}`;
  return isMessageOnly ? `${joined}Message` : joined;
}

function errorResponse(group: ErrorGroup, schemas: ComponentSchemas): OpenApiObject {
  const { names, own } = group;
  const schema = own === undefined ? schemaOf(group) : schemas.ofResponse(own.schema);
  const examples = names.map((name) => [name, { value: exampleOf(name, group) }] as const);
  return {
    description: names.map((name) => DESCRIBED[name].when).join(' '),
    ...(names.includes('ServiceUnavailableError') ? { headers: RETRY_AFTER } : {}),
    content: {
      'application/json': { schema, examples: Object.fromEntries(examples) },
    },
  };
}

const RETRY_AFTER = {
  'Retry-After': { description: 'Seconds after which to try again.', schema: { type: 'integer' } },
};

const MESSAGE_REFERENCE = { $ref: '#/components/schemas/MessageError' };
const MEMBERSHIP_REFERENCE = { $ref: '#/components/schemas/MembershipError' };

function schemaOf({ names, isMessageOnly }: ErrorGroup): JsonSchema {
  if (isMessageOnly) return MESSAGE_REFERENCE;
  const common = names.filter((name) => name !== 'MembershipRuleError');
  const named = { type: 'object', properties: { name: { enum: common } } };
  const schema = { allOf: [{ $ref: '#/components/schemas/Error' }, named] };
  if (common.length === names.length) return schema;
  return common.length === 0 ? MEMBERSHIP_REFERENCE : { anyOf: [MEMBERSHIP_REFERENCE, schema] };
}

function exampleOf(name: ErrorName, { isMessageOnly, own }: ErrorGroup): unknown {
  const { message } = DESCRIBED[name];
  if (own !== undefined) return own.example(name, message);
  if (isMessageOnly) return { message };
  if (name === 'MembershipRuleError') return [{ msg: message }];
  return { id: EXAMPLE_ID, name, message, details: [{ message }] };
}
