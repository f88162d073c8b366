/**
 * Blocks whose records have not changed, which a snapshot copies byte for byte from an older one. The caller guarantees that this
 * process has decoded every record in them, and that each outline is that of its records; so every byte of a snapshot was
 * decoded once. A block that has changed on disk, or cannot be read any more, is encoded anew.
 */
import assert from 'node:assert/strict';
import { type FileSystem, isMissing, isUnreadable, type OpenFile } from '../disk/file-system.ts';
import { FileWindow } from '../disk/file-window.ts';
import { type BlockPlace, OutlinedBlock } from './packed-records.ts';
import { BLOCK_HEADER_BYTES, BLOCK_KINDS, blockChecksum, readBlockHeader } from './snapshot-format.ts';

export interface KnownBlocks {
  /** Places of the blocks that held the records of this batch, in order; none where they are not known, or not all of them were decoded. */
  of(key: object): readonly BlockPlace[];
  /** Whether the outline is that of these records, in the versions that they are of now. */
  isOf(outline: unknown, records: readonly unknown[]): boolean;
  /** Replaces all known places by those of a snapshot that was just published. */
  replace(blocks: ReadonlyMap<object, readonly BlockPlace[]>): void;
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

  /** The whole block, until the next one is read, and what is in it; null where it is not there as it was. */
  async read(place: BlockPlace): Promise<{ readonly bytes: Buffer; readonly block: OutlinedBlock } | null> {
    const bytes = await this.#bytesAt(place);
    if (bytes === null) return null;
    const { payloadBytes, checksum, kind, count } = readBlockHeader(bytes);
    const isSame =
      kind === BLOCK_KINDS.outlined &&
      count === place.count &&
      checksum === place.checksum &&
      payloadBytes === place.bytes - BLOCK_HEADER_BYTES &&
      blockChecksum(bytes) === checksum;
    const block = isSame ? OutlinedBlock.in(bytes.subarray(BLOCK_HEADER_BYTES), place) : null;
    return block && { bytes, block };
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
