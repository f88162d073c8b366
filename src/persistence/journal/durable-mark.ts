/**
 * The durable mark, `durable.mark` in the journal's folder: "everything up to here was on disk".
 *
 * It closes the one gap that the frames leave open: wrong bytes in the very last batch look like a torn tail, because
 * no later frame proves that the batch had been synced. Where the mark covers them, they are damage, not a tail.
 *
 * It is written after the responses were sent, and is synced only when the journal is closed. That is safe because it
 * only states what is durable already: an old mark proves less, but nothing false.
 *
 * Format 1. Two slots, at offsets 0 and 4096, on different sectors and pages, written in turn; the readable one with
 * the higher sequence holds. A write torn by a power cut therefore costs the newer statement only. Little-endian:
 *
 *   offset  bytes  what
 *        0      8  magic: "FLAGMARK"
 *        8      4  format version: 1
 *       12      4  CRC-32 of the last durable frame (the chain value)
 *       16      8  sequence, one more with every write
 *       24      8  id of the last durable event
 *       32      8  segment, by the id of its first event
 *       40      8  offset in the segment behind the last durable frame
 *       48      4  CRC-32 of bytes 0–47
 *
 * History: 1, the first. A newer version is refused by name.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { newerFormat } from '../disk/data-folder.ts';
import {
  type FileSystem,
  isUnreadable,
  type OpenFile,
  readLeniently,
  withFile,
} from '../disk/file-system.ts';
import { writeFully } from '../disk/write-fully.ts';

export const MARK_FILE_NAME = 'durable.mark';
export const MARK_VERSION = 1;

const SLOT_BYTES = 52;
const SLOT_AT: readonly [number, number] = [0, 4096];
const FILE_BYTES = SLOT_AT[1] + SLOT_BYTES;
assert(SLOT_AT[0] + SLOT_BYTES <= SLOT_AT[1], 'a write that is torn leaves the other slot whole');
const MAGIC = Buffer.from('FLAGMARK', 'latin1');

export interface DurableMark {
  readonly lastId: number;
  readonly segment: number;
  /** The end of the last durable frame. */
  readonly offset: number;
  readonly chain: number;
}

interface Slot extends DurableMark {
  readonly sequence: number;
}

/** `unreadable`: the file is there, and neither slot holds a statement, or the disk cannot read them. */
export type MarkReading =
  | { readonly state: 'absent' | 'unreadable' }
  | { readonly state: 'good'; readonly mark: DurableMark };

export async function readDurableMark(fs: FileSystem, folder: string): Promise<MarkReading> {
  const newest = await readNewestSlot(fs, join(folder, MARK_FILE_NAME));
  if (newest === 'absent' || newest === 'unreadable') return { state: newest };
  const { lastId, segment, offset, chain } = newest;
  return { state: 'good', mark: { lastId, segment, offset, chain } };
}

async function readNewestSlot(fs: FileSystem, path: string): Promise<Slot | 'absent' | 'unreadable'> {
  if (!(await fs.exists(path))) return 'absent';
  try {
    const bytes = Buffer.alloc(FILE_BYTES);
    await withFile(fs, path, (file) => readLeniently(file, bytes, FILE_BYTES, 0));
    const slots = SLOT_AT.map((at) => decodeSlot(bytes.subarray(at, at + SLOT_BYTES), path));
    return (
      slots.reduce((a, b) => (b === null || (a !== null && a.sequence > b.sequence) ? a : b)) ?? 'unreadable'
    );
  } catch (error) {
    if (isUnreadable(error)) return 'unreadable';
    throw error;
  }
}

function encodeSlot(slot: Slot): Buffer {
  assert(Number.isSafeInteger(slot.sequence) && slot.sequence > 0, 'each write has a sequence of its own');
  const bytes = Buffer.alloc(SLOT_BYTES);
  bytes.set(MAGIC, 0);
  bytes.writeUInt32LE(MARK_VERSION, 8);
  bytes.writeUInt32LE(slot.chain, 12);
  bytes.writeBigUInt64LE(BigInt(slot.sequence), 16);
  bytes.writeBigUInt64LE(BigInt(slot.lastId), 24);
  bytes.writeBigUInt64LE(BigInt(slot.segment), 32);
  bytes.writeBigUInt64LE(BigInt(slot.offset), 40);
  bytes.writeUInt32LE(crc32(bytes.subarray(0, 48)), 48);
  return bytes;
}

function decodeSlot(bytes: Buffer, file: string): Slot | null {
  if (bytes.compare(MAGIC, 0, 8, 0, 8) !== 0) return null;
  if (bytes.readUInt32LE(48) !== crc32(bytes.subarray(0, 48))) return null;
  const version = bytes.readUInt32LE(8);
  if (version !== MARK_VERSION) {
    throw newerFormat('The durable mark', { file, offset: 8, version, known: MARK_VERSION });
  }
  return {
    chain: bytes.readUInt32LE(12),
    sequence: Number(bytes.readBigUInt64LE(16)),
    lastId: Number(bytes.readBigUInt64LE(24)),
    segment: Number(bytes.readBigUInt64LE(32)),
    offset: Number(bytes.readBigUInt64LE(40)),
  };
}

/** Writes marks, one at a time. Opened on the first write: a folder without events has no mark. */
export class DurableMarkFile {
  readonly #fs: FileSystem;
  readonly #folder: string;
  #file: OpenFile | null = null;
  #sequence = 0;

  constructor(fs: FileSystem, folder: string) {
    this.#fs = fs;
    this.#folder = folder;
  }

  /** Writes what is durable, without a sync (see `close`). Callers wait for one write before they start the next. */
  async write(mark: DurableMark): Promise<void> {
    assert(mark.segment > 0 && mark.offset > 0, 'a mark names a place in a segment');
    assert(mark.lastId >= mark.segment - 1, 'a mark names the segment that holds its event');
    this.#file ??= await this.#open();
    this.#sequence += 1;
    const slot = encodeSlot({ ...mark, sequence: this.#sequence });
    await writeFully(this.#file, slot, SLOT_AT[this.#sequence % 2 === 0 ? 0 : 1]);
  }

  /** Makes the last mark durable. */
  async close(): Promise<void> {
    if (this.#file === null) return;
    await this.#file.datasync();
    await this.#file.close();
    this.#file = null;
  }

  async #open(): Promise<OpenFile> {
    const path = join(this.#folder, MARK_FILE_NAME);
    const newest = await readNewestSlot(this.#fs, path);
    if (newest !== 'absent') {
      this.#sequence = newest === 'unreadable' ? 0 : newest.sequence;
      return this.#fs.open(path, 'write');
    }
    const file = await this.#fs.open(path, 'create');
    await writeFully(file, Buffer.alloc(FILE_BYTES), 0);
    await file.sync();
    await this.#fs.syncFolder(this.#folder);
    return file;
  }
}
