/**
 * The one table from refusals to HTTP, and the one place where an error body is made
 * (docs/specification/common.md#errors): `{ id, name, message, details }`, except for a broken membership rule, whose
 * body is a list of `{ msg }`, and on surfaces that have a shape of their own.
 */
import { randomUUID } from 'node:crypto';
import type * as v from 'valibot';
import type { Refusal, RefusalDetail, RefusalName } from '../../domain/state/refusal.ts';
import type { HttpResponse } from '../transport/transport.ts';
import { JSON_HEADERS } from './json-response.ts';
import { NO_PARAMS, type Params } from './params.ts';

export type ErrorName = RefusalName | 'InternalError';

export const ERROR_STATUS: Readonly<Record<ErrorName, number>> = {
  ValidationError: 400,
  MembershipRuleError: 400,
  AuthenticationRequired: 401,
  NoAccessError: 403,
  NotFoundError: 404,
  MethodNotAllowedError: 405,
  NameExistsError: 409,
  InvalidOperationError: 409,
  GoneError: 410,
  PreconditionFailedError: 412,
  PayloadTooLargeError: 413,
  UnsupportedMediaTypeError: 415,
  TooManyRequestsError: 429,
  ServiceUnavailableError: 503,
  InsufficientStorageError: 507,
  InternalError: 500,
};

/** Names of the errors of requests that the transport refuses before they reach the routes, by status. */
const TRANSPORT_NAMES = {
  400: 'ValidationError',
  408: 'RequestTimeoutError',
  413: 'PayloadTooLargeError',
  414: 'UriTooLongError',
  431: 'RequestHeaderFieldsTooLargeError',
  500: 'InternalError',
  501: 'NotImplementedError',
  503: 'ServiceUnavailableError',
  505: 'HttpVersionNotSupportedError',
} as const;

export type TransportErrorName = (typeof TRANSPORT_NAMES)[keyof typeof TRANSPORT_NAMES];

/** Seconds, long enough for most stalls, and short enough that a client does not give up. */
const RETRY_AFTER_SECONDS = '1';

/** Seconds until the first of too many attempts is forgotten. */
const RETRY_ATTEMPT_SECONDS = '30';

/** Headers that belong to an error: what a client should do next. RFC 9110 §11.6.1 demands the challenge. */
const HEADERS_OF: Readonly<Partial<Record<string, readonly string[]>>> = {
  AuthenticationRequired: ['www-authenticate', 'Bearer realm="flagstaff"'],
  ServiceUnavailableError: ['retry-after', RETRY_AFTER_SECONDS],
  TooManyRequestsError: ['retry-after', RETRY_ATTEMPT_SECONDS],
};

export interface ErrorBody {
  readonly id: string;
  readonly name: string;
  readonly message: string;
  readonly details: readonly RefusalDetail[];
}

/** An error, before a surface gives it its shape. */
export interface HttpError {
  readonly status: number;
  readonly name: ErrorName | TransportErrorName;
  readonly message: string;
  readonly details: readonly RefusalDetail[];
}

/** How a surface words its errors. */
export interface ErrorShape {
  /** Errors whose body has only a message; the others are described by the common schema of errors. */
  readonly messageOnly: ReadonlySet<ErrorName>;
  /** The schema of errors, if every error has a body of another shape, and an example of it with this message. */
  readonly own?: { readonly schema: v.GenericSchema; example(name: ErrorName, message: string): unknown };
  /** `id`: of this one error. `params`: of the path, once a route has been found. */
  bodyOf(error: HttpError, id: string, params: Params): unknown;
}

/** The errors of every surface without its own shape. */
export const COMMON_ERRORS: ErrorShape = { messageOnly: new Set(), bodyOf: commonBody };

function commonBody({ name, message, details }: HttpError, id: string): ErrorBody | { msg: string }[] {
  return name === 'MembershipRuleError' ? [{ msg: message }] : { id, name, message, details };
}

export function errorOfRefusal({ name, message, details }: Refusal): HttpError {
  return { status: ERROR_STATUS[name], name, message, details };
}

/** The details of a fault go to the log; the client gets the id with which to ask for them, and `problem` where it is one to act on. */
export function errorOfFault(id: string, problem: string | null = null): HttpError {
  const what = problem ?? 'The server failed to answer this request';
  const message = `${what}; its log has the details under the id ${id}.`;
  return { status: ERROR_STATUS.InternalError, name: 'InternalError', message, details: [{ message }] };
}

export function errorOfTransport(status: number, reason: string): HttpError {
  const name = TRANSPORT_NAMES[status as keyof typeof TRANSPORT_NAMES] ?? 'ValidationError';
  return { status, name, message: reason, details: [{ message: reason }] };
}

export interface ErrorContext {
  readonly shape: ErrorShape;
  readonly id: string;
  readonly params: Params;
  /** Name, value, name, value. */
  readonly extraHeaders?: readonly string[];
}

export function errorResponse(
  error: HttpError,
  { shape, id, params, extraHeaders = [] }: ErrorContext,
): HttpResponse {
  const headers = JSON_HEADERS.with(...extraHeaders, ...(HEADERS_OF[error.name] ?? []));
  return { status: error.status, headers, body: JSON.stringify(shape.bodyOf(error, id, params)) };
}

/** The response to an error outside all surfaces. */
export function plainErrorResponse(error: HttpError): HttpResponse {
  return errorResponse(error, { shape: COMMON_ERRORS, id: randomUUID(), params: NO_PARAMS });
}
