/**
 * The flags of a project: by name, and in the order of their creation on shelves of up to 128. Whoever shows all flags keeps what it
 * made from a shelf, and makes it anew only where a flag on it changed; and gets the shelves as they are at one moment, to work
 * on for as long as it takes.
 *
 * An environment is dropped from all flags at once, in the time that a few of them take: each loses it when it is looked at
 * next, or when the engine comes to it (`settle`). Nobody sees a flag that still has it. All that is behind until then is the memory that
 * is counted for the state.
 *
 * Written only by `apply` (invariant 1), and settled by whoever reads.
 */
import assert from 'node:assert/strict';
import type { Flag } from '../flags/flag.ts';
import type { PackedFlag } from '../flags/packed-flag.ts';
import {
  type DroppedEnvironment,
  type Drops,
  dropCount,
  FlagRecord,
  FlagShelf,
  type NewFlag,
  type NewRecord,
  type ShelfOwner,
  type ShelvedFlags,
} from './flag-record.ts';

/** Few enough to show in less than a millisecond, and few shelves to go through. */
export const SHELF_FLAGS_MAX = 128;

/** Two neighbours with no more flags than these become one, so that deletions leave no rows of nearly empty shelves. */
const JOINED_FLAGS_MAX = SHELF_FLAGS_MAX / 2;

/** The known part of a flag that is not decoded. */
export interface OutlinedFlag extends NewRecord {
  readonly name: string;
  readonly enabledIn: readonly string[] | null;
}

export class ProjectFlags implements ShelfOwner {
  readonly #byName = new Map<string, FlagRecord>();
  readonly #shelves: FlagShelf[] = [];
  #drops: Drops = { before: 0, list: [] };
  /** Records that have yet to be looked at after the last drop. */
  #unsettled: Iterator<FlagRecord> | null = null;
  #activeCount = 0;
  /** By environment: flags that are enabled there and not archived. */
  readonly #enabledCounts = new Map<string, number>();

  get size(): number {
    return this.#byName.size;
  }

  get(name: string): FlagRecord | undefined {
    return this.#byName.get(name);
  }

  has(name: string): boolean {
    return this.#byName.has(name);
  }

  /** Names in the order of creation, as are `values` and the pairs. */
  keys(): IterableIterator<string> {
    return this.#byName.keys();
  }

  values(): IterableIterator<FlagRecord> {
    return this.#byName.values();
  }

  [Symbol.iterator](): IterableIterator<[string, FlagRecord]> {
    return this.#byName[Symbol.iterator]();
  }

  /** All flags as they are now, archived ones included. */
  shelved(): ShelvedFlags[] {
    return this.#shelves.map((shelf) => shelf.now);
  }

  /** Has each shelf say what is on it now, and yields after each, so that `shelved` is quick where little changes in between. */
  *prepareShelved(): Generator<void, void> {
    for (const shelf of this.#shelves) {
      assert(shelf.now.records.length > 0, 'no shelf is empty');
      yield;
    }
  }

  /** Flags that are not archived. */
  get activeCount(): number {
    return this.#activeCount;
  }

  /** Flags that an environment still serves: enabled in it and not archived. */
  enabledCount(environment: string): number {
    return this.#enabledCounts.get(environment) ?? 0;
  }

  get drops(): Drops {
    return this.#drops;
  }

  get dropCount(): number {
    return dropCount(this.#drops);
  }

  add(added: NewFlag): void {
    const { flag } = added;
    this.#add(flag.name, flag, added);
    this.counted(null, flag);
  }

  /**
   * A flag of that name, which is decoded when its record is asked for it. `enabledIn`: the environments in which it is enabled; null
   * for one that is archived.
   */
  addPacked(packed: PackedFlag, outlined: OutlinedFlag): FlagRecord {
    const { name, enabledIn } = outlined;
    if (enabledIn !== null) this.#countEnabled(enabledIn, 1);
    return this.#add(name, packed, outlined);
  }

  /** All flags lose what they have in the environment, in which none is enabled that is not archived. */
  dropEnvironment(dropped: DroppedEnvironment): void {
    const { before, list } = this.#drops;
    this.#drops = { before, list: [...list, dropped] };
    this.#enabledCounts.delete(dropped.environment);
    this.#unsettled = this.#byName.values();
    for (const shelf of this.#shelves) shelf.changed();
  }

  /** Has up to so many flags lose what they have yet to lose; whether all have. */
  settle(countMax: number): boolean {
    if (this.#unsettled === null) return true;
    for (let count = 0; count < countMax; count += 1) {
      const { done, value: record } = this.#unsettled.next();
      if (done === true) {
        this.#unsettled = null;
        this.#drops = { before: this.dropCount, list: [] };
        return true;
      }
      // Looking at it is enough.
      assert(record.revision > 0, 'a flag came with an event');
    }
    return false;
  }

  counted(before: Flag | null, after: Flag | null): void {
    const wasActive = before !== null && before.archivedAt === null;
    const isActive = after !== null && after.archivedAt === null;
    if (wasActive && isActive && before.environments === after.environments) return;
    if (wasActive) this.#countActive(before, -1);
    if (isActive) this.#countActive(after, 1);
  }

  #countActive({ environments }: Flag, change: 1 | -1): void {
    this.#countEnabled(
      environments.filter(({ enabled }) => enabled).map(({ name }) => name),
      change,
    );
  }

  #countEnabled(environments: readonly string[], change: 1 | -1): void {
    this.#activeCount += change;
    for (const name of environments) {
      this.#enabledCounts.set(name, (this.#enabledCounts.get(name) ?? 0) + change);
    }
  }

  delete(name: string): void {
    const record = this.#byName.get(name);
    if (record === undefined) return;
    this.counted(record.flag, null);
    this.#byName.delete(name);
    const { shelf } = record;
    shelf.records.splice(shelf.records.indexOf(record), 1);
    shelf.changed();
    this.#tidy(this.#shelves.indexOf(shelf));
  }

  #add(name: string, kept: Flag | PackedFlag, about: NewRecord): FlagRecord {
    const shelf = this.#shelfWithRoom();
    const record = new FlagRecord(kept, about, shelf);
    this.#byName.set(name, record);
    shelf.records.push(record);
    shelf.changed();
    return record;
  }

  #shelfWithRoom(): FlagShelf {
    const last = this.#shelves.at(-1);
    if (last !== undefined && last.records.length < SHELF_FLAGS_MAX) return last;
    const shelf = new FlagShelf(this);
    this.#shelves.push(shelf);
    return shelf;
  }

  #tidy(at: number): void {
    const shelf = this.#shelves[at]!;
    const next = this.#shelves[at + 1];
    if (shelf.records.length === 0) {
      this.#shelves.splice(at, 1);
    } else if (next !== undefined && shelf.records.length + next.records.length <= JOINED_FLAGS_MAX) {
      for (const record of next.records) record.shelf = shelf;
      shelf.records.push(...next.records);
      this.#shelves.splice(at + 1, 1);
    }
  }
}
