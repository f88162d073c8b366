/**
 * The beginning of the log, `log.beginning` in the data folder: "the journal begins with this event".
 *
 * The names of the segments alone do not show whether the oldest ones were deleted by retention, nor
 * distinguish an empty journal from a deleted one. This file does. It lies outside the journal's folder, so that it is not
 * deleted with it. It is written when the first segment of all is on disk, and before retention deletes anything, so it never
 * names an event that the journal does not reach back to, unless a file is missing. A folder of release 0.1.0
 * gets one at its first start.
 *
 * Format 1, 28 bytes. Every number is little-endian:
 *
 *   offset  bytes  what
 *        0      8  magic: "FLAGBEGN"
 *        8      4  format version: 1
 *       12      4  checksum of the last frame before that event (the chain value); 0 before the first event of all
 *       16      8  id of the event, with which a segment begins
 *       24      4  CRC-32 of bytes 0–23
 *
 * Sample, of a log that begins with the first event of all:
 *   46 4c 41 47 42 45 47 4e 01 00 00 00 00 00 00 00 01 00 00 00 00 00 00 00
 *   8f d4 d8 d9
 *
 * History: 1, the first. A newer version is refused by name.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { newerFormat } from '../disk/data-folder.ts';
import { type FileSystem, isUnreadable, readLeniently, withFile } from '../disk/file-system.ts';
import { replaceFile } from '../disk/write-fully.ts';
import type { SegmentStart } from './segment.ts';

export const LOG_BEGINNING_FILE_NAME = 'log.beginning';
export const LOG_BEGINNING_VERSION = 1;

const FILE_BYTES = 28;
const CHECKSUM_AT = 24;
assert(CHECKSUM_AT + 4 === FILE_BYTES, 'the checksum covers all of the file before it');
const MAGIC = Buffer.from('FLAGBEGN', 'latin1');

/** `unreadable`: the file is there, and its content is damaged, or the disk cannot read it. */
export type LogBeginningReading =
  | { readonly state: 'absent' | 'unreadable' }
  | { readonly state: 'good'; readonly beginning: SegmentStart };

/** `folder` is the data folder. */
export async function readLogBeginning(fs: FileSystem, folder: string): Promise<LogBeginningReading> {
  const path = join(folder, LOG_BEGINNING_FILE_NAME);
  if (!(await fs.exists(path))) return { state: 'absent' };
  try {
    const bytes = Buffer.alloc(FILE_BYTES);
    await withFile(fs, path, (file) => readLeniently(file, bytes, FILE_BYTES, 0));
    const beginning = decode(bytes, path);
    return beginning === null ? { state: 'unreadable' } : { state: 'good', beginning };
  } catch (error) {
    if (isUnreadable(error)) return { state: 'unreadable' };
    throw error;
  }
}

/** Durable when it resolves. `folder` is the data folder. */
export function writeLogBeginning(fs: FileSystem, folder: string, beginning: SegmentStart): Promise<void> {
  return replaceFile(fs, join(folder, LOG_BEGINNING_FILE_NAME), encode(beginning), { durable: true });
}

function encode({ firstId, chain }: SegmentStart): Buffer {
  assert(Number.isSafeInteger(firstId) && firstId > 0, 'a log begins with an event');
  const bytes = Buffer.alloc(FILE_BYTES);
  bytes.set(MAGIC, 0);
  bytes.writeUInt32LE(LOG_BEGINNING_VERSION, 8);
  bytes.writeUInt32LE(chain, 12);
  bytes.writeBigUInt64LE(BigInt(firstId), 16);
  bytes.writeUInt32LE(crc32(bytes.subarray(0, CHECKSUM_AT)), CHECKSUM_AT);
  return bytes;
}

function decode(bytes: Buffer, file: string): SegmentStart | null {
  if (bytes.compare(MAGIC, 0, 8, 0, 8) !== 0) return null;
  if (bytes.readUInt32LE(CHECKSUM_AT) !== crc32(bytes.subarray(0, CHECKSUM_AT))) return null;
  const version = bytes.readUInt32LE(8);
  if (version !== LOG_BEGINNING_VERSION) {
    const known = LOG_BEGINNING_VERSION;
    throw newerFormat('The record of where the log begins', { file, offset: 8, version, known });
  }
  const firstId = Number(bytes.readBigUInt64LE(16));
  return Number.isSafeInteger(firstId) && firstId > 0 ? { firstId, chain: bytes.readUInt32LE(12) } : null;
}
