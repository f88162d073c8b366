/**
 * Writes a snapshot. At any moment the folder has the old one or the new one, and never half of one.
 *
 * Order, and why: each block is decoded from its bytes and compared with its records before it is written, so that a start may
 * take the word of a file whose checksums hold; a temporary file is written and synced, so that the name never points at less
 * than all of it; the event it ends with is awaited on disk, so that no snapshot is ever ahead of the journal; then rename and sync
 * of the folder; then the checksums are verified under the new name; only then are old snapshots removed.
 *
 * Blocks that have not changed since the last snapshot are copied from it (known-blocks.ts).
 * Records are encoded and decoded in turns of a few milliseconds, from immutable state, and requests are served in between.
 */
import assert from 'node:assert/strict';
import { crc32 } from 'node:zlib';
import { jsonEqual } from '../../domain/json/json.ts';
import { FIRST } from '../codec/first-bytes.ts';
import { guard, pack, unpack, VALUES_MAX } from '../codec/message-pack.ts';
import { setAside, TEMPORARY_SUFFIX } from '../disk/data-folder.ts';
import type { FileSystem, OpenFile } from '../disk/file-system.ts';
import { writeFully } from '../disk/write-fully.ts';
import { type BlockPlace, BlockReader, type KnownBlocks, type WrittenBatch } from './known-blocks.ts';
import { listSnapshots, type SnapshotFile, snapshotPath } from './snapshot-files.ts';
import {
  BLOCK_BYTES_MAX,
  BLOCK_HEADER_BYTES,
  BLOCK_KINDS,
  encodeSnapshotHeader,
  readBlockHeader,
  SNAPSHOT_HEADER_BYTES,
  type SnapshotStamp,
  sealBlock,
} from './snapshot-format.ts';
import { checkSnapshotFile } from './snapshot-reader.ts';

/** Looking at the clock costs about as much as encoding a small record. */
const RECORDS_PER_CLOCK_LOOK = 16;

/** A block is written when it holds this much: large enough for the disk, encoded well within one turn. */
const BLOCK_BYTES_TARGET = 128 * 1024;

/** The newest, and two more in case it goes bad on the disk: what retention leaves of the journal may need them. */
export const SNAPSHOTS_KEPT = 3;

/** `array 32` and its count, before the records of a block. */
const ARRAY_HEAD_BYTES = 5;

/** Records that follow each other in a section, and have blocks of their own. */
export interface RecordBatch {
  /** The immutable values of which the records are made: as long as they are the same ones, so are the records. */
  readonly parts: readonly object[];
  readonly records: Iterable<unknown>;
}

export interface SnapshotSection {
  readonly name: string;
  readonly records: Iterable<unknown>;
  /** Records whose blocks may be taken over from an older snapshot. */
  readonly batches?: Iterable<RecordBatch>;
}

export interface WriteSnapshotOptions extends SnapshotStamp {
  readonly fs: FileSystem;
  readonly folder: string;
  readonly sections: readonly SnapshotSection[];
  /** Blocks that need not be encoded again; none unless given. */
  readonly known?: KnownBlocks;
  /** Also decodes copied blocks; for the simulation. */
  readonly audited?: boolean;
  /** Returns those of the snapshots older than the newest SNAPSHOTS_KEPT that stay too, oldest first; none unless given. */
  readonly keepOlder?: (older: readonly SnapshotFile[]) => Promise<readonly SnapshotFile[]>;
  /** Resolves once the event `id` is on disk. */
  readonly durable: () => Promise<void>;
  readonly onProgress?: (records: number) => void;
  /** To be awaited between two steps; absent where nobody else wants the event loop. */
  readonly rest?: () => Promise<void> | undefined;
}

export interface WrittenSnapshot {
  readonly path: string;
  readonly bytes: number;
  readonly records: number;
  /** Records that were copied from an older snapshot. */
  readonly recordsTakenOver: number;
}

/** Writes, verifies and publishes a snapshot. On any error the snapshots that were there are still there. */
export async function writeSnapshot(options: WriteSnapshotOptions): Promise<WrittenSnapshot> {
  const { fs, folder, id } = options;
  const path = snapshotPath(folder, id);
  const temporary = `${path}${TEMPORARY_SUFFIX}`;
  if (await fs.exists(temporary)) await fs.remove(temporary);
  const writer = await writeFile(temporary, options).catch(async (error: unknown) => {
    // Each attempt has a name of its own: on a full disk the failed ones would eat what the journal needs.
    await fs.remove(temporary).catch(() => undefined);
    throw error;
  });
  await options.durable();
  await fs.rename(temporary, path);
  await fs.syncFolder(folder);
  await verifyOrSetAside(path, options, writer);
  options.known?.replace(writer.batches);
  await removeOldSnapshots(options);
  assert(writer.bytes > SNAPSHOT_HEADER_BYTES, 'a snapshot is more than its header');
  const { bytes, records, recordsTakenOver } = writer;
  return { path, bytes, records, recordsTakenOver };
}

async function writeFile(temporary: string, options: WriteSnapshotOptions): Promise<SnapshotWriter> {
  const file = await options.fs.open(temporary, 'create');
  const writer = new SnapshotWriter(file, options);
  try {
    await writer.writeAll();
    await file.sync();
    return writer;
  } finally {
    await writer.close();
    await file.close();
  }
}

/** A snapshot that cannot be loaded must not replace one that can. */
async function verifyOrSetAside(
  path: string,
  options: WriteSnapshotOptions,
  { records, bytes }: SnapshotWriter,
): Promise<void> {
  const { fs } = options;
  const reading = await checkSnapshotFile({ fs, path, afterBlock: async () => options.rest?.() });
  if (reading.problem !== null) {
    await setAside(fs, path);
    throw new Error(
      `The snapshot ${path} could not be read back: ${reading.problem} at offset ${reading.offset}`,
    );
  }
  const { id, at, chain } = reading.header;
  assert.deepEqual({ id, at, chain }, stampOf(options), 'the header of a snapshot says what was taken');
  assert(reading.records === records && reading.bytes === bytes, 'a snapshot holds all that was written');
}

/** Asserts that blocks hold these records. */
function assertDecode(blocks: readonly Buffer[], records: readonly unknown[]): void {
  const decoded = blocks.flatMap((block) => unpack(block.subarray(BLOCK_HEADER_BYTES)));
  assert(jsonEqual(decoded, records), 'a record decodes to what was written');
}

const stampOf = ({ id, at, chain }: SnapshotStamp): SnapshotStamp => ({ id, at, chain });

async function removeOldSnapshots({ fs, folder, id, keepOlder }: WriteSnapshotOptions): Promise<void> {
  const older = (await listSnapshots(fs, folder)).slice(0, -SNAPSHOTS_KEPT);
  const kept = older.length === 0 ? [] : ((await keepOlder?.(older)) ?? []);
  assert(
    older.every((file) => file.id < id),
    'only older snapshots are removed',
  );
  for (const file of older) if (!kept.includes(file)) await fs.remove(file.path);
}

class SnapshotWriter {
  readonly #file: OpenFile;
  readonly #options: WriteSnapshotOptions;
  readonly #reader: BlockReader;
  readonly batches: WrittenBatch[] = [];
  /** The places of the batch that is being written; null outside of batches. */
  #places: BlockPlace[] | null = null;
  /** A block under construction: room for its header and the array head, then records. */
  #block = Buffer.allocUnsafe(BLOCK_BYTES_TARGET * 2);
  #blockBytes = BLOCK_HEADER_BYTES + ARRAY_HEAD_BYTES;
  #blockRecords: unknown[] = [];
  /** The name of the section that is being written. */
  #section = '';
  #checksum = 0;
  bytes = 0;
  records = 0;
  recordsTakenOver = 0;

  constructor(file: OpenFile, options: WriteSnapshotOptions) {
    this.#file = file;
    this.#options = options;
    this.#reader = new BlockReader(options.fs);
  }

  async writeAll(): Promise<void> {
    await this.#write(encodeSnapshotHeader(this.#options));
    let sections = 0;
    for (const section of this.#options.sections) {
      await this.#writeSection(section);
      sections += 1;
    }
    assert(this.#blockRecords.length === 0 && sections > 0, 'all records are written before the end');
    const checksum = Buffer.alloc(4);
    checksum.writeUInt32LE(this.#checksum);
    await this.#writeBlock(BLOCK_KINDS.end, checksum, sections);
  }

  async close(): Promise<void> {
    await this.#reader.close();
  }

  async #writeSection({ name, records, batches }: SnapshotSection): Promise<void> {
    this.#section = name;
    await this.#writeBlock(BLOCK_KINDS.sectionBegins, Buffer.from(name), 0);
    assert(this.#blockRecords.length === 0, 'a block holds the records of one section');
    const before = this.records;
    if (batches === undefined) await this.#addRecords(records);
    else for (const batch of batches) await this.#writeBatch(batch);
    await this.#writeBlock(BLOCK_KINDS.sectionEnds, Buffer.alloc(0), this.records - before);
  }

  async #writeBatch({ parts, records }: RecordBatch): Promise<void> {
    this.#places = [];
    if (!(await this.#takeOver(parts, records))) await this.#addRecords(records);
    this.batches.push({ parts, places: this.#places });
    this.#places = null;
  }

  /** Copies the blocks that an older snapshot has of the batch; whether it had them. */
  async #takeOver(parts: readonly object[], records: Iterable<unknown>): Promise<boolean> {
    const { known, audited } = this.#options;
    const places = known?.of(parts) ?? [];
    const blocks: Buffer[] = [];
    for (const place of places) {
      const block = await this.#reader.read(place);
      if (block === null) return false;
      blocks.push(Buffer.from(block));
    }
    if (audited === true && blocks.length > 0) assertDecode(blocks, [...records]);
    for (const [at, block] of blocks.entries()) {
      const { checksum, count } = places[at]!;
      this.#placed({ bytes: block.length, checksum, count });
      await this.#write(block);
      this.records += count;
      this.recordsTakenOver += count;
      this.#options.onProgress?.(this.records);
    }
    return blocks.length > 0;
  }

  async #addRecords(records: Iterable<unknown>): Promise<void> {
    for (const record of records) {
      if (!this.#addRecord(record)) {
        await this.#writeRecords();
        assert(this.#addRecord(record), 'an empty block has room for any record that may be written');
      }
      if (this.#blockBytes >= BLOCK_BYTES_TARGET) await this.#writeRecords();
      if (this.records % RECORDS_PER_CLOCK_LOOK === 0) await this.#options.rest?.();
    }
    await this.#writeRecords();
  }

  #placed({ bytes, checksum, count }: Pick<BlockPlace, 'bytes' | 'checksum' | 'count'>): void {
    const path = snapshotPath(this.#options.folder, this.#options.id);
    this.#places?.push({ path, offset: this.bytes, bytes, checksum, count });
  }

  /** False where the block has no room for the record beside others. */
  #addRecord(record: unknown): boolean {
    const packed = pack(record);
    const needed = this.#blockBytes + packed.length;
    const payloadBytes = needed - BLOCK_HEADER_BYTES;
    // The reader guards each block as a whole. A value takes a byte at least, so that there cannot be too many in it.
    if (payloadBytes > VALUES_MAX && this.#blockRecords.length > 0) return false;
    if (payloadBytes > BLOCK_BYTES_MAX)
      throw new Error(`A record of section "${this.#section}" is too large`);
    if (needed > this.#block.length) {
      const larger = Buffer.allocUnsafe(needed);
      larger.set(this.#block.subarray(0, this.#blockBytes));
      this.#block = larger;
    }
    this.#block.set(packed, this.#blockBytes);
    this.#blockBytes = needed;
    this.#blockRecords.push(record);
    this.records += 1;
    return true;
  }

  #unreadable(problem: string): Error {
    return new Error(`A record of section "${this.#section}" could not be read back: ${problem}`);
  }

  async #writeRecords(): Promise<void> {
    const { length: count } = this.#blockRecords;
    if (count === 0) return;
    await this.#options.rest?.();
    const block = this.#block.subarray(0, this.#blockBytes);
    block.writeUInt8(FIRST.list32, BLOCK_HEADER_BYTES);
    block.writeUInt32BE(count, BLOCK_HEADER_BYTES + 1);
    this.#assertRecordsDecode(block.subarray(BLOCK_HEADER_BYTES));
    sealBlock(block, BLOCK_KINDS.records, count);
    this.#placed({ bytes: block.length, checksum: readBlockHeader(block).checksum, count });
    await this.#write(block);
    this.#blockRecords = [];
    this.#blockBytes = BLOCK_HEADER_BYTES + ARRAY_HEAD_BYTES;
    this.#options.onProgress?.(this.records);
  }

  /** The block as the reader decodes it. */
  #assertRecordsDecode(payload: Buffer): void {
    const { problem } = guard(payload);
    if (problem !== null) throw this.#unreadable(problem);
    assert(jsonEqual(unpack(payload), this.#blockRecords), 'records decode to what was written');
  }

  async #writeBlock(kind: number, payload: Buffer, count: number): Promise<void> {
    const block = Buffer.alloc(BLOCK_HEADER_BYTES + payload.length);
    block.set(payload, BLOCK_HEADER_BYTES);
    sealBlock(block, kind, count);
    await this.#write(block);
  }

  async #write(bytes: Buffer): Promise<void> {
    this.#checksum = crc32(bytes, this.#checksum);
    await writeFully(this.#file, bytes, this.bytes);
    this.bytes += bytes.length;
    await this.#options.rest?.();
  }
}
