/**
 * A request's body, from bytes to the value that a route's schema lets through. Nothing is coerced; unknown fields
 * are dropped by the schema (docs/specification/common.md#json).
 */
import assert from 'node:assert/strict';
import * as v from 'valibot';
import { inBriefTurns, type Requester } from '../../actors/turn.ts';
import { parseInBudget } from '../../domain/json/check-budget.ts';
import { issuesOf } from '../../domain/json/issues.ts';
import { isJsonObject, type JsonValue } from '../../domain/json/json.ts';
import { type Refusal, refuse } from '../../domain/state/refusal.ts';
import { parseJsonBody } from '../body/json-body.ts';
import type { TransportRequest } from '../transport/transport.ts';
import { misspeltFields } from './misspelt-fields.ts';
import type { ReadRoute, Route } from './route.ts';
import type { Warning } from './warnings.ts';

const JSON_TYPES = ['application/json', 'application/json-patch+json'];

type BodyOutcome = { readonly value: unknown; readonly warnings?: readonly Warning[] } | Refusal;

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
  if (checked.issues !== undefined) return invalidBody(issuesOf(checked.issues, 'The body'));
  const { value } = checked;
  return route.kind === 'write' ? { value, warnings: misspeltFields(route.body, parsed.value) } : { value };
}

function refuseMediaType(request: TransportRequest): Refusal | null {
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

/** A compressed body would be read as text, and its true size is known only afterwards. */
function refuseEncoding(header: string): Refusal | null {
  if (header === '' || header.toLowerCase() === 'identity') return null;
  return refuse(
    'UnsupportedMediaTypeError',
    `The body must be sent as it is, without the Content-Encoding ${JSON.stringify(header.slice(0, 100))}.`,
  );
}

// Large bodies of which some thousand come every minute. Checking their items against the schema takes most of the time, so that is done for
// some of them at a time, and requests beside them wait for none (src/actors/turn.ts). Each step checks the body with those items alone; the
// outputs are put together again. A body with anything wrong in it is read once more as one, which says what it is.

/** A smaller body takes some 50 µs in one go. */
const LARGE_BYTES_MIN = 4 * 1024;

/** Checking so many takes some 30 µs. */
const ITEMS_A_STEP = 32;

/** Bytes of the bodies that wait to be read. Beyond it they are read in one go, which keeps more from arriving. */
const WAITING_BYTES_MAX = 16 * 2 ** 20;

export class LargeBodies {
  #waitingBytes = 0;

  /** Whether the body is worth it. */
  takes({ body }: Pick<TransportRequest, 'body'>): boolean {
    const bytes = body.byteLength;
    return bytes >= LARGE_BYTES_MIN && this.#waitingBytes + bytes <= WAITING_BYTES_MAX;
  }

  /** Rejects once the requester's signal is aborted. */
  async read(
    route: ReadRoute,
    request: TransportRequest,
    requester: Partial<Requester>,
  ): Promise<BodyOutcome> {
    const bytes = request.body.byteLength;
    this.#waitingBytes += bytes;
    try {
      return await inBriefTurns(outcomeOf(route, request), requester);
    } finally {
      this.#waitingBytes -= bytes;
    }
  }
}

function* outcomeOf(route: ReadRoute, request: TransportRequest): Generator<void, BodyOutcome> {
  const parsed = refuseMediaType(request) === null ? parseJsonBody(request.body) : null;
  yield;
  const value = parsed?.ok === true ? yield* checkedInSteps(route, parsed.value) : undefined;
  return value === undefined ? readBody(route, request) : { value };
}

type Fields = Record<string, unknown>;
type Items = unknown[] | Fields;

/** Undefined where the schema refuses the body. */
function* checkedInSteps({ body, bodyItems = [] }: ReadRoute, sent: JsonValue): Generator<void, unknown> {
  if (body === undefined) return undefined;
  const found: { readonly place: readonly string[]; readonly items: Items }[] = [];
  let rest: unknown = sent;
  for (const { place, countMax = Number.POSITIVE_INFINITY } of bodyItems) {
    const items = itemsAt(sent, place);
    if (items === undefined) continue;
    if (Object.keys(items).length > countMax) return undefined;
    found.push({ place, items });
    rest = withItems(rest, place, Array.isArray(items) ? [] : {});
  }
  const checked = v.safeParse(body, rest);
  let value: unknown = checked.success ? checked.output : undefined;
  for (const { place, items } of found) {
    const made: Items = Array.isArray(items) ? [] : {};
    for (const some of slices(items)) {
      yield;
      const part = v.safeParse(body, withItems(rest, place, some));
      if (!part.success) return undefined;
      const output = itemsAt(part.output, place);
      assert(output !== undefined, 'a schema keeps the items that a route names');
      if (Array.isArray(made)) made.push(...(output as unknown[]));
      else Object.assign(made, output);
    }
    if (value !== undefined) value = withItems(value, place, made);
  }
  return value;
}

function itemsAt(value: unknown, place: readonly string[]): Items | undefined {
  const items = place.reduce<unknown>((at, name) => (isJsonObject(at) ? at[name] : undefined), value);
  return typeof items === 'object' && items !== null ? (items as Items) : undefined;
}

function* slices(items: Items): Generator<Items> {
  const entries = Object.entries(items);
  for (let at = 0; at < entries.length; at += ITEMS_A_STEP) {
    const some = entries.slice(at, at + ITEMS_A_STEP);
    yield Array.isArray(items) ? some.map(([, item]) => item) : Object.fromEntries(some);
  }
}

function withItems(value: unknown, [name = '', ...below]: readonly string[], items: Items): Fields {
  const fields = value as Fields;
  return { ...fields, [name]: below.length === 0 ? items : withItems(fields[name], below, items) };
}
