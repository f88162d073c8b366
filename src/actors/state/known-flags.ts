/**
 * Places of flags in the newest snapshot, so that the next one can take over the blocks in which no flag has changed. Of a
 * snapshot that this process has written, all blocks are known, since it has decoded them; of the one that it started from,
 * those in which every flag has been decoded since and agrees with its outline, also in the values derived from it.
 *
 * The flags of a block are read from its outline. A flag has not changed as long as its revision has not: each change gives
 * it the revision of its event.
 */
import type { KnownBlocks } from '../../persistence/snapshots/known-blocks.ts';
import type { BlockPlace } from '../../persistence/snapshots/packed-records.ts';
import { FlagOutlines, type FlagSnapshotRecord } from './flag-outlines.ts';

/** How much of a block that a start left undecoded has been decoded since. */
export class DecodedShare {
  #left: number;
  #isExact = true;

  constructor(count: number) {
    this.#left = count;
  }

  /** `isExact`: whether the outline says of the flag what this build would write. */
  decoded(isExact: boolean): void {
    this.#left -= 1;
    this.#isExact &&= isExact;
  }

  get isWhole(): boolean {
    return this.#left === 0 && this.#isExact;
  }
}

/** The blocks of one batch, in order. */
type Loaded = { readonly place: BlockPlace; readonly share: DecodedShare }[];

export class KnownFlags implements KnownBlocks {
  /** By the first shelf of each batch. */
  #written = new WeakMap<object, readonly BlockPlace[]>();
  #loaded = new WeakMap<object, Loaded>();
  /** Blocks of the shelf that was loaded last. */
  #last: Loaded = [];

  /** To be called with each block in the order of the snapshot. `shelf`: the one that its first flag begins; null where it begins none. */
  loaded(shelf: object | null, place: BlockPlace, share: DecodedShare): void {
    if (shelf !== null) {
      this.#last = [];
      this.#loaded.set(shelf, this.#last);
    }
    this.#last.push({ place, share });
  }

  of(key: object): readonly BlockPlace[] {
    const written = this.#written.get(key);
    if (written !== undefined) return written;
    const blocks = this.#loaded.get(key) ?? [];
    return blocks.every(({ share }) => share.isWhole) ? blocks.map(({ place }) => place) : [];
  }

  isOf(outline: unknown, records: readonly unknown[]): boolean {
    const flags = records as readonly FlagSnapshotRecord[];
    return FlagOutlines.of(outline, flags.length)?.areOf(flags) === true;
  }

  replace(blocks: ReadonlyMap<object, readonly BlockPlace[]>): void {
    this.#written = new WeakMap(blocks);
    this.#loaded = new WeakMap();
    this.#last = [];
  }

  /** Drops all places: the blocks that were loaded are of no use. */
  forget(): void {
    this.replace(new Map());
  }
}
