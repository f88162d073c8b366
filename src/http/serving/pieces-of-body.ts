/**
 * Large bodies of which some thousand come every minute, read some items at a time, so that requests beside them wait for none
 * (src/http/serving/slices.ts). Each piece is put where it stood in an otherwise empty body, and the route's schema looks at that:
 * there is one schema, and what it lets through is put together again. Whatever is wrong, or too long, is read once more as one
 * body, which says what it is.
 */
import assert from 'node:assert/strict';
import * as v from 'valibot';
import type { JsonValue } from '../../domain/json/json.ts';
import { parseJsonBody } from '../body/json-body.ts';
import { measureShape } from '../body/json-shape.ts';
import type { TransportRequest } from '../transport/transport.ts';
import { cutJson, type JsonPiece, type PlaceOfItems } from './json-pieces.ts';
import { type BodyOutcome, readBody, refuseMediaType } from './request-body.ts';
import type { ReadRoute, Schema } from './route.ts';
import { inBriefSlices, type SliceOwner } from './slices.ts';

/** A smaller body takes some 50 µs in one go. */
const CUT_BYTES_MIN = 4 * 1024;

/** Bytes of the bodies that wait to be read. Beyond it they are read in one go, which keeps more from arriving. */
const WAITING_BYTES_MAX = 16 * 2 ** 20;

export class PiecesOfBodies {
  #waitingBytes = 0;

  /** Whether the body is worth it. */
  takes({ bodyItems }: Pick<ReadRoute, 'bodyItems'>, { body }: TransportRequest): boolean {
    const bytes = body.byteLength;
    return (
      bodyItems !== undefined && bytes >= CUT_BYTES_MIN && this.#waitingBytes + bytes <= WAITING_BYTES_MAX
    );
  }

  /** Rejects once the owner's signal is aborted. */
  async read(route: ReadRoute, request: TransportRequest, owner: SliceOwner): Promise<BodyOutcome> {
    const bytes = request.body.byteLength;
    this.#waitingBytes += bytes;
    try {
      const steps = outcomeOf(route, request);
      let outcome: BodyOutcome | undefined;
      await inBriefSlices(() => {
        const step = steps.next();
        if (step.done === true) outcome = step.value;
        return step.done === true;
      }, owner);
      assert(outcome !== undefined, 'a body has been read to its end');
      return outcome;
    } finally {
      this.#waitingBytes -= bytes;
    }
  }
}

function* outcomeOf(route: ReadRoute, request: TransportRequest): Generator<void, BodyOutcome> {
  const whole = refuseMediaType(request) === null ? yield* wholeOf(route, request.body) : null;
  return whole === null ? readBody(route, request) : { value: whole.value };
}

/** Null for what the schema refuses, what is no JSON, and what cannot be cut. */
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
  /** What the schema made of the rest. */
  #made: unknown;
  readonly #items = new Map<PlaceOfItems, unknown[] | Fields>();
  /** How many there are at each place: to count fields takes as long as to go through them. */
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

/** False when one of them is there already. */
function addFields(known: Fields, added: Fields): boolean {
  for (const name of Object.keys(added)) {
    if (Object.hasOwn(known, name)) return false;
    known[name] = added[name];
  }
  return true;
}

/** `value` with other items at the place. */
function withItems(value: Fields, [name, ...below]: PlaceOfItems, items: unknown): Fields {
  assert(name !== undefined, 'a place has a name');
  return { ...value, [name]: below.length === 0 ? items : withItems(value[name] as Fields, below, items) };
}
