/**
 * A request's body, from bytes to the value that a route's schema lets through. Nothing is coerced; unknown fields
 * are dropped by the schema (docs/specification/common.md#json).
 */
import * as v from 'valibot';
import { parseInBudget } from '../../domain/json/check-budget.ts';
import { issuesOf } from '../../domain/json/issues.ts';
import { type Refusal, refuse } from '../../domain/state/refusal.ts';
import { parseJsonBody } from '../body/json-body.ts';
import type { TransportRequest } from '../transport/transport.ts';
import type { Route } from './route.ts';

const JSON_TYPES = ['application/json', 'application/json-patch+json'];

export type BodyOutcome = { readonly value: unknown } | Refusal;

export function readBody(route: Route, request: TransportRequest): BodyOutcome {
  if (route.body === undefined) return { value: undefined };
  if (!request.hasBody) {
    return route.bodyIsOptional === true
      ? { value: v.parse(route.body, {}) }
      : invalidBody([{ path: '', message: 'A JSON body is required; none was sent.' }]);
  }
  const wrongType = refuseMediaType(request);
  if (wrongType !== null) return wrongType;
  const parsed = parseJsonBody(request.body);
  if (!parsed.ok) return invalidBody([{ path: parsed.path ?? '', message: parsed.message }]);
  // Valibot accepts a list as an object when every field is optional.
  if (route.body.type === 'object' && Array.isArray(parsed.value)) {
    return invalidBody([{ path: '', message: 'The body must be an object, not a list.' }]);
  }
  const checked = parseInBudget(route.body, parsed.value);
  return checked.issues === undefined
    ? { value: checked.value }
    : invalidBody(issuesOf(checked.issues, 'The body'));
}

export function refuseMediaType(request: TransportRequest): Refusal | null {
  return (
    refuseContentType(request.header('content-type')) ?? refuseEncoding(request.header('content-encoding'))
  );
}

function invalidBody(issues: readonly { readonly path: string; readonly message: string }[]): Refusal {
  const message = issues.map((issue) => issue.message).join(' ');
  return refuse(
    'ValidationError',
    message,
    issues.map(({ path, message }) => ({ path: `/body${path}`, message })),
  );
}

/** A body without a content type is read as JSON; one with another content type is refused. */
function refuseContentType(header: string): Refusal | null {
  if (header === '' || header === 'application/json') return null;
  const [type = '', ...parameters] = header
    .toLowerCase()
    .split(';')
    .map((part) => part.trim());
  const otherCharset = parameters.find(
    (one) => one.startsWith('charset=') && !/^charset="?utf-8"?$/.test(one),
  );
  if (JSON_TYPES.includes(type) && otherCharset === undefined) return null;
  return refuse(
    'UnsupportedMediaTypeError',
    `The body must be application/json in UTF-8, not ${JSON.stringify(header.slice(0, 100))}.`,
  );
}

/** A compressed body would be read as text that makes no sense; and what it grows to is known only afterwards. */
function refuseEncoding(header: string): Refusal | null {
  if (header === '' || header.toLowerCase() === 'identity') return null;
  return refuse(
    'UnsupportedMediaTypeError',
    `The body must be sent as it is, without the Content-Encoding ${JSON.stringify(header.slice(0, 100))}.`,
  );
}
