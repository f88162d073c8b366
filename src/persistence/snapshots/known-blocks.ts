/**
 * Blocks whose records have not changed, which a snapshot copies byte for byte from an older one of this process, which had decoded
 * each of them. A block that has changed on disk, or cannot be read any more, is encoded anew.
 */
import assert from 'node:assert/strict';
import { type FileSystem, isMissing, isUnreadable, type OpenFile } from '../disk/file-system.ts';
import { FileWindow } from '../disk/file-window.ts';
import { BLOCK_HEADER_BYTES, BLOCK_KINDS, blockChecksum, readBlockHeader } from './snapshot-format.ts';

/** The place of a block of records, and the checks that identify its bytes. */
export interface BlockPlace {
  /** The snapshot. */
  readonly path: string;
  readonly offset: number;
  /** The bytes of the whole block. */
  readonly bytes: number;
  readonly checksum: number;
  /** Records in it. */
  readonly count: number;
}

/** The blocks of records that are made of these immutable values. */
export interface WrittenBatch {
  readonly parts: readonly object[];
  readonly places: readonly BlockPlace[];
}

/** The blocks of batches in the newest snapshot that this process wrote. */
export class KnownBlocks {
  /** By the first part of each. */
  #batches = new WeakMap<object, WrittenBatch>();

  /** Places of the blocks of this batch, in order; none where they are not known. */
  of(parts: readonly object[]): readonly BlockPlace[] {
    const known = this.#batches.get(parts[0]!);
    if (known === undefined || known.parts.length !== parts.length) return [];
    return known.parts.every((part, at) => part === parts[at]) ? known.places : [];
  }

  /** Replaces all known places by those of a snapshot that was just published. */
  replace(batches: readonly WrittenBatch[]): void {
    this.#batches = new WeakMap(batches.map((batch) => [batch.parts[0]!, batch]));
  }
}

/** Reads blocks of older snapshots; most lie one behind the other in one file, which stays open. */
export class BlockReader {
  readonly #fs: FileSystem;
  #path: string | null = null;
  #file: OpenFile | null = null;
  #window: FileWindow | null = null;

  constructor(fs: FileSystem) {
    this.#fs = fs;
  }

  /** The whole block, until the next one is read; null where it is not there as it was. */
  async read(place: BlockPlace): Promise<Buffer | null> {
    const bytes = await this.#bytesAt(place);
    if (bytes === null) return null;
    const { payloadBytes, checksum, kind, count } = readBlockHeader(bytes);
    const isSame =
      kind === BLOCK_KINDS.records &&
      count === place.count &&
      checksum === place.checksum &&
      payloadBytes === place.bytes - BLOCK_HEADER_BYTES &&
      blockChecksum(bytes) === checksum;
    return isSame ? bytes : null;
  }

  async close(): Promise<void> {
    const file = this.#file;
    this.#path = null;
    this.#file = null;
    this.#window = null;
    await file?.close();
  }

  async #bytesAt({ path, offset, bytes }: BlockPlace): Promise<Buffer | null> {
    try {
      if (path !== this.#path) await this.#open(path);
      const window = this.#window;
      assert(window !== null, 'an open file has a window');
      if (offset + bytes > window.size) return null;
      if (!window.has(offset, bytes)) await window.slide(offset, bytes);
      return window.has(offset, bytes) ? window.at(offset, bytes) : null;
    } catch (error) {
      if (isMissing(error) || isUnreadable(error)) return null;
      throw error;
    }
  }

  async #open(path: string): Promise<void> {
    await this.close();
    const file = await this.#fs.open(path, 'read');
    this.#file = file;
    this.#window = new FileWindow(file, await file.size());
    this.#path = path;
  }
}
