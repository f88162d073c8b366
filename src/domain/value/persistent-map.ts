/**
 * An immutable map in the order in which its keys came. `with` gives another map, which shares all with this one but the chunk of the
 * entry, of up to 128, the page that lists the chunk with its neighbours, and the list of pages; `without` makes all lists anew.
 *
 * An edit stands for the maps of one change that nobody has seen yet: what was made in an edit is written in place in the same one,
 * so a change of many events, and a start, copy each part once.
 */
import assert from 'node:assert/strict';
import { KeyIndex } from './key-index.ts';
import { Slot } from './projection.ts';

export type Key = string | number;

/** Few enough to show in less than a millisecond, and few chunks to go through. */
export const CHUNK_ENTRIES_MAX = 128;

/** Two neighbours with no more entries than these become one, so that deletions leave no rows of nearly empty chunks. */
const JOINED_ENTRIES_MAX = CHUNK_ENTRIES_MAX / 2;

export type Edit = object;

/**
 * The keys of a chunk, and the numbers of its entries in the order in which they came, ascending. A later version of the chunk appends to
 * the lists of an earlier one, which goes by the number of its values.
 */
interface Order<K> {
  readonly keys: readonly K[];
  readonly serials: readonly number[];
  readonly edit: Edit;
}

/** A change of all values that is still to be made, after another one. Neighbouring chunks share it. */
interface Deferred<V> {
  change(value: V): V;
  readonly earlier: Deferred<V> | null;
}

/** Neighbouring entries. */
export class Chunk<K, V> {
  readonly order: Order<K>;
  #values: readonly V[];
  #deferred: Deferred<V> | null;
  /** For what readers derive from the chunk; its successors have the same one. */
  readonly slot: Slot;
  readonly edit: Edit;

  constructor(
    order: Order<K>,
    values: readonly V[],
    { slot, edit, deferred = null }: Pick<Chunk<K, V>, 'slot' | 'edit'> & { deferred?: Deferred<V> | null },
  ) {
    this.order = order;
    this.#values = values;
    this.#deferred = deferred;
    this.slot = slot;
    this.edit = edit;
  }

  get values(): readonly V[] {
    if (this.#deferred !== null) this.#settle();
    return this.#values;
  }

  /** The chunk with each value as `change` makes it, which is called when a value is first looked at. */
  mapped(change: (value: V) => V, edit: Edit, last: { deferred: Deferred<V> | null }): Chunk<K, V> {
    const earlier = this.#deferred;
    if (last.deferred?.earlier !== earlier) last.deferred = { change, earlier };
    return new Chunk(this.order, this.#values, { slot: this.slot, edit, deferred: last.deferred });
  }

  #settle(): void {
    const changes: Deferred<V>['change'][] = [];
    for (let one = this.#deferred; one !== null; one = one.earlier) changes.push(one.change);
    this.#values = changes.reduceRight((values, change) => values.map(change), this.#values);
    this.#deferred = null;
  }
}

/** Neighbouring chunks: each page but the last has PAGE_CHUNKS of them. */
interface Page<K, V> {
  readonly chunks: readonly Chunk<K, V>[];
  readonly edit: Edit;
}

const PAGE_BITS = 6;
const PAGE_CHUNKS = 1 << PAGE_BITS;

/** The place of the chunk of a key that the map does not have. */
const ABSENT = -1;
const NOTHING: readonly never[] = [];
const NO_EDIT: Edit = {};
const NO_KEYS = KeyIndex.empty<Key>();

export class PersistentMap<K extends Key, V> implements ReadonlyMap<K, V> {
  #pages: readonly Page<K, V>[] = NOTHING;
  /** The first serial of each chunk. */
  #firsts: readonly number[] = NOTHING;
  #index: KeyIndex<K> = NO_KEYS as unknown as KeyIndex<K>;
  #size = 0;
  #nextSerial = 0;
  /** The key that was looked for last, the places of its chunk and in it, and its value: one request looks for one flag many times. */
  #lastKey: K | undefined = undefined;
  #lastAt = ABSENT;
  #lastPlace = 0;
  #lastValue: V | undefined = undefined;
  #edit: Edit;
  /** For what readers derive from the map; its successors have the same one. */
  readonly slot: Slot;

  private constructor(slot: Slot, edit: Edit) {
    this.slot = slot;
    this.#edit = edit;
  }

  static empty<K extends Key, V>(): PersistentMap<K, V> {
    return new PersistentMap<K, V>(new Slot(null), NO_EDIT);
  }

  static of<K extends Key, V>(entries: Iterable<readonly [K, V]>): PersistentMap<K, V> {
    const edit = {};
    let map = PersistentMap.empty<K, V>();
    for (const [key, value] of entries) map = map.with(key, value, edit);
    return map;
  }

  get size(): number {
    return this.#size;
  }

  /** Entries in chunks, in their order. */
  get chunks(): Chunk<K, V>[] {
    return this.#pages.flatMap(({ chunks }) => chunks);
  }

  has(key: K): boolean {
    if (key !== this.#lastKey) this.#find(key);
    return this.#lastAt !== ABSENT;
  }

  get(key: K): V | undefined {
    if (key !== this.#lastKey) this.#find(key);
    return this.#lastValue;
  }

  #find(key: K): void {
    const serial = this.#index.find(key);
    if (serial === undefined) return this.#note(key, ABSENT);
    const at = chunkAt(this.#firsts, serial);
    const chunk = this.#chunkAt(at);
    const place = placeOf(chunk, serial);
    this.#note(key, at, place, chunk.values[place]);
  }

  #note(key: K | undefined, at: number, place = 0, value?: V): void {
    this.#lastKey = key;
    this.#lastAt = at;
    this.#lastPlace = place;
    this.#lastValue = value;
  }

  #chunkAt(at: number): Chunk<K, V> {
    return this.#pages[at >>> PAGE_BITS]!.chunks[at & (PAGE_CHUNKS - 1)]!;
  }

  /** The map with the value, in the place of the key where it has one. */
  with(key: K, value: V, edit: Edit = {}): PersistentMap<K, V> {
    if (!this.has(key)) return this.#withNew(key, value, edit);
    if (this.#lastValue === value) return this;
    const at = this.#lastAt;
    const chunk = withOwnValues(this.#chunkAt(at), edit);
    (chunk.values as V[])[this.#lastPlace] = value;
    const map = this.#own(edit);
    map.#put(at, chunk);
    map.#lastValue = value;
    return map;
  }

  without(key: K, edit: Edit = {}): PersistentMap<K, V> {
    if (!this.has(key)) return this;
    const map = this.#own(edit);
    const { chunks } = map;
    const [at, place] = [map.#lastAt, map.#lastPlace];
    const chunk = withOwnOrder(chunks[at]!, edit);
    const { keys, serials } = chunk.order;
    const serial = serials[place];
    for (const list of [keys, serials, chunk.values] as unknown[][]) list.splice(place, 1);
    chunks[at] = chunk;
    tidy(chunks, at, edit);
    map.#pages = pagesOf(chunks, edit);
    map.#firsts = chunks.map(({ order }) => order.serials[0]!);
    map.#index = map.#index.with(key, undefined, serial);
    map.#size -= 1;
    map.#note(key, ABSENT);
    return map;
  }

  /** The map with each value as `change` makes it; a chunk at a time, when a value of it is first looked at. */
  map(change: (value: V) => V): PersistentMap<K, V> {
    const edit = {};
    const map = this.#own(edit);
    const last = { deferred: null };
    map.#pages = pagesOf(
      this.chunks.map((chunk) => chunk.mapped(change, edit, last)),
      edit,
    );
    map.#note(undefined, ABSENT);
    return map;
  }

  #withNew(key: K, value: V, edit: Edit): PersistentMap<K, V> {
    const map = this.#own(edit);
    const serial = map.#nextSerial;
    const count = map.#firsts.length;
    const last = count === 0 ? undefined : map.#chunkAt(count - 1);
    const hasRoom = last !== undefined && last.values.length < CHUNK_ENTRIES_MAX;
    const chunk = hasRoom
      ? withOwnEnd(last, edit)
      : new Chunk<K, V>({ keys: [], serials: [], edit }, [], { slot: new Slot(this.slot), edit });
    (chunk.order.keys as K[]).push(key);
    (chunk.order.serials as number[]).push(serial);
    (chunk.values as V[]).push(value);
    map.#put(hasRoom ? count - 1 : count, chunk);
    if (!hasRoom) map.#firsts = [...map.#firsts, serial];
    map.#index = map.#index.with(key, serial, undefined);
    map.#size += 1;
    map.#nextSerial += 1;
    map.#note(key, map.#firsts.length - 1, chunk.values.length - 1, value);
    return map;
  }

  /** The map itself where the edit made it, and a copy else. */
  #own(edit: Edit): PersistentMap<K, V> {
    if (this.#edit === edit) return this;
    const map = new PersistentMap<K, V>(this.slot, edit);
    map.#pages = this.#pages.slice();
    map.#firsts = this.#firsts;
    map.#index = this.#index;
    map.#size = this.#size;
    map.#nextSerial = this.#nextSerial;
    map.#note(this.#lastKey, this.#lastAt, this.#lastPlace, this.#lastValue);
    return map;
  }

  /** To be called for a map that the edit made, whose list of pages is its own. */
  #put(at: number, chunk: Chunk<K, V>): void {
    const pages = this.#pages as Page<K, V>[];
    const number = at >>> PAGE_BITS;
    const page = pages[number];
    const chunks = page === undefined ? [] : page.edit === this.#edit ? page.chunks : page.chunks.slice();
    (chunks as Chunk<K, V>[])[at & (PAGE_CHUNKS - 1)] = chunk;
    if (page?.chunks !== chunks) pages[number] = { chunks, edit: this.#edit };
  }

  *keys(): Generator<K, undefined> {
    for (const [key] of this.entries()) yield key;
  }

  *values(): Generator<V, undefined> {
    for (const { chunks } of this.#pages) for (const { values } of chunks) yield* values;
  }

  *entries(): Generator<[K, V], undefined> {
    for (const { chunks } of this.#pages)
      for (const { order, values } of chunks)
        for (let at = 0; at < values.length; at += 1) yield [order.keys[at]!, values[at]!];
  }

  [Symbol.iterator](): Generator<[K, V], undefined> {
    return this.entries();
  }

  forEach(use: (value: V, key: K, map: ReadonlyMap<K, V>) => void): void {
    for (const [key, value] of this) use(value, key, this);
  }
}

function pagesOf<K, V>(chunks: readonly Chunk<K, V>[], edit: Edit): Page<K, V>[] {
  const pages: Page<K, V>[] = [];
  for (let at = 0; at < chunks.length; at += PAGE_CHUNKS)
    pages.push({ chunks: chunks.slice(at, at + PAGE_CHUNKS), edit });
  return pages;
}

/** The last chunk that begins with the serial or before it. */
function chunkAt(firsts: readonly number[], serial: number): number {
  let low = 0;
  let high = firsts.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >>> 1;
    if (firsts[middle]! <= serial) low = middle;
    else high = middle - 1;
  }
  return low;
}

function placeOf({ order: { serials } }: Chunk<unknown, unknown>, serial: number): number {
  // Where nothing was deleted, the serials of a chunk follow each other.
  const guess = serial - serials[0]!;
  if (serials[guess] === serial) return guess;
  let low = 0;
  let high = serials.length - 1;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (serials[middle]! < serial) low = middle + 1;
    else high = middle;
  }
  assert(serials[low] === serial, 'the index leads to an entry that is there');
  return low;
}

function withOwnValues<K, V>(chunk: Chunk<K, V>, edit: Edit): Chunk<K, V> {
  if (chunk.edit === edit) return chunk;
  return new Chunk(chunk.order, chunk.values.slice(), { slot: chunk.slot, edit });
}

function withOwnOrder<K, V>(chunk: Chunk<K, V>, edit: Edit): Chunk<K, V> {
  if (chunk.order.edit === edit && chunk.edit === edit) return chunk;
  const values = chunk.edit === edit ? chunk.values : chunk.values.slice();
  return new Chunk({ ...orderOf(chunk), edit }, values, { slot: chunk.slot, edit });
}

/** A chunk to which an entry can be appended. */
function withOwnEnd<K, V>(chunk: Chunk<K, V>, edit: Edit): Chunk<K, V> {
  // Another version has appended to the lists.
  if (chunk.order.keys.length > chunk.values.length) return withOwnOrder(chunk, edit);
  return withOwnValues(chunk, edit);
}

/** Copies of the lists, as far as they are those of this version. */
function orderOf<K>({ order, values }: Chunk<K, unknown>): Omit<Order<K>, 'edit'> {
  return { keys: order.keys.slice(0, values.length), serials: order.serials.slice(0, values.length) };
}

/** Drops the chunk in that place where it is empty, and joins it with the next one where both are nearly so. */
function tidy<K, V>(chunks: Chunk<K, V>[], at: number, edit: Edit): void {
  const chunk = chunks[at]!;
  const next = chunks[at + 1];
  if (chunk.values.length === 0) chunks.splice(at, 1);
  else if (next !== undefined && chunk.values.length + next.values.length <= JOINED_ENTRIES_MAX) {
    const [own, others] = [orderOf(chunk), orderOf(next)];
    const order = { keys: [...own.keys, ...others.keys], serials: [...own.serials, ...others.serials], edit };
    const values = [...chunk.values, ...next.values];
    chunks.splice(at, 2, new Chunk(order, values, { slot: chunk.slot, edit }));
  }
}
