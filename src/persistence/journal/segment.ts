/**
 * A segment: one file of the journal, `<id of its first event, 20 digits>.journal`, a header and then frames.
 *
 * Format 2. Every number is little-endian.
 *
 *   offset  bytes  what
 *        0      8  magic: "FLAGJRNL"
 *        8      4  format version: 2
 *       12      4  checksum of the last frame before this segment (the chain value); 0 before the first event of all
 *       16      8  id of the first event that this segment holds or will hold
 *       24     36  zeros
 *       60      4  CRC-32 of bytes 0–59
 *       64      …  frames (frame-format.ts), one directly after the other, to the end of the file; in the last segment
 *                  of a server that runs or was killed, to the zeros that it will overwrite (preallocation.ts)
 *
 * Sample, the header of the first segment of all:
 *   46 4c 41 47 4a 52 4e 4c 02 00 00 00 00 00 00 00 01 00 00 00 00 00 00 00, 36 zeros, 71 16 85 84
 *
 * Sample of format 1, the same:
 *   46 4c 41 47 4a 52 4e 4c 01 00 00 00 00 00 00 00 01 00 00 00 00 00 00 00, 36 zeros, 66 12 d0 3e
 *
 * The header is on disk, and the name of the file too, before the first frame is written: a good frame in a file
 * proves that its header had been whole. A segment is written only after the one before it is on disk to its end.
 *
 * The frames say themselves which content they hold and by which rules they are replayed, and not the header: on
 * another node the same frames lie in other segments, and a damaged header takes nothing along that a repair could not
 * find again.
 *
 * History: 1, the first. 2: another format of frames, the header is as it was. A segment of format 1 is read and never
 * appended to: the first write of a newer build begins a segment. A newer version is refused by name.
 */
import assert from 'node:assert/strict';
import { crc32 } from 'node:zlib';
import { ADVICE_DAMAGED, DataFolderError, newerFormat } from '../disk/data-folder.ts';
import { FRAME_FORMAT, type FrameFormat, frameFormatOf } from './frame-format.ts';

export const SEGMENT_HEADER_BYTES = 64;
export const SEGMENT_VERSION = 2;
assert(SEGMENT_VERSION === FRAME_FORMAT.version, 'a segment names the format of the frames that are written');
export const SEGMENT_SUFFIX = '.journal';

/** Bounds what is lost to the index, and read again, when one file goes bad; large enough that rolling is rare. */
export const SEGMENT_BYTES_DEFAULT = 64 * 1024 * 1024;

const MAGIC = Buffer.from('FLAGJRNL', 'latin1');
const CHECKSUM_AT = 60;
assert(CHECKSUM_AT + 4 === SEGMENT_HEADER_BYTES, 'the checksum covers all of the header before it');

export interface SegmentStart {
  readonly firstId: number;
  readonly chain: number;
}

export interface SegmentHeader extends SegmentStart {
  readonly format: FrameFormat;
}

/** Event ids in file names have 20 digits, so that names sort as ids do. */
export const paddedId = (id: number): string => String(id).padStart(20, '0');

export const segmentFileName = (firstId: number): string => `${paddedId(firstId)}${SEGMENT_SUFFIX}`;

/** The id in a name of 20 digits and the given suffix; null for any other name. */
export function idInFileName(name: string, suffix: string): number | null {
  if (name.length !== 20 + suffix.length || !name.endsWith(suffix)) return null;
  const digits = name.slice(0, 20);
  const id = Number(digits);
  return /^\d{20}$/.test(digits) && Number.isSafeInteger(id) ? id : null;
}

/** `version`: that of the frames which follow. */
export function encodeSegmentHeader({ firstId, chain }: SegmentStart, version = SEGMENT_VERSION): Buffer {
  assert(Number.isSafeInteger(firstId) && firstId > 0, 'a segment begins with an event');
  assert(version > 0 && version <= SEGMENT_VERSION, 'no header names a format that this build cannot read');
  const bytes = Buffer.alloc(SEGMENT_HEADER_BYTES);
  bytes.set(MAGIC, 0);
  bytes.writeUInt32LE(version, 8);
  bytes.writeUInt32LE(chain, 12);
  bytes.writeBigUInt64LE(BigInt(firstId), 16);
  bytes.writeUInt32LE(crc32(bytes.subarray(0, CHECKSUM_AT)), CHECKSUM_AT);
  return bytes;
}

/** The header, or null when these bytes are not a whole one. Throws when a newer version wrote it. */
export function decodeSegmentHeader(bytes: Buffer, file: string): SegmentHeader | null {
  if (bytes.length < SEGMENT_HEADER_BYTES || bytes.compare(MAGIC, 0, 8, 0, 8) !== 0) return null;
  if (bytes.readUInt32LE(CHECKSUM_AT) !== crc32(bytes.subarray(0, CHECKSUM_AT))) return null;
  const version = bytes.readUInt32LE(8);
  if (version > SEGMENT_VERSION)
    throw newerFormat('The journal file', { file, offset: 8, version, known: SEGMENT_VERSION });
  if (version === 0) {
    const problem = 'The journal file has format 0, which never existed';
    throw new DataFolderError(problem, { file, offset: 8, advice: ADVICE_DAMAGED });
  }
  const firstId = Number(bytes.readBigUInt64LE(16));
  if (!Number.isSafeInteger(firstId) || firstId === 0) return null;
  return { firstId, chain: bytes.readUInt32LE(12), format: frameFormatOf(version) };
}
