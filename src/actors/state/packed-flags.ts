/**
 * The flags that a start leaves undecoded: put into the state by their outlines, decoded when first read, and all the
 * others in the background (`sweep`). Readers of a record cannot tell.
 *
 * The snapshot was decoded before it got its name, so a flag that does not decode now, or is not that of its outline, is a
 * fault of this build or a forged file. It is reported once, and its reader gets an error: the server then
 * sets the snapshot aside and ends, and the next start uses an older one (store.ts). Nothing was decided on that flag.
 */
import assert from 'node:assert/strict';
import { type Flag, withoutEnvironment } from '../../domain/flags/flag.ts';
import { type FlagSource, PackedFlag, type Unpacked } from '../../domain/flags/packed-flag.ts';
import { DECODED_AT_ONCE, type FlagRecord } from '../../domain/state/flag-record.ts';
import { useWithout } from '../../domain/state/references.ts';
import type { World } from '../../domain/state/world.ts';
import type { KnownBlocks } from '../../persistence/snapshots/known-blocks.ts';
import type { BlockPlace, OutlinedBlock, PackedRecords } from '../../persistence/snapshots/packed-records.ts';
import {
  type FlagOutline,
  FlagOutlines,
  type FlagSnapshotRecord,
  isSameRecord,
  outlineOf,
} from './flag-outlines.ts';
import { shareInFlag } from './shared-values.ts';

/** A flag of the snapshot that the server started from cannot be decoded. */
export class UndecodableFlagError extends Error {
  override readonly name = 'UndecodableFlagError';
}

/** Whether `run` met no flag that cannot be decoded. The store is told of one, and stops: nobody waits for what runs in the background. */
export function decodesAll(run: () => void): boolean {
  try {
    run();
    return true;
  } catch (error) {
    if (error instanceof UndecodableFlagError) return false;
    throw error;
  }
}

export class PackedFlags {
  readonly #world: World;
  /** Records that may still be undecoded, in the order of the snapshot. */
  #records: FlagRecord[] = [];
  #fault: UndecodableFlagError | null = null;
  /** Their places in the snapshot. */
  readonly known = new KnownFlags();
  /** Told once of the first flag that does not decode. */
  onFault: (error: UndecodableFlagError) => void = () => undefined;

  constructor(world: World) {
    this.#world = world;
  }

  get fault(): UndecodableFlagError | null {
    return this.#fault;
  }

  /** Takes a block of the section `flags`; false when its outline says too little, so that the flags have to be decoded. */
  take(taken: OutlinedBlock): boolean {
    const { records: packed, place } = taken;
    const outlines = FlagOutlines.of(taken.outline(), packed.count);
    if (outlines === null) return false;
    const share = new DecodedShare(packed.count);
    const block = new PackedBlock(this.#world, { outlines, packed, share }, (error) => this.#failed(error));
    const firstAt = this.#records.length;
    for (let at = 0; at < packed.count; at += 1) {
      this.#records.push(addPacked(this.#world, outlines.at(at), new PackedFlag(block, at)));
    }
    let counted = 0;
    for (const { project, references, count } of outlines.uses()) {
      this.#world.references.addAll(project, references, count);
      counted += count;
    }
    assert(counted === packed.count, 'the references of each flag are counted once');
    const first = this.#records[firstAt];
    this.known.loaded(first?.shelf.records[0] === first ? (first?.shelf ?? null) : null, place, share);
    return true;
  }

  forget(): void {
    this.#records = [];
    this.known.forget();
  }

  /**
   * Decodes what nobody has looked at, a few flags at a time. `goOn` is awaited in between; once it gives false, the sweep is
   * over. The memory of the bytes is given back in the pieces in which a start takes it (persistence/disk/file-window.ts).
   */
  async sweep(goOn: () => Promise<boolean>): Promise<void> {
    const records = this.#records.reverse();
    this.#records = [];
    while (records.length > 0 && this.#fault === null && (await goOn())) {
      decodesAll(() => {
        for (const { flag } of records.splice(-DECODED_AT_ONCE))
          assert(flag.name.length > 0, 'a flag has a name');
      });
    }
  }

  #failed(error: UndecodableFlagError): void {
    if (this.#fault !== null) return;
    this.#fault = error;
    this.onFault(error);
  }
}

function addPacked(world: World, outline: FlagOutline, packed: PackedFlag): FlagRecord {
  const { flagProjects } = world.directory;
  const project = world.projects.get(outline.project);
  if (project === undefined) throw new Error(`the snapshot has the flag ${outline.name} of no project`);
  const countBefore = flagProjects.size;
  flagProjects.set(outline.name, project.settings.id);
  assert(flagProjects.size > countBefore, 'a flag is recorded once');
  world.memory.add(outline.bytes);
  return project.flags.addPacked(packed, outline);
}

interface PackedBlockParts {
  readonly outlines: FlagOutlines;
  readonly packed: PackedRecords;
  readonly share: DecodedShare;
}

class PackedBlock implements FlagSource {
  readonly #world: World;
  readonly #outlines: FlagOutlines;
  readonly #packed: PackedRecords;
  readonly #share: DecodedShare;
  readonly #onFault: (error: UndecodableFlagError) => void;

  constructor(
    world: World,
    { outlines, packed, share }: PackedBlockParts,
    onFault: (error: UndecodableFlagError) => void,
  ) {
    this.#world = world;
    this.#outlines = outlines;
    this.#packed = packed;
    this.#share = share;
    this.#onFault = onFault;
  }

  unpack(at: number): Unpacked {
    const outlined = this.#outlines.at(at);
    try {
      return this.#decoded(at, outlined);
    } catch (cause) {
      const message = `The flag ${outlined.name} of the project ${outlined.project} cannot be decoded`;
      const error = new UndecodableFlagError(message, { cause });
      this.#onFault(error);
      throw error;
    }
  }

  #decoded(at: number, outlined: FlagOutline): Unpacked {
    const record = this.#packed.unpack(at) as FlagSnapshotRecord;
    const { flag } = record;
    const outline = outlineOf(record);
    assert(isSameRecord(outline, outlined), 'a flag is that of its outline');
    this.#share.decoded(this.#correct(outlined, outline));
    shareInFlag(flag);
    this.#world.served.replace(null, this.#leftOf(flag));
    return { flag, growth: outline.bytes - outlined.bytes };
  }

  /** The flag without what its project has lost since the snapshot, of which the flag has yet to be told. */
  #leftOf(flag: Flag): Flag {
    const { drops } = this.#world.projects.get(flag.project)!.flags;
    return drops.list.reduce((left, { environment }) => withoutEnvironment(left, environment), flag);
  }

  /** Counts anew the values derived from a flag, and returns whether the build that wrote the snapshot counted them alike. */
  #correct(before: FlagOutline, after: FlagOutline): boolean {
    const { memory, references } = this.#world;
    memory.add(after.bytes - before.bytes);
    if (before.references.join() === after.references.join()) return before.bytes === after.bytes;
    const { drops } = this.#world.projects.get(after.project)!.flags;
    // Of none of them the flag has been told: it was not decoded.
    const dropped = new Set(drops.list.map(({ environment }) => environment));
    const left = (uses: readonly string[]): string[] =>
      uses.map((use) => useWithout(use, dropped)).filter((use) => use !== null);
    references.addAll(after.project, left(before.references), -1);
    references.addAll(after.project, left(after.references), 1);
    return false;
  }
}

// Places of flags in the newest snapshot, so that the next one can take over the blocks in which no flag has changed. Of a
// snapshot that this process has written, all blocks are known, since it has decoded them; of the one that it started from,
// those in which every flag has been decoded since and agrees with its outline, also in the values derived from it.
//
// The flags of a block are read from its outline. A flag has not changed as long as its revision has not: each change gives
// it the revision of its event.

/** How much of a block that a start left undecoded has been decoded since. */
class DecodedShare {
  #left: number;
  #isExact = true;

  constructor(count: number) {
    this.#left = count;
  }

  /** `isExact`: whether the outline says of the flag what this build would write. */
  decoded(isExact: boolean): void {
    this.#left -= 1;
    assert(this.#left >= 0, 'each flag of a block is decoded once');
    this.#isExact &&= isExact;
  }

  get isWhole(): boolean {
    return this.#left === 0 && this.#isExact;
  }
}

/** The blocks of one batch, in order. */
type Loaded = { readonly place: BlockPlace; readonly share: DecodedShare }[];

class KnownFlags implements KnownBlocks {
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
