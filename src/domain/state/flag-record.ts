/**
 * The record of a flag, on a shelf with its neighbours; and a shelf as it is at one moment. Only here is known that a flag may have
 * yet to lose an environment (project-flags.ts), which is done when anybody looks.
 */
import assert from 'node:assert/strict';
import { type Flag, withoutEnvironment } from '../flags/flag.ts';
import { addSwap, isRecording, isRestored, unrecorded } from './reversible.ts';
import type { StateMemory } from './state-memory.ts';

/** An environment that the flags lose. */
export interface DroppedEnvironment {
  readonly environment: string;
  /** Id of the event. */
  readonly revision: number;
  readonly memory: StateMemory;
}

/** Drops that some flags have yet to follow, in their order. `before`: how many there were before them. */
export interface Drops {
  readonly before: number;
  readonly list: readonly DroppedEnvironment[];
}

export const dropCount = ({ before, list }: Drops): number => before + list.length;

/** The project that holds a shelf, as records need it. */
export interface ShelfOwner {
  readonly drops: Drops;
  /** How many environments were dropped so far. */
  readonly dropCount: number;
  /** To be called with each flag that comes, changes or goes. */
  counted(before: Flag | null, after: Flag | null): void;
}

/** The initial values of a flag's record. */
export type NewFlag = Pick<FlagRecord, 'flag' | 'revision' | 'createdBy' | 'bytes'>;

/**
 * The most bytes of JSON for a byte of memory: a character of one byte is written as six, inside a parameter that is a list or an
 * object as seven.
 */
const JSON_PER_MEMORY_MAX = 8;

/** The mutable record of one flag, and of what surfaces keep of the flag as it is now. */
export class FlagRecord implements ProjectionHolder {
  /** Id of the user who created the flag, or that of a token or of the server; null where nobody recorded it. */
  readonly createdBy: number | null;
  shelf: FlagShelf;
  #flag: Flag;
  #revision: number;
  #bytes: number;
  #projections: ProjectionHolder['projections'] = null;
  /** How many environments were dropped before the flag came, or was looked at last. */
  #dropsSeen: number;

  constructor({ flag, revision, createdBy, bytes }: NewFlag, shelf: FlagShelf) {
    this.#flag = flag;
    this.#revision = revision;
    this.#bytes = bytes;
    this.createdBy = createdBy;
    this.shelf = shelf;
    this.#dropsSeen = shelf.of.dropCount;
  }

  get flag(): Flag {
    if (this.#dropsSeen !== this.shelf.of.dropCount) this.#settle();
    return this.#flag;
  }

  /** Id of the last event that changed the flag. */
  get revision(): number {
    if (this.#dropsSeen !== this.shelf.of.dropCount) this.#settle();
    return this.#revision;
  }

  get projections(): ProjectionHolder['projections'] {
    if (this.#dropsSeen !== this.shelf.of.dropCount) this.#settle();
    return this.#projections;
  }

  set projections(projections: ProjectionHolder['projections']) {
    this.#projections = projections;
  }

  /** The flag's share of the memory of the state. */
  get bytes(): number {
    if (this.#dropsSeen !== this.shelf.of.dropCount) this.#settle();
    return this.#bytes;
  }

  /** No fewer bytes than the flag or any part of it takes as JSON, known without measuring it. */
  get jsonBytesMax(): number {
    return this.bytes * JSON_PER_MEMORY_MAX;
  }

  /** Replaces the flag, and drops what was kept of the old one. `growth`: in bytes of memory. */
  replace({ flag, revision, growth }: Pick<FlagRecord, 'flag' | 'revision'> & { growth: number }): void {
    assert(this.#dropsSeen === this.shelf.of.dropCount, 'a flag that is replaced has nothing left to lose');
    this.shelf.of.counted(this.#flag, flag);
    this.#keep();
    this.#flag = flag;
    this.#revision = revision;
    this.#bytes += growth;
    this.#projections = null;
    this.shelf.changed();
  }

  // Values of a record for shelves as they are at one moment, for all readers.

  static kept(record: FlagRecord): Flag {
    return record.#flag;
  }

  static keptRevision(record: FlagRecord): number {
    return record.#revision;
  }

  static dropsSeen(record: FlagRecord): number {
    return record.#dropsSeen;
  }

  #keep(): void {
    if (!isRecording()) return;
    const other = this.#values;
    addSwap(() => {
      const { flag, revision, bytes, projections, dropsSeen } = other;
      Object.assign(other, this.#values);
      this.#flag = flag;
      this.#revision = revision;
      this.#bytes = bytes;
      this.#projections = projections;
      this.#dropsSeen = dropsSeen;
    });
  }

  get #values() {
    return {
      flag: this.#flag,
      revision: this.#revision,
      bytes: this.#bytes,
      projections: this.#projections,
      dropsSeen: this.#dropsSeen,
    };
  }

  /** Part of a change only where the change itself dropped the environment: else anybody may settle a flag at any time. */
  #settle(): void {
    if (isRestored(this.shelf.of)) this.#follow();
    else unrecorded(() => this.#follow());
  }

  #follow(): void {
    const { drops } = this.shelf.of;
    const before = this.#flag;
    this.#keep();
    let flag = before;
    for (const { environment, revision, memory } of drops.list.slice(this.#dropsSeen - drops.before)) {
      const left = withoutEnvironment(flag, environment);
      if (left === flag) continue;
      this.#bytes += memory.replace(flag.environments, left.environments);
      this.#revision = revision;
      flag = left;
    }
    this.#dropsSeen = dropCount(drops);
    if (flag === before) return;
    this.#flag = flag;
    this.#projections = null;
    this.shelf.changed();
  }
}

/**
 * A shelf of neighbouring flags. The values that surfaces derive from it stay when a flag on it changes, because most of each can
 * be used again.
 */
export class FlagShelf implements ProjectionHolder {
  projections: ProjectionHolder['projections'] = null;
  readonly records: FlagRecord[] = [];
  readonly of: ShelfOwner;
  #now: ShelvedFlags | null = null;

  constructor(of: ShelfOwner) {
    this.of = of;
  }

  /** To be called whenever the records change, or the flag in one of them. */
  changed(): void {
    if (isRecording()) {
      let other = this.#now;
      addSwap(() => {
        const now = this.#now;
        this.#now = other;
        other = now;
      });
    }
    this.#now = null;
  }

  /** The same object until something changes. */
  get now(): ShelvedFlags {
    this.#now ??= new ShelvedFlags(this);
    return this.#now;
  }
}

/** A shelf as it is at one moment. Immutable, apart from what the records hold. */
export class ShelvedFlags {
  readonly shelf: FlagShelf;
  readonly records: readonly FlagRecord[];
  readonly #kept: readonly Flag[];
  readonly #keptRevisions: readonly number[];
  readonly #drops: Drops;
  /** Null where no record has anything left to lose. */
  readonly #dropsSeen: readonly number[] | null;
  #flags: readonly Flag[] | null = null;
  #revisions: readonly number[] | null = null;

  constructor(shelf: FlagShelf) {
    this.shelf = shelf;
    this.records = [...shelf.records];
    this.#kept = this.records.map(FlagRecord.kept);
    this.#keptRevisions = this.records.map(FlagRecord.keptRevision);
    this.#drops = shelf.of.drops;
    this.#dropsSeen = this.#drops.list.length === 0 ? null : this.records.map(FlagRecord.dropsSeen);
  }

  /** The flags of the records at that moment. */
  get flags(): readonly Flag[] {
    this.#flags ??= this.#kept.map((_, at) => this.flagAt(at));
    return this.#flags;
  }

  /** The revisions of the flags. */
  get revisions(): readonly number[] {
    this.#revisions ??=
      this.#dropsSeen === null ? this.#keptRevisions : this.#kept.map((_, at) => this.revisionAt(at));
    return this.#revisions;
  }

  /** One of them, without a look at the others. */
  flagAt(at: number): Flag {
    const [record, kept] = [this.records[at]!, this.#kept[at]!];
    const missing = this.#missingAt(at);
    if (missing.length === 0) return kept;
    // As long as nothing else has happened, the record keeps what is made of it here.
    if (this.shelf.of.drops === this.#drops && FlagRecord.kept(record) === kept) return record.flag;
    return missing.reduce((flag, { environment }) => withoutEnvironment(flag, environment), kept);
  }

  revisionAt(at: number): number {
    let revision = this.#keptRevisions[at]!;
    const missing = this.#missingAt(at);
    if (missing.length === 0) return revision;
    let flag = this.#kept[at]!;
    for (const dropped of missing) {
      const left = withoutEnvironment(flag, dropped.environment);
      if (left !== flag) revision = dropped.revision;
      flag = left;
    }
    return revision;
  }

  #missingAt(at: number): readonly DroppedEnvironment[] {
    if (this.#dropsSeen === null) return NONE;
    const { before, list } = this.#drops;
    return list.slice(this.#dropsSeen[at]! - before);
  }
}

const NONE: readonly DroppedEnvironment[] = [];

// Values that a surface derives from each flag, such as its bytes in a response: made once per change, and gone with
// the next one, because `apply` replaces the flag and drops those of the old one.
//
// One instance for each surface, or for each environment of a surface whose responses depend on the environment. The
// values hang on the flag's record as a short list. A WeakMap from flags to values would leave the record alone, but
// reading one out of 100,000 flags took four times as long, and each full garbage collection 50 ms longer.

/** A flag's record. `apply` sets `projections` to null whenever it replaces the flag. */
interface ProjectionHolder {
  projections: KeptProjection | null;
}

/** One value in the list. */
interface KeptProjection {
  readonly of: FlagProjection<unknown>;
  value: unknown;
  readonly next: KeptProjection | null;
}

export class FlagProjection<T> {
  /** The value derived from the current flag; undefined without one. */
  get(record: ProjectionHolder): T | undefined {
    // Only `set` of this very instance makes an entry with it, so the value is a T.
    return entryOf(record, this)?.value as T | undefined;
  }

  set(record: ProjectionHolder, value: T): void {
    const entry = entryOf(record, this);
    if (entry === null) record.projections = { of: this, value, next: record.projections };
    else entry.value = value;
  }

  drop(record: ProjectionHolder): void {
    const entry = entryOf(record, this);
    if (entry !== null) entry.value = undefined;
  }
}

function entryOf(record: ProjectionHolder, projection: FlagProjection<unknown>): KeptProjection | null {
  let entry = record.projections;
  while (entry !== null && entry.of !== projection) entry = entry.next;
  return entry;
}
