/** Equal parts of what is read from disk become one: by all states that this process loads, of which a server has one. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import type { Flag } from '../../domain/flags/flag.ts';
import { jsonSize } from '../../domain/json/json.ts';
import type { RecordedEvent } from '../../domain/state/events.ts';

// Shares equal large parts of flags. A flag and its clone share their constraints, parameters and variants while the server
// runs; read from disk, each has a copy of its own, and a state with many clones would take many times the memory. Parts are
// immutable once they are in the state, so nobody can tell.
//
// This saves memory and promises none: the memory budget counts the state as if nothing were shared.

const SHARED_FIELDS: ReadonlySet<string> = new Set(['constraints', 'parameters', 'variants']);

/** Bytes as JSON. Smaller parts are not worth the hash. */
export const PART_SIZE_MIN = 4 * 1024;

/** Protects memory from parts that do not repeat: the first ones seen are shared, later ones are not. */
const PARTS_MAX = 10_000;

export class SharedParts {
  /** By hash. Holds on to no part that has left the state. */
  readonly #parts = new Map<string, WeakRef<object>>();

  /** Replaces parts by shared ones in an object that was just decoded and that nobody else refers to. */
  shareIn(value: unknown): void {
    if (typeof value !== 'object' || value === null) return;
    const parts = value as Record<string, unknown>;
    for (const key of Object.keys(parts)) {
      const part = parts[key];
      if (typeof part !== 'object' || part === null) continue;
      if (SHARED_FIELDS.has(key)) parts[key] = this.#shared(part);
      else this.shareIn(part);
    }
  }

  #shared(part: object): object {
    if (jsonSize(part) < PART_SIZE_MIN) return part;
    const hash = createHash('sha256').update(JSON.stringify(part)).digest('base64');
    const known = this.#parts.get(hash)?.deref();
    if (known !== undefined) return known;
    if (this.#parts.size < PARTS_MAX || this.#parts.has(hash)) this.#parts.set(hash, new WeakRef(part));
    assert(this.#parts.size <= PARTS_MAX, 'parts that do not repeat take bounded memory');
    return part;
  }
}

// Shares equal short strings. A decoded state has a separate string for each `flexibleRollout`, `default` or country
// code of each strategy; sharing them saves an eighth of a flag's memory.

/** Longer strings are mostly ids and times, which do not repeat. */
const LENGTH_MAX = 23;

/** Protects memory from strings that do not repeat after all: the first ones seen are shared, later ones are not. */
const STRINGS_MAX = 10_000;

export class SharedStrings {
  readonly #strings = new Map<string, string>();

  /** Replaces strings by shared ones in an object that was just decoded and that nobody else refers to. */
  shareIn(value: unknown): void {
    if (typeof value !== 'object' || value === null) return;
    const parts = value as Record<string, unknown>;
    for (const key of Object.keys(parts)) {
      const part = parts[key];
      if (typeof part === 'string') parts[key] = this.#shared(part);
      else this.shareIn(part);
    }
  }

  #shared(text: string): string {
    if (text.length > LENGTH_MAX) return text;
    const known = this.#strings.get(text);
    if (known !== undefined) return known;
    if (this.#strings.size < STRINGS_MAX) this.#strings.set(text, text);
    assert(this.#strings.size <= STRINGS_MAX, 'strings that do not repeat take bounded memory');
    return text;
  }
}

const strings = new SharedStrings();
const parts = new SharedParts();

/** To be called with a flag that was just decoded, and that nobody else refers to. */
export function shareInFlag({ environments }: Flag): void {
  strings.shareIn(environments);
  parts.shareIn(environments);
}

/** To be called with the events of a frame before they are applied. */
export function shareInEvents(events: readonly RecordedEvent[]): void {
  for (const { data, hidden } of events) {
    parts.shareIn(data);
    parts.shareIn(hidden);
  }
}
