/**
 * Writes a snapshot. At any moment the folder has the old one or the new one, and never half of one.
 *
 * Order, and why: a temporary file is written and synced, so that the name never points at less than all of it; it is read
 * back and decoded, so that a start may take the file's word for what it does not decode; the event it ends with is awaited
 * on disk, so that no snapshot is ever ahead of the journal; then rename and sync of the folder; then the checksums are
 * verified under the new name; only then are old snapshots removed.
 *
 * What has not changed since the last snapshot is copied from it (known-blocks.ts): only the rest costs more than reading and writing.
 * Records are encoded and decoded in slices of a few milliseconds, from immutable state, and requests are served in between.
 */
import assert from 'node:assert/strict';
import { crc32 } from 'node:zlib';
import { FIRST } from '../codec/first-bytes.ts';
import { guard, pack, VALUES_MAX } from '../codec/message-pack.ts';
import { DAMAGED_SUFFIX, TEMPORARY_SUFFIX } from '../disk/data-folder.ts';
import type { FileSystem, OpenFile } from '../disk/file-system.ts';
import { writeFully } from '../disk/write-fully.ts';
import { BlockReader, type KnownBlocks } from './known-blocks.ts';
import { type BlockPlace, LENGTH_BYTES, type PackedRecords, RECORD_DEPTH } from './packed-records.ts';
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
import {
  checkSnapshotFile,
  type ReadSnapshotOptions,
  type SnapshotReading,
  verifySnapshotFile,
} from './snapshot-reader.ts';

/** A slice of work between two turns of the event loop: a request waits this much longer at most. */
export const SLICE_MS = 5;

/** Looking at the clock costs about as much as encoding a small record. */
const RECORDS_PER_CLOCK_LOOK = 16;

/** A block is written when it holds this much: large enough for the disk, encoded well within one slice. */
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
  /** Also decodes what is taken over; for the simulation. */
  readonly audited?: boolean;
  /** Returns those of the snapshots older than the newest SNAPSHOTS_KEPT that stay too, oldest first; none unless given. */
  readonly keepOlder?: (older: readonly SnapshotFile[]) => Promise<readonly SnapshotFile[]>;
  /** Resolves once the event `id` is on disk. */
  readonly durable: () => Promise<void>;
  readonly onProgress?: (records: number) => void;
  /** Milliseconds, monotonic. */
  readonly monotonicMs?: () => number;
  readonly yieldToEventLoop?: () => Promise<void>;
}

export interface WrittenSnapshot {
  readonly path: string;
  readonly bytes: number;
  readonly records: number;
  /** Records that were copied from an older snapshot. */
  readonly recordsTakenOver: number;
}

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Writes, verifies and publishes a snapshot. On any error the snapshots that were there are still there. */
export async function writeSnapshot(options: WriteSnapshotOptions): Promise<WrittenSnapshot> {
  const { fs, folder, id } = options;
  const path = snapshotPath(folder, id);
  const temporary = `${path}${TEMPORARY_SUFFIX}`;
  if (await fs.exists(temporary)) await fs.remove(temporary);
  const damaged = `${path}${DAMAGED_SUFFIX}`;
  const writer = await writeDecodable({ path: temporary, finalPath: path, damaged }, options).catch(
    async (error: unknown) => {
      // Each attempt has a name of its own: on a full disk the failed ones would eat what the journal needs.
      await fs.remove(temporary).catch(() => undefined);
      throw error;
    },
  );
  await options.durable();
  await fs.rename(temporary, path);
  await fs.syncFolder(folder);
  await verifyOrSetAside({ path, damaged }, options, writer, checkSnapshotFile);
  options.known?.replace(writer.batches);
  await removeOldSnapshots(options);
  assert(writer.bytes > SNAPSHOT_HEADER_BYTES, 'a snapshot is more than its header');
  const { bytes, records, recordsTakenOver } = writer;
  return { path, bytes, records, recordsTakenOver };
}

interface Paths {
  readonly path: string;
  /** Its name once it is known to be bad. */
  readonly damaged: string;
}

/** Writes the file, and reads all of it back. */
async function writeDecodable(
  paths: Paths & { readonly finalPath: string },
  options: WriteSnapshotOptions,
): Promise<SnapshotWriter> {
  const file = await options.fs.open(paths.path, 'create');
  const writer = new SnapshotWriter(file, { ...options, path: paths.finalPath });
  try {
    await writer.writeAll();
    await file.sync();
  } finally {
    await writer.close();
    await file.close();
  }
  const onOutlined = outlineCheck(options, writer);
  await verifyOrSetAside(paths, options, writer, (read) => verifySnapshotFile({ ...read, onOutlined }));
  return writer;
}

/** A snapshot that cannot be loaded must not replace one that can. */
async function verifyOrSetAside(
  { path, damaged }: Paths,
  options: WriteSnapshotOptions,
  written: SnapshotWriter,
  verify: (file: Pick<ReadSnapshotOptions, 'fs' | 'path' | 'afterBlock'>) => Promise<SnapshotReading>,
): Promise<void> {
  const { fs } = options;
  const slices = new Slices(options);
  const reading = await verify({ fs, path, afterBlock: () => slices.endIfDue() });
  if (reading.problem === null) {
    const { header, records, bytes } = reading;
    const { id, at, chain } = header;
    assert.deepEqual({ id, at, chain }, stampOf(options), 'the header of a snapshot says what was taken');
    assert.deepEqual(
      { records, bytes },
      { records: written.records, bytes: written.bytes },
      'all of it is there',
    );
    return;
  }
  await fs.rename(path, damaged);
  throw new Error(
    `The snapshot ${path} could not be read back: ${reading.problem} at offset ${reading.offset}`,
  );
}

/** Compares outlines with those of the decoded records, but for blocks that were decoded before they were taken over. */
function outlineCheck(
  { sections, audited }: WriteSnapshotOptions,
  { takenOver }: SnapshotWriter,
): ReadSnapshotOptions['onOutlined'] {
  const known = new Map(sections.map((section) => [section.name, section]));
  return (name, block) => {
    if (takenOver.has(block.place.offset) && audited !== true) return 'taken';
    const packed = block.records;
    const records = Array.from({ length: packed.count }, (_, at) => packed.unpack(at));
    const outline = known.get(name)?.outlineOf?.(records);
    assert.deepEqual(block.outline(), outline, 'an outline is that of its records');
    return 'taken';
  };
}

function assertSame(packed: PackedRecords, records: readonly unknown[]): void {
  for (const [at, record] of records.entries())
    assert.deepEqual(packed.unpack(at), record, 'a record that is taken over has not changed');
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

/** Lets others have the event loop after each slice of work. */
class Slices {
  readonly #monotonicMs: () => number;
  readonly #yield: () => Promise<void>;
  #startedAt: number;

  constructor({
    monotonicMs,
    yieldToEventLoop,
  }: Pick<WriteSnapshotOptions, 'monotonicMs' | 'yieldToEventLoop'>) {
    this.#monotonicMs = monotonicMs ?? (() => performance.now());
    this.#yield = yieldToEventLoop ?? nextTurn;
    this.#startedAt = this.#monotonicMs();
  }

  async endIfDue(): Promise<void> {
    if (this.#monotonicMs() - this.#startedAt < SLICE_MS) return;
    await this.#yield();
    this.#startedAt = this.#monotonicMs();
  }
}

interface WriterOptions extends WriteSnapshotOptions {
  /** The final path of the file. */
  readonly path: string;
}

class SnapshotWriter {
  readonly #file: OpenFile;
  readonly #options: WriterOptions;
  readonly #reader: BlockReader;
  /** By the keys of the batches. */
  readonly batches = new Map<object, readonly BlockPlace[]>();
  /** Offsets of the blocks that were taken over. */
  readonly takenOver = new Set<number>();
  /** The places of the batch that is being written; null for one that has records without an outline. */
  #places: BlockPlace[] | null = null;
  readonly #slices: Slices;
  /** A block under construction: room for its header and the array head, then records. */
  #block = Buffer.allocUnsafe(BLOCK_BYTES_TARGET * 2);
  #blockBytes = BLOCK_HEADER_BYTES + ARRAY_HEAD_BYTES;
  #blockRecords = 0;
  /** The values that the reader's guard will count in it: the array and all in it. */
  #blockValues = 1;
  /** The outline function of the section that is being written; null where its records are not outlined. */
  #outlineOf: NonNullable<SnapshotSection['outlineOf']> | null = null;
  /** Outlines in the block, and where each ends, counted from the first; empty where records are not outlined. */
  #outlined: unknown[] = [];
  #ends: number[] = [];
  #checksum = 0;
  bytes = 0;
  records = 0;
  recordsTakenOver = 0;

  constructor(file: OpenFile, options: WriterOptions) {
    this.#file = file;
    this.#options = options;
    this.#reader = new BlockReader(options.fs);
    this.#slices = new Slices(options);
  }

  async writeAll(): Promise<void> {
    await this.#write(encodeSnapshotHeader(this.#options));
    let sections = 0;
    for (const section of this.#options.sections) {
      await this.#writeSection(section);
      sections += 1;
    }
    assert(this.#blockRecords === 0 && sections > 0, 'all records are written before the end');
    const checksum = Buffer.alloc(4);
    checksum.writeUInt32LE(this.#checksum);
    await this.#writeBlock(BLOCK_KINDS.end, checksum, sections);
  }

  async close(): Promise<void> {
    await this.#reader.close();
  }

  async #writeSection({ name, records, batches, outlineOf }: SnapshotSection): Promise<void> {
    this.#outlineOf = outlineOf ?? null;
    await this.#writeBlock(BLOCK_KINDS.sectionBegins, Buffer.from(name), 0);
    assert(this.#blockRecords === 0, 'a block holds the records of one section');
    const before = this.records;
    if (batches === undefined) await this.#addRecords(name, records);
    else for (const batch of batches) await this.#writeBatch(name, batch);
    await this.#writeBlock(BLOCK_KINDS.sectionEnds, Buffer.alloc(0), this.records - before);
  }

  async #writeBatch(section: string, { key, records: batch }: RecordBatch): Promise<void> {
    const records: unknown[] = [];
    for (const record of batch) {
      // Some have to be decoded first.
      if (records.push(record) % RECORDS_PER_CLOCK_LOOK === 0) await this.#slices.endIfDue();
    }
    this.#places = [];
    const count = await this.#takeOver(key, records);
    await this.#addRecords(section, count === 0 ? records : records.slice(count));
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
      if (audited === true) assertSame(found.block.records, those);
      this.takenOver.add(this.bytes);
      this.#placed(place);
      await this.#write(found.bytes);
      taken += place.count;
      this.records += place.count;
      this.recordsTakenOver += place.count;
      this.#options.onProgress?.(this.records);
    }
    return taken;
  }

  async #addRecords(name: string, records: Iterable<unknown>): Promise<void> {
    for (const record of records) {
      if (!this.#addRecord(name, record)) {
        await this.#writeRecords();
        if (!this.#addRecord(name, record)) throw new Error(`A record of section "${name}" is too large`);
      }
      if (this.#blockBytes >= BLOCK_BYTES_TARGET) await this.#writeRecords();
      if (this.records % RECORDS_PER_CLOCK_LOOK === 0) await this.#slices.endIfDue();
    }
    await this.#writeRecords();
  }

  #placed({ bytes, checksum, count }: Pick<BlockPlace, 'bytes' | 'checksum' | 'count'>): void {
    this.#places?.push({ path: this.#options.path, offset: this.bytes, bytes, checksum, count });
  }

  /** False where the block has no room for the record: the reader guards each block as a whole. */
  #addRecord(section: string, record: unknown): boolean {
    const packed = pack(record);
    const verdict = guard(packed, RECORD_DEPTH);
    if (verdict.problem !== null) {
      throw new Error(`A record of section "${section}" could not be read back: ${verdict.problem}`);
    }
    if (!this.#hasRoom(packed.length, verdict.values)) return false;
    this.#put(packed, verdict.values);
    if (this.#outlineOf !== null) {
      this.#outlined.push(record);
      this.#ends.push(this.#blockBytes - BLOCK_HEADER_BYTES - ARRAY_HEAD_BYTES);
    }
    return true;
  }

  #hasRoom(bytes: number, values: number): boolean {
    const payloadBytes = this.#blockBytes - BLOCK_HEADER_BYTES + bytes;
    return payloadBytes <= BLOCK_BYTES_MAX && this.#blockValues + values <= VALUES_MAX;
  }

  #put(packed: Buffer, values: number): void {
    assert(packed.length > 0 && values > 0, 'a record is a value');
    const needed = this.#blockBytes + packed.length;
    if (needed > this.#block.length) {
      const larger = Buffer.allocUnsafe(needed);
      larger.set(this.#block.subarray(0, this.#blockBytes));
      this.#block = larger;
    }
    this.#block.set(packed, this.#blockBytes);
    this.#blockBytes = needed;
    this.#blockValues += values;
    this.#blockRecords += 1;
    this.records += 1;
  }

  async #writeRecords(): Promise<void> {
    if (this.#blockRecords === 0) return;
    assert(this.#blockValues > this.#blockRecords, 'the values of a block are its list and its records');
    assert(this.#blockBytes - BLOCK_HEADER_BYTES <= BLOCK_BYTES_MAX, 'a block that the reader would refuse');
    const outlined = this.#outlinedPayload();
    if (outlined === null) {
      this.#places = null;
      const block = this.#block.subarray(0, this.#blockBytes);
      block.writeUInt8(FIRST.list32, BLOCK_HEADER_BYTES);
      block.writeUInt32BE(this.#blockRecords, BLOCK_HEADER_BYTES + 1);
      sealBlock(block, BLOCK_KINDS.records, this.#blockRecords);
      await this.#write(block);
    } else await this.#writeBlock(BLOCK_KINDS.outlined, outlined, this.#blockRecords);
    this.#outlined = [];
    this.#ends = [];
    this.#blockBytes = BLOCK_HEADER_BYTES + ARRAY_HEAD_BYTES;
    this.#blockRecords = 0;
    this.#blockValues = 1;
    this.#options.onProgress?.(this.records);
  }

  /** Null where the records have no outline, or where it has no room in their block: they are decoded at a start then. */
  #outlinedPayload(): Buffer | null {
    if (this.#outlineOf === null) return null;
    const outline = pack(this.#outlineOf(this.#outlined));
    if (guard(outline).problem !== null) return null;
    const head = Buffer.alloc(LENGTH_BYTES + outline.length + LENGTH_BYTES * this.#ends.length);
    head.writeUInt32LE(outline.length, 0);
    head.set(outline, LENGTH_BYTES);
    for (const [at, end] of this.#ends.entries())
      head.writeUInt32LE(end, LENGTH_BYTES + outline.length + LENGTH_BYTES * at);
    const records = this.#block.subarray(BLOCK_HEADER_BYTES + ARRAY_HEAD_BYTES, this.#blockBytes);
    return head.length + records.length <= BLOCK_BYTES_MAX ? Buffer.concat([head, records]) : null;
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
    await this.#slices.endIfDue();
  }
}
