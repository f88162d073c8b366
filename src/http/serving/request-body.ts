/**
 * A request's body, from bytes to the value that a route's schema lets through. Nothing is coerced; unknown fields
 * are dropped by the schema (docs/specification/common.md#json).
 */
import assert from 'node:assert/strict';
import * as v from 'valibot';
import { inBriefTurns, type Requester } from '../../actors/turn.ts';
import { parseInBudget } from '../../domain/json/check-budget.ts';
import { issuesOf } from '../../domain/json/issues.ts';
import type { JsonValue } from '../../domain/json/json.ts';
import { type Refusal, refuse } from '../../domain/state/refusal.ts';
import { parseJsonBody } from '../body/json-body.ts';
import { measureShape } from '../body/json-shape.ts';
import type { TransportRequest } from '../transport/transport.ts';
import { misspeltFields } from './misspelt-fields.ts';
import type { ReadRoute, Route, Schema } from './route.ts';
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

// Large bodies of which some thousand come every minute, read some items at a time, so that requests beside them wait for none
// (src/actors/turn.ts). Each piece is put where it stood in an otherwise empty body, and the route's schema looks at that:
// there is one schema, and what it lets through is put together again. Whatever is wrong, or too long, is read once more as one
// body, which says what it is.

/** A smaller body takes some 50 µs in one go. */
const CUT_BYTES_MIN = 4 * 1024;

/** Bytes of the bodies that wait to be read. Beyond it they are read in one go, which keeps more from arriving. */
const WAITING_BYTES_MAX = 16 * 2 ** 20;

export class PiecesOfBodies {
  #waitingBytes = 0;

  /** Whether the body is worth it. */
  takes({ body }: Pick<TransportRequest, 'body'>): boolean {
    const bytes = body.byteLength;
    return bytes >= CUT_BYTES_MIN && this.#waitingBytes + bytes <= WAITING_BYTES_MAX;
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
  const whole = refuseMediaType(request) === null ? yield* wholeOf(route, request.body) : null;
  return whole === null ? readBody(route, request) : { value: whole.value };
}

/** Null where the schema refuses the body, it is no JSON, or it cannot be cut. */
function* wholeOf({ body, bodyItems = [] }: ReadRoute, bytes: Uint8Array): Generator<void, Whole | null> {
  if (body === undefined || !measureShape(bytes).ok) return null;
  yield;
  const cut = cutJson(
    bytes,
    bodyItems.map(({ place }) => place),
  );
  const rest = cut === null ? null : parseJsonBody(cut.rest);
  if (cut === null || rest?.ok !== true) return null;
  const whole = new Whole(body, rest.value);
  for (const piece of cut.pieces) {
    yield;
    if (!whole.take(piece)) return null;
  }
  return bodyItems.every(({ place, countMax = Infinity }) => whole.countAt(place) <= countMax) ? whole : null;
}

type Fields = Record<string, unknown>;

/** A body that is put together of its pieces. */
class Whole {
  readonly #schema: Schema;
  readonly #rest: JsonValue;
  /** The schema's output for the rest. */
  #made: unknown;
  readonly #items = new Map<PlaceOfItems, unknown[] | Fields>();
  /** The number of items at each place: counting fields takes as long as going through them. */
  readonly #counts = new Map<PlaceOfItems, number>();

  constructor(schema: Schema, rest: JsonValue) {
    this.#schema = schema;
    this.#rest = rest;
  }

  get value(): unknown {
    let value = this.#made;
    for (const [place, items] of this.#items) value = withItems(value as Fields, place, items);
    return value;
  }

  countAt(place: PlaceOfItems): number {
    return this.#counts.get(place) ?? 0;
  }

  /** False when it cannot be a part of the body. */
  take({ place, bytes }: JsonPiece): boolean {
    const parsed = parseJsonBody(bytes);
    if (!parsed.ok) return false;
    const checked = v.safeParse(this.#schema, withItems(this.#rest as Fields, place, parsed.value));
    if (!checked.success) return false;
    this.#made ??= checked.output;
    const items = place.reduce<unknown>((value, name) => (value as Fields)[name], checked.output);
    assert(typeof items === 'object' && items !== null, 'a schema keeps the items that a route names');
    return this.#add(place, items as unknown[] | Fields);
  }

  /** Between two commas there has to be something, and fields have to have different names. */
  #add(place: PlaceOfItems, items: unknown[] | Fields): boolean {
    const known = this.#items.get(place);
    const [before, added] = [this.countAt(place), Object.keys(items).length];
    this.#counts.set(place, before + added);
    if (known === undefined) {
      this.#items.set(place, items);
      return true;
    }
    if (before === 0 || added === 0) return false;
    if (Array.isArray(known)) {
      known.push(...(items as unknown[]));
      return true;
    }
    return addFields(known, items as Fields);
  }
}

/** False when a field would come twice. */
function addFields(known: Fields, added: Fields): boolean {
  for (const name of Object.keys(added)) {
    if (Object.hasOwn(known, name)) return false;
    known[name] = added[name];
  }
  return true;
}

function withItems(value: Fields, [name, ...below]: PlaceOfItems, items: unknown): Fields {
  assert(name !== undefined, 'a place has a name');
  return { ...value, [name]: below.length === 0 ? items : withItems(value[name] as Fields, below, items) };
}

// Cuts a large body into pieces that are parsed one after the other, so that no single one holds the event loop for long: what
// stands in the lists and objects at some places, some items at a time, and the rest with those left empty. Quotes, brackets and
// commas are all that is looked at, in one pass over the bytes.
//
// Together the pieces are the body: it is JSON exactly if the rest and all pieces are, and none of several pieces is empty.

/** Names of fields from the top, each of an object. */
type PlaceOfItems = readonly string[];

interface JsonPiece {
  readonly place: PlaceOfItems;
  /** A list or an object of some of the items or fields there. */
  readonly bytes: Uint8Array;
}

interface CutJson {
  /** The body with nothing in the lists and objects at the places. */
  readonly rest: Uint8Array;
  readonly pieces: readonly JsonPiece[];
}

/** A piece ends at the first item behind so many bytes. Parsing that many takes some 30 µs. */
const PIECE_BYTES = 2_048;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const [LIST_OPENS, LIST_CLOSES, OBJECT_OPENS, OBJECT_CLOSES] = [0x5b, 0x5d, 0x7b, 0x7d] as const;

/** Null when there is nothing to cut, or one of the places twice. `bytes` may be no JSON at all. */
export function cutJson(bytes: Uint8Array, places: readonly PlaceOfItems[]): CutJson | null {
  const scan = new Scan(bytes, places);
  return scan.run() ? { rest: Buffer.concat(scan.rest), pieces: scan.pieces } : null;
}

class Scan {
  readonly rest: Uint8Array[] = [];
  readonly pieces: JsonPiece[] = [];
  readonly #bytes: Uint8Array;
  readonly #places: readonly PlaceOfItems[];
  readonly #depthMax: number;
  /** The names of the fields that the scan is in, by depth, only as deep as places are: null before a name, undefined in a list. */
  readonly #names: (string | null | undefined)[] = [];
  #depth = 0;
  /** The place that the scan is in, which is as deep as `#placeDepth`. */
  #place: PlaceOfItems | null = null;
  #placeDepth = 0;
  #placeIsList = false;
  /** The start of the bytes that are not yet in any piece or in the rest. */
  #start = 0;

  constructor(bytes: Uint8Array, places: readonly PlaceOfItems[]) {
    this.#bytes = bytes;
    this.#places = places;
    this.#depthMax = Math.max(...places.map(({ length }) => length));
  }

  run(): boolean {
    const bytes = this.#bytes;
    for (let at = 0; at < bytes.length; at += 1) {
      const byte = bytes[at];
      if (byte === QUOTE) at = this.#text(at);
      else if (byte === OBJECT_OPENS || byte === LIST_OPENS) {
        if (!this.#opened(at)) return false;
      } else if (byte === OBJECT_CLOSES || byte === LIST_CLOSES) this.#closed(at);
      else if (byte === COMMA) this.#comma(at);
    }
    this.rest.push(bytes.subarray(this.#start));
    return this.#place === null && this.pieces.length > 0;
  }

  /** Returns where the closing quote is. */
  #text(start: number): number {
    const bytes = this.#bytes;
    let at = start + 1;
    while (at < bytes.length && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1;
    if (this.#depth <= this.#depthMax && this.#names[this.#depth] === null) {
      this.#names[this.#depth] = Buffer.from(
        bytes.buffer,
        bytes.byteOffset + start + 1,
        at - start - 1,
      ).toString();
    }
    return at;
  }

  /** False when a place comes a second time. */
  #opened(at: number): boolean {
    const place = this.#place === null ? this.#placeHere() : undefined;
    this.#depth += 1;
    const isList = this.#bytes[at] === LIST_OPENS;
    if (this.#depth <= this.#depthMax) this.#names[this.#depth] = isList ? undefined : null;
    if (place === undefined) return true;
    if (this.pieces.some((piece) => piece.place === place)) return false;
    this.#place = place;
    this.#placeDepth = this.#depth;
    this.#placeIsList = isList;
    this.rest.push(this.#bytes.subarray(this.#start, at + 1));
    this.#start = at + 1;
    return true;
  }

  #closed(at: number): void {
    if (this.#place !== null && this.#depth === this.#placeDepth) {
      this.#addPiece(this.#place, at);
      this.#place = null;
      this.#start = at;
    }
    this.#depth -= 1;
  }

  #comma(at: number): void {
    if (this.#place === null) {
      if (typeof this.#names[this.#depth] === 'string') this.#names[this.#depth] = null;
    } else if (this.#depth === this.#placeDepth && at - this.#start >= PIECE_BYTES) {
      this.#addPiece(this.#place, at);
      this.#start = at + 1;
    }
  }

  #addPiece(place: PlaceOfItems, end: number): void {
    const piece = Buffer.allocUnsafe(end - this.#start + 2);
    piece[0] = this.#placeIsList ? LIST_OPENS : OBJECT_OPENS;
    piece.set(this.#bytes.subarray(this.#start, end), 1);
    piece[piece.length - 1] = this.#placeIsList ? LIST_CLOSES : OBJECT_CLOSES;
    this.pieces.push({ place, bytes: piece });
  }

  #placeHere(): PlaceOfItems | undefined {
    const depth = this.#depth;
    if (depth > this.#depthMax) return undefined;
    return this.#places.find(
      (place) => place.length === depth && place.every((name, at) => this.#names[at + 1] === name),
    );
  }
}
