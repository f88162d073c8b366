/**
 * All parts of one text: whether another occurs in it takes as long as that one is, however long the text is. V8's own search takes text times part at
 * worst, so a constraint with 200 values took half a second for one text.
 *
 * It is the suffix automaton of the text, built in linear time: at most two states and three edges for each UTF-16 unit. The edges are in
 * one hash table in typed arrays. Its hash has a secret seed, so that no text can be made whose edges collide.
 */
import { LRUCache } from 'lru-cache';

/** So long a text, made by folding the longest context to lower case, has 65,536 states at most: state and unit fit into a key of 32 bits. */
const TEXT_LENGTH_MAX = 32_768;

/** Indexes that are kept, each of 1 MB for a text of 16,384 characters, and of 2 MB for the longest. */
export const TEXT_INDEXES_MAX = 4;

/** Units that are indexed in one step: 0.3 ms, and ten times as long as long as the code is new to V8. */
const INDEXED_AT_ONCE = 4_096;

/** Slots of the table for each unit of the text: at most three quarters of them are used. */
const SLOTS_PER_UNIT = 4;

const ROOT = 0;
const NONE = -1;

const SEED = Math.floor(Math.random() * 2 ** 32);

export class TextIndex {
  readonly #lengths: Int32Array;
  readonly #links: Int32Array;
  /** For each state, the slot of the edge that was added last. */
  readonly #lastEdges: Int32Array;
  // One entry a slot of the table. No edge leads to the root, so that a target of 0 is an empty slot.
  readonly #keys: Uint32Array;
  readonly #targets: Uint16Array;
  /** The slot of the edge that was added to the same state before. */
  readonly #earlier: Int32Array;
  readonly #slotMask: number;
  readonly #text: string;
  #stateCount = 1;
  #indexed = 0;
  #last = ROOT;

  private constructor(text: string) {
    this.#text = text;
    const slots = 2 ** Math.ceil(Math.log2(SLOTS_PER_UNIT * Math.max(text.length, 1)));
    this.#lengths = new Int32Array(2 * text.length + 1);
    this.#links = new Int32Array(2 * text.length + 1);
    this.#lastEdges = new Int32Array(2 * text.length + 1).fill(NONE);
    this.#keys = new Uint32Array(slots);
    this.#targets = new Uint16Array(slots);
    this.#earlier = new Int32Array(slots);
    this.#slotMask = slots - 1;
    this.#links[ROOT] = NONE;
  }

  /** Indexes some more of the text. True when all of it is. */
  advance(): boolean {
    const end = Math.min(this.#indexed + INDEXED_AT_ONCE, this.#text.length);
    for (; this.#indexed < end; this.#indexed += 1)
      this.#last = this.#extend(this.#last, this.#text.charCodeAt(this.#indexed));
    return end === this.#text.length;
  }

  /** Null for a text that is longer than any context. */
  static of(text: string): TextIndex | null {
    return text.length > TEXT_LENGTH_MAX ? null : new TextIndex(text);
  }

  has(part: string): boolean {
    while (!this.advance());
    let state = ROOT;
    for (let at = 0; at < part.length; at += 1) {
      state = this.#targets[this.#slotOf(state, part.charCodeAt(at))]!;
      if (state === ROOT) return false;
    }
    return true;
  }

  #extend(last: number, unit: number): number {
    const added = this.#addState(this.#lengths[last]! + 1);
    let from = last;
    let slot = NONE;
    for (; from !== NONE; from = this.#links[from]!) {
      slot = this.#slotOf(from, unit);
      if (this.#targets[slot] !== ROOT) break;
      this.#addEdge(slot, from, unit, added);
    }
    this.#links[added] = from === NONE ? ROOT : this.#split(from, unit, this.#targets[slot]!);
    return added;
  }

  /** The state of what ends in `from` with the unit, and nothing longer: `target`, or one that is split off from it. */
  #split(from: number, unit: number, target: number): number {
    const length = this.#lengths[from]! + 1;
    if (this.#lengths[target] === length) return target;
    const split = this.#addState(length);
    for (let edge = this.#lastEdges[target]!; edge !== NONE; edge = this.#earlier[edge]!) {
      const edgeUnit = this.#keys[edge]! & 0xffff;
      this.#addEdge(this.#slotOf(split, edgeUnit), split, edgeUnit, this.#targets[edge]!);
    }
    this.#links[split] = this.#links[target]!;
    this.#links[target] = split;
    for (let state = from; state !== NONE; state = this.#links[state]!) {
      const slot = this.#slotOf(state, unit);
      if (this.#targets[slot] !== target) break;
      this.#targets[slot] = split;
    }
    return split;
  }

  #addState(length: number): number {
    const state = this.#stateCount;
    this.#stateCount += 1;
    this.#lengths[state] = length;
    return state;
  }

  #addEdge(slot: number, state: number, unit: number, target: number): void {
    this.#keys[slot] = (state << 16) | unit;
    this.#targets[slot] = target;
    this.#earlier[slot] = this.#lastEdges[state]!;
    this.#lastEdges[state] = slot;
  }

  /** The slot of the edge, or the one that it would take. */
  #slotOf(state: number, unit: number): number {
    const key = ((state << 16) | unit) >>> 0;
    let slot = mixed(key) & this.#slotMask;
    while (this.#targets[slot] !== ROOT && this.#keys[slot] !== key) slot = (slot + 1) & this.#slotMask;
    return slot;
  }
}

function mixed(key: number): number {
  let hash = Math.imul(key ^ SEED, 0x9e3779b1);
  hash = Math.imul(hash ^ (hash >>> 15), 0x85ebca6b);
  return hash ^ (hash >>> 13);
}

/** Indexes of the last texts: many constraints search the same one. */
const indexes = new LRUCache<string, TextIndex>({ max: TEXT_INDEXES_MAX });

/** Steps of V8's search, below which it is faster than an index. */
const PLAIN_STEPS_MAX = 32_768;

/** Readies some of what a search of parts of that length together takes. True when all is ready. */
export function prepareSearch(text: string, partsLength: number): boolean {
  return indexFor(text, partsLength)?.advance() ?? true;
}

/** Whether any of the parts occurs in the text; `partsLength` is that of all of them together. */
export function occursAny(text: string, parts: readonly string[], partsLength: number): boolean {
  const index = indexFor(text, partsLength);
  if (index === null) return parts.some((part) => text.includes(part));
  return parts.some((part) => index.has(part));
}

/** Null where V8's search is as fast. */
function indexFor(text: string, partsLength: number): TextIndex | null {
  if (text.length * partsLength <= PLAIN_STEPS_MAX) return null;
  const known = indexes.get(text);
  if (known !== undefined) return known;
  const index = TextIndex.of(text);
  if (index !== null) indexes.set(text, index);
  return index;
}
