/**
 * The format of a snapshot: the whole state as of one event, `<id of that event, 20 digits>.snapshot`.
 *
 * Format 3. Every number is little-endian. A header of 64 bytes:
 *
 *   offset  bytes  what
 *        0      8  magic: "FLAGSNAP"
 *        8      4  format version: 3
 *       12      4  checksum of the journal frame that holds the event (the chain value): where the journal goes on
 *       16      8  id of the last event that the state contains
 *       24      8  its time, milliseconds since 1970, as a float 64
 *       32      4  content version of the records (src/domain/state/upgrade.ts)
 *       36     24  zeros
 *       60      4  CRC-32 of bytes 0–59
 *
 * Then blocks, each a header of 16 bytes and a payload:
 *
 *   offset  bytes  what
 *        0      4  payload length in bytes, at most BLOCK_BYTES_MAX
 *        4      4  CRC-32 of bytes 0–3 followed by bytes 8 to the end of the payload
 *        8      4  kind: 1 section begins, 2 records, 3 section ends, 4 the end, 5 outlined records
 *       12      4  count, see below
 *
 *   kind 1  payload: the section's name in UTF-8; count 0
 *   kind 2  payload: a MessagePack array (always array 32) of records; count: records in it
 *   kind 3  no payload; count: records in the section
 *   kind 4  payload: CRC-32 of every byte of the file before this block, 4 bytes; count: sections. Nothing follows it
 *   kind 5  read, and no longer written; payload: records, and before them an outline, which is skipped:
 *             4 bytes           length of the outline
 *             that many         the outline
 *             4 bytes a record  where it ends, counted from the beginning of the first one
 *             the rest          the records, each a MessagePack value
 *           count: records in it. Blocks of both kinds may stand in one section
 *
 * A file of format 3 gets its name only when every record in it has been decoded (snapshot-writer.ts).
 *
 * Sample, a section `a` with the one record `1`, from offset 64 on (event 5, time 1000, chain value 7):
 *   01 00 00 00 | 8a da 2c ff | 01 00 00 00 | 00 00 00 00 | 61
 *   06 00 00 00 | 7d d2 77 a7 | 02 00 00 00 | 01 00 00 00 | dd 00 00 00 01 01
 *   00 00 00 00 | e9 a6 e6 4d | 03 00 00 00 | 01 00 00 00
 *   04 00 00 00 | ac 90 b4 23 | 04 00 00 00 | 01 00 00 00 | 50 d9 5d cc
 *
 * Sample of a block of kind 5, two records, `1` and `2`, with the outline `"o"`:
 *   10 00 00 00 | 7f 0e 02 4b | 05 00 00 00 | 02 00 00 00 | 02 00 00 00 | a1 6f | 01 00 00 00 02 00 00 00 | 01 02
 *
 * History: 1, of release 0.1.0: zeros instead of the content version, which was 1. 2: the content version. 3: blocks of
 * kind 5, which release 0.2.0 wrote for flags; decoded before it is published. A newer version of either is refused by name.
 */
import assert from 'node:assert/strict';
import { crc32 } from 'node:zlib';
import { CONTENT_VERSION } from '../../domain/state/upgrade.ts';
import { joinedChecksum, shiftPast } from '../codec/joined-checksum.ts';
import { newerFormat } from '../disk/data-folder.ts';
import { FRAME_BYTES_MAX } from '../journal/frame.ts';

export const SNAPSHOT_SUFFIX = '.snapshot';
export const SNAPSHOT_VERSION = 3;
export const SNAPSHOT_HEADER_BYTES = 64;
export const BLOCK_HEADER_BYTES = 16;

/** Protects the reader's memory: no length field makes it allocate more. One record can be as large as one frame. */
export const BLOCK_BYTES_MAX = FRAME_BYTES_MAX;

export const BLOCK_KINDS = { sectionBegins: 1, records: 2, sectionEnds: 3, end: 4, outlined: 5 } as const;

const MAGIC = Buffer.from('FLAGSNAP', 'latin1');
const CHECKSUM_AT = 60;

export interface SnapshotStamp {
  /** Id of the last event that the state contains. */
  readonly id: number;
  /** Time of that event, milliseconds since 1970. */
  readonly at: number;
  /** Checksum of the journal frame that holds it. */
  readonly chain: number;
}

export interface SnapshotHeader extends SnapshotStamp {
  readonly contentVersion: number;
}

export function encodeSnapshotHeader({ id, at, chain }: SnapshotStamp): Buffer {
  assert(Number.isSafeInteger(id) && id > 0 && Number.isFinite(at), 'a snapshot is the state as of an event');
  const bytes = Buffer.alloc(SNAPSHOT_HEADER_BYTES);
  bytes.set(MAGIC, 0);
  bytes.writeUInt32LE(SNAPSHOT_VERSION, 8);
  bytes.writeUInt32LE(chain, 12);
  bytes.writeBigUInt64LE(BigInt(id), 16);
  bytes.writeDoubleLE(at, 24);
  bytes.writeUInt32LE(CONTENT_VERSION, 32);
  bytes.writeUInt32LE(crc32(bytes.subarray(0, CHECKSUM_AT)), CHECKSUM_AT);
  return bytes;
}

/** The header, or null when these bytes are not a whole one. Throws when a newer version wrote it. */
export function decodeSnapshotHeader(bytes: Buffer, file: string): SnapshotHeader | null {
  if (bytes.length < SNAPSHOT_HEADER_BYTES || bytes.compare(MAGIC, 0, 8, 0, 8) !== 0) return null;
  if (bytes.readUInt32LE(CHECKSUM_AT) !== crc32(bytes.subarray(0, CHECKSUM_AT))) return null;
  const version = bytes.readUInt32LE(8);
  if (version > SNAPSHOT_VERSION)
    throw newerFormat('The snapshot', { file, offset: 8, version, known: SNAPSHOT_VERSION });
  const contentVersion = version === 1 ? 1 : bytes.readUInt32LE(32);
  if (contentVersion > CONTENT_VERSION) {
    const details = { file, offset: 32, version: contentVersion, known: CONTENT_VERSION };
    throw newerFormat('The snapshot', { ...details, of: 'content version' });
  }
  const id = Number(bytes.readBigUInt64LE(16));
  return {
    id,
    at: bytes.readDoubleLE(24),
    chain: bytes.readUInt32LE(12),
    contentVersion,
  };
}

export interface BlockHeader {
  readonly payloadBytes: number;
  readonly checksum: number;
  readonly kind: number;
  readonly count: number;
}

/** Writes the header before a payload that is already in place in `block`. */
export function sealBlock(block: Buffer, kind: number, count: number): void {
  assert(block.length - BLOCK_HEADER_BYTES <= BLOCK_BYTES_MAX, 'a reader accepts the length of a block');
  assert(
    kind >= BLOCK_KINDS.sectionBegins && kind <= BLOCK_KINDS.outlined && count >= 0,
    'a block that the reader knows',
  );
  block.writeUInt32LE(block.length - BLOCK_HEADER_BYTES, 0);
  block.writeUInt32LE(kind, 8);
  block.writeUInt32LE(count, 12);
  block.writeUInt32LE(blockChecksum(block), 4);
}

/** The checksum of a whole block, header and payload. */
export function blockChecksum(block: Buffer): number {
  return crc32(block.subarray(8), crc32(block.subarray(0, 4)));
}

/**
 * The checksum of a file up to and with a block, from that of what lies before it. `ofBlock` is what `blockChecksum` has given for the
 * block; all but its first bytes are not read again.
 */
export function checksumWithBlock(before: number, block: Buffer, ofBlock: number): number {
  const withHead = crc32(block.subarray(0, 8), before);
  // The checksum of a block leaves out the place where it stands itself.
  const headOfBlock = crc32(block.subarray(0, 4));
  return joinedChecksum(withHead ^ headOfBlock, ofBlock, shiftPast(block.length - 8));
}

export function readBlockHeader(bytes: Buffer): BlockHeader {
  return {
    payloadBytes: bytes.readUInt32LE(0),
    checksum: bytes.readUInt32LE(4),
    kind: bytes.readUInt32LE(8),
    count: bytes.readUInt32LE(12),
  };
}
