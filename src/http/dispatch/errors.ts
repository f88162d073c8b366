/**
 * The one table from refusals to HTTP, and the one place where an error body is made
 * (docs/specification/common.md#errors): `{ id, name, message, details }`, except for a broken membership rule, whose
 * body is a list of `{ msg }`.
 */
import { randomUUID } from 'node:crypto';
import type * as v from 'valibot';
import type { Refusal, RefusalName } from '../../domain/state/refusal.ts';
import type { HttpResponse } from '../transport/transport.ts';
import { JSON_HEADERS } from './json-response.ts';
import type { Params } from './params.ts';

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
  PreconditionFailedError: 412,
  PayloadTooLargeError: 413,
  UnsupportedMediaTypeError: 415,
  ServiceUnavailableError: 503,
  InsufficientStorageError: 507,
  InternalError: 500,
};

/** In seconds. Long enough for most stalls, and short enough that a client does not give up. */
const RETRY_AFTER_SECONDS = '1';

/** Headers that belong to an error: what a client should do next. RFC 9110 §11.6.1 demands the challenge. */
const HEADERS_OF: Readonly<Partial<Record<ErrorName, readonly string[]>>> = {
  AuthenticationRequired: ['www-authenticate', 'Bearer realm="flagstaff"'],
  ServiceUnavailableError: ['retry-after', RETRY_AFTER_SECONDS],
};

export interface ErrorBody {
  readonly id: string;
  readonly name: string;
  readonly message: string;
  readonly details: readonly { readonly message: string; readonly path?: string }[];
}

export function refusalResponse(refusal: Refusal, extraHeaders: readonly string[] = []): HttpResponse {
  const { name, message, details } = refusal;
  const status = ERROR_STATUS[name];
  if (name === 'MembershipRuleError') {
    return { status, headers: JSON_HEADERS, body: JSON.stringify([{ msg: message }]) };
  }
  return errorResponse(status, name, message, details, [...extraHeaders, ...(HEADERS_OF[name] ?? [])]);
}

/** The details of a fault go to the log; the client gets an id with which to ask for them. */
function faultResponse(): { readonly response: HttpResponse; readonly errorId: string } {
  const errorId = randomUUID();
  const message = `The server failed to answer this request; its log has the details under the id ${errorId}.`;
  const body: ErrorBody = { id: errorId, name: 'InternalError', message, details: [{ message }] };
  return { response: { status: 500, headers: JSON_HEADERS, body: JSON.stringify(body) }, errorId };
}

/** How a surface words its errors. */
export interface ErrorShape {
  /** Those whose body has only a message; the others are described by the common schema of errors. */
  readonly messageOnly: ReadonlySet<ErrorName>;
  /** Where every error has a body of another shape: its schema, and an example of it with this message. */
  readonly own?: { readonly schema: v.GenericSchema; example(name: ErrorName, message: string): unknown };
  /** `extraHeaders`: name, value, name, value. `params`: of the path; null before a route has been found. */
  refusal(refusal: Refusal, extraHeaders?: readonly string[], params?: Params | null): HttpResponse;
  /** A fault inside the server; `errorId` is for the log, where the reason stands. */
  fault(): { readonly response: HttpResponse; readonly errorId: string };
}

/** Of every surface that names no shape of its own. */
export const COMMON_ERRORS: ErrorShape = {
  messageOnly: new Set(),
  refusal: refusalResponse,
  fault: faultResponse,
};

/** Refusals that the transport makes before a request reaches the routes, by status. */
const TRANSPORT_NAMES: Readonly<Record<number, string>> = {
  400: 'ValidationError',
  408: 'RequestTimeoutError',
  413: 'PayloadTooLargeError',
  414: 'UriTooLongError',
  431: 'RequestHeaderFieldsTooLargeError',
  500: 'InternalError',
  501: 'NotImplementedError',
  503: 'ServiceUnavailableError',
  505: 'HttpVersionNotSupportedError',
};

export function transportRefusal(status: number, reason: string): HttpResponse {
  const retry = status === 503 ? ['retry-after', RETRY_AFTER_SECONDS] : [];
  return errorResponse(
    status,
    TRANSPORT_NAMES[status] ?? 'ValidationError',
    reason,
    [{ message: reason }],
    retry,
  );
}

function errorResponse(
  status: number,
  name: string,
  message: string,
  details: ErrorBody['details'],
  extraHeaders: readonly string[],
): HttpResponse {
  const body: ErrorBody = { id: randomUUID(), name, message, details };
  return { status, headers: JSON_HEADERS.with(...extraHeaders), body: JSON.stringify(body) };
}
