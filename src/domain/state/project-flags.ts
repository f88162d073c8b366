/**
 * The flags of a project: by name, and in the order of their creation on shelves of up to 128. Whoever shows all flags keeps what it
 * made from a shelf, and makes it anew only where a flag on it changed; and gets the shelves as they are at one moment, to work
 * on for as long as it takes.
 *
 * Written only by `apply` (invariant 1).
 */
import type { Flag } from '../flags/flag.ts';
import type { ProjectionHolder } from './flag-projection.ts';

/** Few enough to show in less than a millisecond, and few shelves to go through. */
export const SHELF_FLAGS_MAX = 128;

/** Two neighbours with no more flags than these become one, so that deletions leave no rows of nearly empty shelves. */
const JOINED_FLAGS_MAX = SHELF_FLAGS_MAX / 2;

/** The mutable record of one flag, and of what surfaces keep of the flag as it is now. */
export interface FlagRecord extends ProjectionHolder {
  flag: Flag;
  /** Id of the last event that changed the flag. */
  revision: number;
  /** Id of the user who created the flag, or that of a token or of the server; null where nobody recorded it. */
  readonly createdBy: number | null;
  shelf: FlagShelf;
}

/** What surfaces keep of a shelf stays when a flag on it changes: most of it can be used again. */
export class FlagShelf implements ProjectionHolder {
  projections: ProjectionHolder['projections'] = null;
  readonly records: FlagRecord[] = [];
  #now: ShelvedFlags | null = null;

  /** To be called whenever the records change, or the flag in one of them. */
  changed(): void {
    this.#now = null;
  }

  /** The same object until something changes. */
  get now(): ShelvedFlags {
    this.#now ??= {
      shelf: this,
      records: [...this.records],
      flags: this.records.map((record) => record.flag),
    };
    return this.#now;
  }
}

/** A shelf as it is at one moment. Immutable, apart from what the records hold. */
export interface ShelvedFlags {
  readonly shelf: FlagShelf;
  readonly records: readonly FlagRecord[];
  /** Those of the records at that moment. */
  readonly flags: readonly Flag[];
}

export class ProjectFlags {
  readonly #byName = new Map<string, FlagRecord>();
  readonly #shelves: FlagShelf[] = [];

  get size(): number {
    return this.#byName.size;
  }

  get(name: string): FlagRecord | undefined {
    return this.#byName.get(name);
  }

  has(name: string): boolean {
    return this.#byName.has(name);
  }

  /** In the order of creation, as are `values` and the pairs. */
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

  add({ flag, revision, createdBy }: Pick<FlagRecord, 'flag' | 'revision' | 'createdBy'>): void {
    const shelf = this.#shelfWithRoom();
    const record: FlagRecord = { flag, revision, createdBy, projections: null, shelf };
    this.#byName.set(flag.name, record);
    shelf.records.push(record);
    shelf.changed();
  }

  delete(name: string): void {
    const record = this.#byName.get(name);
    if (record === undefined) return;
    this.#byName.delete(name);
    const { shelf } = record;
    shelf.records.splice(shelf.records.indexOf(record), 1);
    shelf.changed();
    this.#tidy(this.#shelves.indexOf(shelf));
  }

  #shelfWithRoom(): FlagShelf {
    const last = this.#shelves.at(-1);
    if (last !== undefined && last.records.length < SHELF_FLAGS_MAX) return last;
    const shelf = new FlagShelf();
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
