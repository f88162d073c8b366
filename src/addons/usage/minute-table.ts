/**
 * How often each flag was on and off in each environment, in each minute of the last hour. Applications and variants are told
 * apart by the hour only: a period of usage-table.ts for each minute would take sixty times the memory, and these counts take 512 bytes
 * a flag and environment, however often it is evaluated. They are in memory only.
 *
 * The minutes are a ring: a new one clears the oldest. Time comes in as an argument.
 */
import assert from 'node:assert/strict';
import type { FlagCounts } from './reports.ts';

export const MINUTE_MS = 60_000;

/** The running minute, and the 60 before it. */
export const MINUTES_SHOWN = 61;
/** A power of two, of which the shown ones are the newest. */
const RING = 64;
const CELLS = 2 * RING;
const COUNT_MAX = 2 ** 32 - 1;

/** Flags and environments that get their memory together: a small installation takes one block of 128 KiB. */
const BLOCK = 256;
const BLOCK_BYTES = BLOCK * CELLS * Uint32Array.BYTES_PER_ELEMENT;
/** An estimate of V8's memory for an entry of the maps, and its number in `#usedAt` and `#free`. */
const PLACE_BYTES = 80;
const BYTES_EACH = BLOCK_BYTES + BLOCK * PLACE_BYTES;

assert(MINUTES_SHOWN <= RING, 'each minute that is shown has a place');

/** Numbers of the minutes that are shown, the oldest first: yes and no by turns. */
export type MinuteSums = Map<string, Float64Array>;

export class MinuteTable {
  readonly #blocksMax: number;
  readonly #blocks: Uint32Array[] = [];
  /** The place of each flag, by environment. */
  readonly #places = new Map<string, Map<string, number>>();
  /** The minute in which each place was counted in last. */
  readonly #usedAt: number[] = [];
  #free: number[] = [];
  /** Since 1970. */
  #newest = 0;

  constructor({ bytesMax }: { readonly bytesMax: number }) {
    this.#blocksMax = Math.floor(bytesMax / BYTES_EACH);
  }

  /** An estimate of the memory that it takes. */
  get bytes(): number {
    return this.#blocks.length * BYTES_EACH;
  }

  /** `stopMs`: when the span of the report ended, by the clock of the client; as of now if that is not within the last hour. What has no room is not counted. */
  add(environment: string, stopMs: number, counts: readonly FlagCounts[], nowMs: number): void {
    const now = Math.floor(nowMs / MINUTE_MS);
    // Reports that another node took long ago, and that this one reads after a start.
    if (now <= this.#newest - RING) return;
    this.#advance(now);
    const said = Math.floor(stopMs / MINUTE_MS);
    const minute = said <= now && said > now - RING ? said : now;
    if (minute <= this.#newest - RING) return;
    const places = this.#places.get(environment) ?? new Map<string, number>();
    if (places.size === 0 && counts.length > 0) this.#places.set(environment, places);
    for (const { flag, yes, no } of counts) {
      const place = places.get(flag) ?? this.#placeFor(places, flag);
      if (place === null) return;
      this.#usedAt[place] = Math.max(minute, this.#usedAt[place] ?? 0);
      const block = this.#blockOf(place);
      const at = cellOf(place, minute);
      block[at] = Math.min(COUNT_MAX, (block[at] ?? 0) + yes);
      block[at + 1] = Math.min(COUNT_MAX, (block[at + 1] ?? 0) + no);
    }
  }

  /** Adds the minutes up to now of the flags that are wanted to the sums, which are by environment, step by step. */
  *sum(sums: MinuteSums, nowMs: number, isWanted: (flag: string) => boolean): Generator<void, void> {
    for (const [environment, places] of this.#places) {
      for (const [flag, place] of places) {
        yield;
        if (isWanted(flag)) this.#addTo(sums, nowMs, environment, place);
      }
    }
  }

  /** Adds those of one flag, at once. */
  sumOf(sums: MinuteSums, nowMs: number, flag: string): void {
    for (const [environment, places] of this.#places) {
      const place = places.get(flag);
      if (place !== undefined) this.#addTo(sums, nowMs, environment, place);
    }
  }

  #addTo(sums: MinuteSums, nowMs: number, environment: string, place: number): void {
    const oldest = Math.floor(nowMs / MINUTE_MS) - MINUTES_SHOWN + 1;
    // What the ring does not have yet, or no more: minutes after the newest, and a clock that was set back.
    const first = Math.max(oldest, this.#newest - RING + 1);
    const last = Math.min(oldest + MINUTES_SHOWN - 1, this.#newest);
    const sum = sums.get(environment) ?? new Float64Array(2 * MINUTES_SHOWN);
    sums.set(environment, sum);
    const block = this.#blockOf(place);
    for (let minute = first; minute <= last; minute += 1) {
      const from = cellOf(place, minute);
      const to = 2 * (minute - oldest);
      sum[to] = (sum[to] ?? 0) + (block[from] ?? 0);
      sum[to + 1] = (sum[to + 1] ?? 0) + (block[from + 1] ?? 0);
    }
  }

  /** Clears the minutes that begin, and gives away the places of flags that were not evaluated for an hour. */
  #advance(now: number): void {
    const begun = Math.min(RING, now - this.#newest);
    if (begun <= 0) return;
    for (const block of this.#blocks) {
      for (let minute = now - begun + 1; minute <= now; minute += 1) {
        const at = 2 * BLOCK * (minute % RING);
        block.fill(0, at, at + 2 * BLOCK);
      }
    }
    this.#newest = now;
    for (const [environment, places] of this.#places) {
      for (const [flag, place] of places) {
        if ((this.#usedAt[place] ?? 0) > now - RING) continue;
        places.delete(flag);
        this.#free.push(place);
      }
      if (places.size === 0) this.#places.delete(environment);
    }
  }

  #placeFor(places: Map<string, number>, flag: string): number | null {
    if (this.#free.length === 0) {
      if (this.#blocks.length >= this.#blocksMax) return null;
      const begin = BLOCK * this.#blocks.length;
      this.#blocks.push(new Uint32Array(BLOCK * CELLS));
      this.#free = Array.from({ length: BLOCK }, (_, index) => begin + BLOCK - 1 - index);
    }
    const place = this.#free.pop();
    assert(place !== undefined, 'there is a place after one was made');
    this.#usedAt[place] = 0;
    places.set(flag, place);
    return place;
  }

  #blockOf(place: number): Uint32Array {
    const block = this.#blocks[Math.floor(place / BLOCK)];
    assert(block !== undefined, 'a place is in a block');
    return block;
  }
}

/** The counts of one minute lie together, so that they are cleared at once. */
const cellOf = (place: number, minute: number): number => 2 * (BLOCK * (minute % RING) + (place % BLOCK));
