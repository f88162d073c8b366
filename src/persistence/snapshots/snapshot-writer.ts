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
import { EncodingError, guard, pack, unpack, VALUES_MAX } from '../codec/message-pack.ts';
import { setAside, TEMPORARY_SUFFIX } from '../disk/data-folder.ts';
import type { FileSystem, OpenFile } from '../disk/file-system.ts';
import { writeFully } from '../disk/write-fully.ts';
import { BlockReader, type KnownBlocks } from './known-blocks.ts';
import { type BlockPlace, LENGTH_BYTES, OutlinedBlock, RECORD_DEPTH } from './packed-records.ts';
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
  /** Stands for the batch from one snapshot to the next. */
  readonly key: object;
  readonly records: Iterable<unknown>;
}

export interface SnapshotSection {
  readonly name: string;
  readonly records: Iterable<unknown>;
  /** The same records, where blocks of them may be taken over from an older snapshot. */
  readonly batches?: Iterable<RecordBatch>;
  /** Returns what a start has to know of these records so that it need not decode them. Pure. */
  readonly outlineOf?: (records: readonly unknown[]) => unknown;
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

function assertDecodes(block: OutlinedBlock, records: readonly unknown[], outline: unknown): void {
  assert(jsonEqual(block.outline(), outline), 'an outline is that of its records');
  assert(block.records.count === records.length, 'a block has its records');
  for (const [at, record] of records.entries())
    assert(jsonEqual(block.records.unpack(at), record), 'a record decodes to what was written');
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
  /** By the keys of the batches. */
  readonly batches = new Map<object, readonly BlockPlace[]>();
  /** The places of the batch that is being written; null for one that has records without an outline. */
  #places: BlockPlace[] | null = null;
  /** A block under construction: room for its header and the array head, then records. */
  #block = Buffer.allocUnsafe(BLOCK_BYTES_TARGET * 2);
  #blockBytes = BLOCK_HEADER_BYTES + ARRAY_HEAD_BYTES;
  /** The records in it, and where each ends, counted from the first. */
  #blockRecords: unknown[] = [];
  #ends: number[] = [];
  /** The section that is being written. */
  #section: Pick<SnapshotSection, 'name' | 'outlineOf'> = { name: '' };
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

  async #writeSection(section: SnapshotSection): Promise<void> {
    const { name, records, batches } = section;
    this.#section = section;
    await this.#writeBlock(BLOCK_KINDS.sectionBegins, Buffer.from(name), 0);
    assert(this.#blockRecords.length === 0, 'a block holds the records of one section');
    const before = this.records;
    if (batches === undefined) await this.#addRecords(records);
    else for (const batch of batches) await this.#writeBatch(batch);
    await this.#writeBlock(BLOCK_KINDS.sectionEnds, Buffer.alloc(0), this.records - before);
  }

  async #writeBatch({ key, records: batch }: RecordBatch): Promise<void> {
    const records: unknown[] = [];
    for (const record of batch) {
      // Some have to be decoded first.
      if (records.push(record) % RECORDS_PER_CLOCK_LOOK === 0) await this.#options.rest?.();
    }
    this.#places = [];
    const count = await this.#takeOver(key, records);
    await this.#addRecords(count === 0 ? records : records.slice(count));
    if (this.#places !== null) this.batches.set(key, this.#places);
    this.#places = null;
  }

  /** Copies the blocks that an older snapshot has of the batch, up to the first that has changed. Gives how many records they hold. */
  async #takeOver(key: object, records: readonly unknown[]): Promise<number> {
    const { known, audited } = this.#options;
    let taken = 0;
    for (const place of known?.of(key) ?? []) {
      const found = await this.#reader.read(place);
      const those = records.slice(taken, taken + place.count);
      // A small block with more records behind it would leave one more of them with each snapshot.
      const isLast = taken + place.count >= records.length;
      if (found === null || !(isLast || place.bytes >= BLOCK_BYTES_TARGET)) break;
      if (known?.isOf(found.block.outline(), those) !== true) break;
      if (audited === true) assertDecodes(found.block, those, this.#section.outlineOf?.(those));
      this.#placed(place);
      await this.#write(found.bytes);
      taken += place.count;
      this.records += place.count;
      this.recordsTakenOver += place.count;
      this.#options.onProgress?.(this.records);
    }
    return taken;
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
    const packed = this.#packed(record);
    const needed = this.#blockBytes + packed.length;
    const payloadBytes = needed - BLOCK_HEADER_BYTES;
    // The reader guards each block as a whole. A value takes a byte at least, so that there cannot be too many in it.
    if (payloadBytes > VALUES_MAX && this.#blockRecords.length > 0) return false;
    if (payloadBytes > BLOCK_BYTES_MAX)
      throw new Error(`A record of section "${this.#section.name}" is too large`);
    if (needed > this.#block.length) {
      const larger = Buffer.allocUnsafe(needed);
      larger.set(this.#block.subarray(0, this.#blockBytes));
      this.#block = larger;
    }
    this.#block.set(packed, this.#blockBytes);
    this.#blockBytes = needed;
    this.#blockRecords.push(record);
    this.#ends.push(needed - BLOCK_HEADER_BYTES - ARRAY_HEAD_BYTES);
    this.records += 1;
    return true;
  }

  #packed(record: unknown): Buffer {
    try {
      return pack(record, RECORD_DEPTH);
    } catch (error) {
      if (!(error instanceof EncodingError)) throw error;
      throw this.#unreadable(error.message);
    }
  }

  #unreadable(problem: string): Error {
    return new Error(`A record of section "${this.#section.name}" could not be read back: ${problem}`);
  }

  async #writeRecords(): Promise<void> {
    const { length: count } = this.#blockRecords;
    if (count === 0) return;
    const outlined = this.#outlinedPayload();
    await this.#options.rest?.();
    if (outlined === null) {
      this.#places = null;
      const block = this.#block.subarray(0, this.#blockBytes);
      block.writeUInt8(FIRST.list32, BLOCK_HEADER_BYTES);
      block.writeUInt32BE(count, BLOCK_HEADER_BYTES + 1);
      this.#assertRecordsDecode(block.subarray(BLOCK_HEADER_BYTES));
      sealBlock(block, BLOCK_KINDS.records, count);
      await this.#write(block);
    } else {
      const place: BlockPlace = { path: '', offset: 0, bytes: 0, checksum: 0, count };
      const block = OutlinedBlock.in(outlined.payload, place);
      assert(block !== null, 'the ends of records fit their block');
      assertDecodes(block, this.#blockRecords, outlined.outline);
      await this.#writeBlock(BLOCK_KINDS.outlined, outlined.payload, count);
    }
    this.#blockRecords = [];
    this.#ends = [];
    this.#blockBytes = BLOCK_HEADER_BYTES + ARRAY_HEAD_BYTES;
    this.#options.onProgress?.(this.records);
  }

  /** A block of records without an outline, as the reader decodes it. */
  #assertRecordsDecode(payload: Buffer): void {
    const { problem } = guard(payload);
    if (problem !== null) throw this.#unreadable(problem);
    assert(jsonEqual(unpack(payload), this.#blockRecords), 'records decode to what was written');
  }

  /** Null where the records have no outline, or where it has no room in their block: they are decoded at a start then. */
  #outlinedPayload(): { readonly payload: Buffer; readonly outline: unknown } | null {
    if (this.#section.outlineOf === undefined) return null;
    const outline = this.#section.outlineOf(this.#blockRecords);
    const packed = pack(outline);
    const head = Buffer.alloc(LENGTH_BYTES + packed.length + LENGTH_BYTES * this.#ends.length);
    head.writeUInt32LE(packed.length, 0);
    head.set(packed, LENGTH_BYTES);
    for (const [at, end] of this.#ends.entries())
      head.writeUInt32LE(end, LENGTH_BYTES + packed.length + LENGTH_BYTES * at);
    const records = this.#block.subarray(BLOCK_HEADER_BYTES + ARRAY_HEAD_BYTES, this.#blockBytes);
    if (head.length + records.length > BLOCK_BYTES_MAX) return null;
    return { payload: Buffer.concat([head, records]), outline };
  }

  async #writeBlock(kind: number, payload: Buffer, count: number): Promise<void> {
    const block = Buffer.alloc(BLOCK_HEADER_BYTES + payload.length);
    block.set(payload, BLOCK_HEADER_BYTES);
    sealBlock(block, kind, count);
    if (kind === BLOCK_KINDS.outlined)
      this.#placed({ bytes: block.length, checksum: readBlockHeader(block).checksum, count });
    await this.#write(block);
  }

  async #write(bytes: Buffer): Promise<void> {
    this.#checksum = crc32(bytes, this.#checksum);
    await writeFully(this.#file, bytes, this.bytes);
    this.bytes += bytes.length;
    await this.#options.rest?.();
  }
}
