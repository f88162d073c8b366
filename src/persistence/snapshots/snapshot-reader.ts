/**
 * Reads a snapshot and trusts nothing: every byte is under a checksum, every count is checked, and a problem is
 * returned with its place, because the caller may have an older snapshot.
 *
 * The caller gets records while the file is still being read. When a problem is found later, it has to discard what
 * was loaded so far. A snapshot is good when all of it could be decoded: a checksum only says that the bytes are those
 * that were written.
 */
import assert from 'node:assert/strict';
import { crc32 } from 'node:zlib';
import { CONTENT_VERSION, NewerContent, upgradeRecord } from '../../domain/state/upgrade.ts';
import { guard, unpack } from '../codec/message-pack.ts';
import { ADVICE_NEWER, DataFolderError } from '../disk/data-folder.ts';
import { type FileSystem, isUnreadable, type OpenFile, UNREADABLE, withFile } from '../disk/file-system.ts';
import { FileWindow } from '../disk/file-window.ts';
import { outlinedRecords } from './outlined-records.ts';
import {
  BLOCK_BYTES_MAX,
  BLOCK_HEADER_BYTES,
  BLOCK_KINDS,
  blockChecksum,
  checksumWithBlock,
  decodeSnapshotHeader,
  readBlockHeader,
  SNAPSHOT_HEADER_BYTES,
  type SnapshotHeader,
} from './snapshot-format.ts';

export type SnapshotReading =
  | {
      readonly problem: null;
      readonly header: SnapshotHeader;
      readonly records: number;
      readonly bytes: number;
    }
  | { readonly problem: string; readonly offset: number };

export interface ReadSnapshotOptions {
  readonly fs: FileSystem;
  readonly path: string;
  readonly onRecord: (section: string, record: unknown) => void;
  readonly onProgress?: (bytesDone: number, bytesTotal: number) => void;
  /** Awaited after each block, for a caller that must not hold up others. */
  readonly afterBlock?: () => Promise<void>;
  /** Told for how many milliseconds each block has held the event loop. */
  readonly charge?: ((heldMs: number) => void) | undefined;
}

/**
 * Reads a snapshot whole, its records upgraded to what this build records; nothing else decodes them. What `onRecord`
 * throws, and a place that the disk cannot read, are problems of the snapshot. Throws on other I/O errors and on a
 * newer format.
 */
export async function readSnapshot(options: ReadSnapshotOptions): Promise<SnapshotReading> {
  try {
    return await withFile(options.fs, options.path, async (file) =>
      new SnapshotReader(file, await file.size(), options).read(),
    );
  } catch (error) {
    if (isUnreadable(error)) return { problem: UNREADABLE, offset: 0 };
    throw error;
  }
}

/** Verifies a snapshot and decodes every record. */
export function verifySnapshotFile(options: Omit<ReadSnapshotOptions, 'onRecord'>): Promise<SnapshotReading> {
  return readSnapshot({ ...options, onRecord: () => undefined });
}

/** Verifies checksums, counts and order of a snapshot without decoding its records. */
export function checkSnapshotFile(
  options: Pick<ReadSnapshotOptions, 'fs' | 'path' | 'afterBlock'>,
): Promise<SnapshotReading> {
  return readSnapshot({ ...options, onRecord: CHECK_ONLY });
}

const CHECK_ONLY = (): void => undefined;

const OUTSIDE = 'records outside a section';

/** A part of the file at the current offset that the disk cannot read. */
class UnreadablePlace extends Error {}

class SnapshotReader {
  readonly #window: FileWindow;
  readonly #size: number;
  readonly #options: ReadSnapshotOptions;
  #offset = 0;
  #checksum = 0;
  #contentVersion = CONTENT_VERSION;
  #section: string | null = null;
  #sectionRecords = 0;
  #sections = 0;
  #records = 0;
  #ended = false;

  constructor(file: OpenFile, size: number, options: ReadSnapshotOptions) {
    this.#window = new FileWindow(file, size);
    this.#size = size;
    this.#options = options;
  }

  async read(): Promise<SnapshotReading> {
    try {
      return await this.#readAll();
    } catch (error) {
      if (isUnreadable(error) || error instanceof UnreadablePlace)
        return { problem: UNREADABLE, offset: this.#offset };
      throw error;
    }
  }

  async #readAll(): Promise<SnapshotReading> {
    const header = await this.#readHeader();
    if (header === null) return { problem: 'the header is damaged', offset: 0 };
    while (this.#offset < this.#size && !this.#ended) {
      const problem = await this.#readBlock();
      if (problem !== null) return { problem, offset: this.#offset };
      this.#options.onProgress?.(this.#offset, this.#size);
      await this.#options.afterBlock?.();
    }
    if (!this.#ended) return { problem: 'the end is missing', offset: this.#offset };
    if (this.#offset !== this.#size) return { problem: 'bytes after the end', offset: this.#offset };
    assert(this.#section === null && this.#sections > 0, 'a whole snapshot has sections, each with its end');
    return { problem: null, header, records: this.#records, bytes: this.#size };
  }

  async #readHeader(): Promise<SnapshotHeader | null> {
    const bytes = await this.#readBytes(SNAPSHOT_HEADER_BYTES);
    const header = bytes === null ? null : decodeSnapshotHeader(bytes, this.#options.path);
    if (bytes === null || header === null) return null;
    this.#checksum = crc32(bytes);
    this.#contentVersion = header.contentVersion;
    this.#offset = SNAPSHOT_HEADER_BYTES;
    return header;
  }

  /** `count` bytes from the current offset on; null when there are fewer. */
  async #readBytes(count: number): Promise<Buffer | null> {
    const offset = this.#offset;
    if (offset + count > this.#size) return null;
    if (!this.#window.has(offset, count)) await this.#window.slide(offset, count);
    if (this.#window.has(offset, count)) return this.#window.at(offset, count);
    if (this.#window.unreadableAt !== null) throw new UnreadablePlace();
    return null;
  }

  async #readBlock(): Promise<string | null> {
    const head = await this.#readBytes(BLOCK_HEADER_BYTES);
    if (head === null) return 'a block header is cut short';
    const { payloadBytes, checksum, kind, count } = readBlockHeader(head);
    if (payloadBytes > BLOCK_BYTES_MAX) return 'a block length is impossible';
    const block = await this.#readBytes(BLOCK_HEADER_BYTES + payloadBytes);
    if (block === null) return 'a block is cut short';
    const { charge } = this.#options;
    const begunAt = charge === undefined ? 0 : performance.now();
    if (blockChecksum(block) !== checksum) return 'a checksum does not match';
    const problem = this.#take(kind, count, block.subarray(BLOCK_HEADER_BYTES));
    if (problem !== null) return problem;
    this.#checksum = checksumWithBlock(this.#checksum, block, checksum);
    this.#offset += block.length;
    charge?.(performance.now() - begunAt);
    return null;
  }

  #take(kind: number, count: number, payload: Buffer): string | null {
    switch (kind) {
      case BLOCK_KINDS.sectionBegins:
        return this.#beginSection(payload);
      case BLOCK_KINDS.records:
        return this.#takeRecords(count, payload);
      case BLOCK_KINDS.outlined:
        return this.#takeOutlined(count, payload);
      case BLOCK_KINDS.sectionEnds:
        return this.#endSection(count, payload);
      case BLOCK_KINDS.end:
        return this.#end(count, payload);
      default:
        return `a block of the unknown kind ${kind}`;
    }
  }

  #beginSection(payload: Buffer): string | null {
    if (this.#section !== null) return 'a section within a section';
    this.#section = payload.toString();
    this.#sectionRecords = 0;
    return null;
  }

  #takeRecords(count: number, payload: Buffer): string | null {
    if (!this.#counted(count)) return OUTSIDE;
    if (this.#options.onRecord === CHECK_ONLY) return null;
    const verdict = guard(payload);
    if (verdict.problem !== null) return verdict.problem;
    return this.#attempt((section) => {
      const records = unpack(payload);
      if (!Array.isArray(records) || records.length !== count) return 'a wrong count of records';
      for (const record of records) this.#give(section, record);
      return null;
    });
  }

  #takeOutlined(count: number, payload: Buffer): string | null {
    if (!this.#counted(count)) return OUTSIDE;
    if (this.#options.onRecord === CHECK_ONLY) return null;
    return this.#attempt((section) => {
      for (const record of outlinedRecords(payload, count)) this.#give(section, record);
      return null;
    });
  }

  /** False outside of a section. */
  #counted(count: number): boolean {
    this.#sectionRecords += count;
    this.#records += count;
    return this.#section !== null;
  }

  #give(section: string, record: unknown): void {
    this.#options.onRecord(section, upgradeRecord(section, record, this.#contentVersion));
  }

  /** Turns an error of `take` into a problem of the snapshot. */
  #attempt(take: (section: string) => string | null): string | null {
    const section = this.#section!;
    try {
      return take(section);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      if (error instanceof NewerContent)
        throw new DataFolderError(`The state cannot be loaded: ${reason}`, {
          file: this.#options.path,
          advice: ADVICE_NEWER,
        });
      return `a record of section "${section}" does not fit: ${reason}`;
    }
  }

  #endSection(count: number, payload: Buffer): string | null {
    if (this.#section === null) return 'the end of a section that did not begin';
    if (count !== this.#sectionRecords || payload.length > 0)
      return 'a section with a wrong count of records';
    this.#section = null;
    this.#sections += 1;
    return null;
  }

  #end(count: number, payload: Buffer): string | null {
    if (this.#section !== null) return 'the end within a section';
    if (count !== this.#sections) return 'a wrong count of sections';
    if (payload.length !== 4 || payload.readUInt32LE(0) !== this.#checksum)
      return 'the checksum of the whole file';
    this.#ended = true;
    return null;
  }
}
