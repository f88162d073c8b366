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
import {
  type DroppedEnvironment,
  type Drops,
  dropCount,
  FlagRecord,
  FlagShelf,
  type NewFlag,
  type ShelfOwner,
  type ShelvedFlags,
} from './flag-record.ts';
import { addPair, addStep, isFirstRestored, isRecording, refill, unrecorded } from './reversible.ts';

/** Few enough to show in less than a millisecond, and few shelves to go through. */
export const SHELF_FLAGS_MAX = 128;

/** Two neighbours with no more flags than these become one, so that deletions leave no rows of nearly empty shelves. */
const JOINED_FLAGS_MAX = SHELF_FLAGS_MAX / 2;

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
    this.#add(flag.name, added);
    this.counted(null, flag);
  }

  /** All flags lose what they have in the environment, in which none is enabled that is not archived. */
  dropEnvironment(dropped: DroppedEnvironment): void {
    // What is undone must have been dropped by this change alone.
    if (isRecording()) unrecorded(() => this.settle(Number.POSITIVE_INFINITY));
    const before = this.#drops;
    const after = { before: before.before, list: [...before.list, dropped] };
    const count = this.#enabledCounts.get(dropped.environment);
    const drop = (): void => {
      this.#drops = after;
      this.#enabledCounts.delete(dropped.environment);
      this.#unsettled = this.#byName.values();
    };
    isFirstRestored(this);
    addStep({
      undo: () => {
        this.#drops = before;
        if (count !== undefined) this.#enabledCounts.set(dropped.environment, count);
        this.#unsettled = null;
      },
      redo: drop,
    });
    drop();
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
    this.#changeCounts(environments, change);
    if (!isRecording()) return;
    addPair(
      () => this.#changeCounts(environments, -change),
      () => this.#changeCounts(environments, change),
    );
  }

  #changeCounts(environments: readonly string[], change: number): void {
    this.#activeCount += change;
    for (const name of environments) {
      this.#enabledCounts.set(name, (this.#enabledCounts.get(name) ?? 0) + change);
    }
  }

  delete(name: string): void {
    const record = this.#byName.get(name);
    if (record === undefined) return;
    this.counted(record.flag, null);
    if (isRecording()) this.#keepPlaceOf(record);
    const { shelf } = record;
    shelf.changed();
    this.#remove(name, record);
  }

  #remove(name: string, record: FlagRecord): void {
    this.#byName.delete(name);
    const { shelf } = record;
    shelf.records.splice(shelf.records.indexOf(record), 1);
    this.#tidy(this.#shelves.indexOf(shelf));
  }

  /** The order of names is that on the shelves, which are put back one by one, the last one first. */
  #keepPlaceOf(record: FlagRecord): void {
    if (isFirstRestored(this.#byName)) {
      const undo = (): void => {
        const names = new Map(Array.from(this.#byName, ([one, of]) => [of, one]));
        const records = this.#shelves.flatMap((shelf) => shelf.records);
        refill(
          this.#byName,
          Array.from(records, (one) => [names.get(one)!, one] as const),
        );
      };
      addStep({ undo, redo: () => undefined });
    }
    const { shelf } = record;
    const { name } = record.flag;
    const shelves = [...this.#shelves];
    const next = shelves[shelves.indexOf(shelf) + 1];
    const contents = [shelf, ...(next === undefined ? [] : [next])].map(
      (one) => [one, [...one.records]] as const,
    );
    const undo = (): void => {
      this.#byName.set(name, record);
      this.#shelves.splice(0, Number.POSITIVE_INFINITY, ...shelves);
      for (const [one, records] of contents) {
        one.records.splice(0, Number.POSITIVE_INFINITY, ...records);
        for (const each of records) each.shelf = one;
      }
    };
    addStep({ undo, redo: () => this.#remove(name, record) });
  }

  #add(name: string, added: NewFlag): void {
    const shelf = this.#shelfWithRoom();
    const record = new FlagRecord(added, shelf);
    shelf.changed();
    this.#place(name, record);
    if (isRecording()) {
      const undo = (): void => {
        this.#byName.delete(name);
        assert(shelf.records.pop() === record, 'a flag that was added last stands last');
        if (shelf.records.length === 0) this.#shelves.pop();
      };
      addStep({ undo, redo: () => this.#place(name, record) });
    }
  }

  #place(name: string, record: FlagRecord): void {
    const { shelf } = record;
    if (shelf.records.length === 0) this.#shelves.push(shelf);
    this.#byName.set(name, record);
    shelf.records.push(record);
  }

  #shelfWithRoom(): FlagShelf {
    const last = this.#shelves.at(-1);
    if (last !== undefined && last.records.length < SHELF_FLAGS_MAX) return last;
    return new FlagShelf(this);
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
