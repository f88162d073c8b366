/**
 * The flags of a project: by name, and in the order of their creation on shelves of up to 128. Whoever shows all flags keeps what it
 * made from a shelf, and makes it anew only where a flag on it changed; and gets the shelves as they are at one moment, to work
 * on for as long as it takes.
 *
 * Written only by `apply` (invariant 1).
 */
import type { Flag } from '../flags/flag.ts';
import { PackedFlag } from '../flags/packed-flag.ts';
import type { ProjectionHolder } from './flag-projection.ts';

/** Few enough to show in less than a millisecond, and few shelves to go through. */
export const SHELF_FLAGS_MAX = 128;

/** Two neighbours with no more flags than these become one, so that deletions leave no rows of nearly empty shelves. */
const JOINED_FLAGS_MAX = SHELF_FLAGS_MAX / 2;

/** The mutable record of one flag, and of what surfaces keep of the flag as it is now. */
export interface FlagRecord extends ProjectionHolder {
  /** Decoded by whoever looks first, where the flag comes from a snapshot. */
  flag: Flag;
  /** Id of the last event that changed the flag. */
  revision: number;
  /** Id of the user who created the flag, or that of a token or of the server; null where nobody recorded it. */
  readonly createdBy: number | null;
  shelf: FlagShelf;
}

/** The only place that tells decoded flags from others. */
class ShelvedRecord implements FlagRecord {
  projections: ProjectionHolder['projections'] = null;
  revision: number;
  readonly createdBy: number | null;
  shelf: FlagShelf;
  #flag: Flag | null;
  #packed: PackedFlag | null;

  constructor(
    kept: Flag | PackedFlag,
    { revision, createdBy }: Pick<FlagRecord, 'revision' | 'createdBy'>,
    shelf: FlagShelf,
  ) {
    this.revision = revision;
    this.createdBy = createdBy;
    this.shelf = shelf;
    const isPacked = kept instanceof PackedFlag;
    this.#flag = isPacked ? null : kept;
    this.#packed = isPacked ? kept : null;
  }

  get flag(): Flag {
    return this.#flag ?? this.#unpacked();
  }

  set flag(flag: Flag) {
    this.#flag = flag;
    this.#packed = null;
  }

  get kept(): Flag | PackedFlag {
    return this.#flag ?? this.#packed!;
  }

  #unpacked(): Flag {
    this.flag = this.#packed!.flag;
    return this.flag;
  }
}

/** What surfaces keep of a shelf stays when a flag on it changes: most of it can be used again. */
export class FlagShelf implements ProjectionHolder {
  projections: ProjectionHolder['projections'] = null;
  readonly records: ShelvedRecord[] = [];
  #now: ShelvedFlags | null = null;

  /** To be called whenever the records change, or the flag in one of them. */
  changed(): void {
    this.#now = null;
  }

  /** The same object until something changes. */
  get now(): ShelvedFlags {
    this.#now ??= new ShelfNow(this);
    return this.#now;
  }
}

/** A shelf as it is at one moment. Immutable, apart from what the records hold. */
export interface ShelvedFlags {
  readonly shelf: FlagShelf;
  readonly records: readonly FlagRecord[];
  /** Those of the records at that moment. */
  readonly flags: readonly Flag[];
  readonly revisions: readonly number[];
}

class ShelfNow implements ShelvedFlags {
  readonly shelf: FlagShelf;
  readonly records: readonly FlagRecord[];
  readonly revisions: readonly number[];
  readonly #kept: readonly (Flag | PackedFlag)[];
  #flags: readonly Flag[] | null = null;

  constructor(shelf: FlagShelf) {
    this.shelf = shelf;
    this.records = [...shelf.records];
    this.revisions = shelf.records.map(({ revision }) => revision);
    this.#kept = shelf.records.map(({ kept }) => kept);
  }

  get flags(): readonly Flag[] {
    this.#flags ??= this.#kept.every((kept): kept is Flag => !(kept instanceof PackedFlag))
      ? this.#kept
      : this.#kept.map((kept) => (kept instanceof PackedFlag ? kept.flag : kept));
    return this.#flags;
  }
}

export interface NamedRecord extends Pick<FlagRecord, 'revision' | 'createdBy'> {
  readonly name: string;
}

export class ProjectFlags {
  readonly #byName = new Map<string, ShelvedRecord>();
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

  add({ flag, ...about }: Pick<FlagRecord, 'flag' | 'revision' | 'createdBy'>): void {
    this.#add(flag.name, flag, about);
  }

  /** A flag of that name, which is decoded when its record is asked for it. */
  addPacked(packed: PackedFlag, { name, ...about }: NamedRecord): FlagRecord {
    return this.#add(name, packed, about);
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

  #add(name: string, kept: Flag | PackedFlag, about: Pick<FlagRecord, 'revision' | 'createdBy'>): FlagRecord {
    const shelf = this.#shelfWithRoom();
    const record = new ShelvedRecord(kept, about, shelf);
    this.#byName.set(name, record);
    shelf.records.push(record);
    shelf.changed();
    return record;
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
