/**
 * Names as small numbers: each distinct string gets the next code, for as long as the table lives.
 * Code 0 is "no name" (`null`), so that a column of codes needs no second column for absence.
 * Codes are never written to a file, and rows that another thread has made are re-coded (part-rows.ts).
 */
import assert from 'node:assert/strict';

/** Protects the u32 columns that hold the codes; memory runs out long before. */
const NAMES_MAX = 0xffff_fffe;

export const NO_NAME = 0;

/**
 * The codes stand in so many maps: one map of a million names that grows holds the event loop for a tenth of a second, and these grow
 * one after the other. A power of two.
 */
const PARTS = 64;

/** The last characters tell names apart that count, and the first ones do not. */
const partOf = (name: string): number =>
  (name.charCodeAt(name.length - 1) + 7 * name.charCodeAt(name.length - 2) + 11 * name.length) & (PARTS - 1);

export class NameTable {
  readonly #codes = Array.from({ length: PARTS }, () => new Map<string, number>());
  readonly #names: (string | null)[] = [null];
  #lastName: string | null = null;
  #lastCode = NO_NAME;
  /** Lower-case names by code. Filled by the first search, since most processes never search every table. */
  readonly #folded: string[] = [''];

  get size(): number {
    return this.#names.length;
  }

  /** The name's code, a new one if the name was never met. */
  codeOf(name: string | null): number {
    if (name === null) return NO_NAME;
    // Neighbouring events mostly share their names, and comparing is faster than looking up.
    if (name !== this.#lastName) {
      const next = this.#lastCode + 1;
      // So is comparing with the name that once came after the last one.
      const isNext = next < this.#names.length && this.#names[next] === name;
      this.#lastCode = isNext ? next : (this.find(name) ?? this.#add(name));
      this.#lastName = name;
    }
    return this.#lastCode;
  }

  /** The name's code, or null when no event carries that name. */
  find(name: string): number | null {
    return this.#codes[partOf(name)]!.get(name) ?? null;
  }

  /** By code; null at first, for no name. */
  all(): readonly (string | null)[] {
    return this.#names;
  }

  /** One byte per code, 1 where the lower-case name contains `folded`. */
  tableOfNamesContaining(folded: string): Uint8Array {
    const table = new Uint8Array(this.size);
    for (let code = 1; code < table.length; code++)
      table[code] = this.#foldedName(code).includes(folded) ? 1 : 0;
    return table;
  }

  #foldedName(code: number): string {
    for (let next = this.#folded.length; next <= code; next++) {
      this.#folded.push((this.#names[next] ?? '').toLowerCase());
    }
    return this.#folded[code] ?? '';
  }

  #add(name: string): number {
    const code = this.#names.length;
    assert(code <= NAMES_MAX, 'the codes of names fit their column');
    this.#names.push(name);
    this.#codes[partOf(name)]!.set(name, code);
    return code;
  }
}
