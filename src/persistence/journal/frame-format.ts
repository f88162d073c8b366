/**
 * The format of a frame in a segment. The version stands in the segment's header (segment.ts). Every number is
 * little-endian.
 *
 * Format 2, a header of 24 bytes:
 *
 *   offset  bytes  what
 *        0      4  offset in this segment at which the write batch that holds this frame began; never 0
 *        4      4  CRC-32 of bytes 0–3 followed by bytes 8–11
 *        8      4  CRC-32 of byte 12 to the end of the payload: the frame's checksum, the next frame's chain value
 *       12      4  payload length in bytes, 1 … FRAME_BYTES_MAX
 *       16      4  checksum of the frame before; of the first frame in a segment: the segment header's chain value
 *       20      2  content version of the payload (src/domain/state/upgrade.ts)
 *       22      2  rules of replay (src/domain/state/replay-rules.ts)
 *       24      …  payload: one MessagePack map, its first key `id` (see frame-payload.ts)
 *
 * Sample, the payload `{ id: 1 }` alone (not a valid frame, but short), first in its segment:
 *   40 00 00 00 | 44 1f a9 94 | f0 24 39 d6 | 05 00 00 00 | 00 00 00 00 | 01 00 | 01 00 | 81 a2 69 64 01
 *
 * The checksum covers what is the same on every node that has the frame, and only that: the event ids, the content,
 * by which rules it is replayed, and the frame before. Where the frame lies is local, and has its own checksum.
 *
 * No frame begins with zeros. So zeros from a frame's end to the end of the last segment were written ahead
 * (preallocation.ts), and nothing has overwritten them yet.
 *
 * The chain of checksums shows a frame that was dropped, doubled, swapped or brought from elsewhere, though its own
 * checksum holds. The batch's beginning distinguishes damage from a torn tail: one sync is in flight at a time, and a batch is
 * written only after the one before it is on disk, hence everything before a frame's `batchStart` had been synced
 * when the frame was written. Wrong bytes at offset o with a good frame after them whose `batchStart` lies beyond o
 * are damage; wrong bytes that no such frame follows belong to the last batch, which was never acknowledged.
 *
 * Format 1, of release 0.1.0, a header of 16 bytes. It is read and never written:
 *
 *   offset  bytes  what
 *        0      4  payload length in bytes
 *        4      4  CRC-32 of bytes 0–3 followed by bytes 8 to the end of the payload: the frame's checksum
 *        8      4  checksum of the frame before, as in format 2
 *       12      4  offset in this segment at which the write batch began
 *       16      …  payload; its content version is 1, and it is replayed by rule 1
 *
 * Sample of format 1, the same payload, first in its segment:
 *   05 00 00 00 | 00 38 a7 b9 | 00 00 00 00 | 40 00 00 00 | 81 a2 69 64 01
 *
 * History: 1, the first. 2: the checksum no longer covers the place; content version and rules of replay.
 */
import assert from 'node:assert/strict';
import { crc32 } from 'node:zlib';
import { RULES_VERSION } from '../../domain/state/replay-rules.ts';
import { CONTENT_VERSION } from '../../domain/state/upgrade.ts';
import { FRAME_BYTES_MAX } from './frame.ts';

/** How a payload is to be read and replayed. */
export interface PayloadStamp {
  readonly contentVersion: number;
  readonly rules: number;
}

/** The part of a frame that is decided once: every node that has the frame has the same, and chains it to the same frame. */
export interface FrameBody extends PayloadStamp {
  readonly payload: Buffer;
}

/** A frame as it stands in a chain, wherever it lies. */
export interface FrameLink extends FrameBody {
  /** The id of its first event. */
  readonly id: number;
  readonly checksum: number;
  /** Checksum of the frame before. */
  readonly previous: number;
}

/** The contents of a frame's header, besides its checksums. */
export interface FrameLinks extends PayloadStamp {
  readonly payloadBytes: number;
  /** Checksum of the frame before. */
  readonly previous: number;
  readonly batchStart: number;
}

/** A frame as it lies in a buffer, its payload not decoded. */
export interface RawFrame extends FrameLinks {
  /** The start of the header, in a buffer or in a file, as the caller has it. */
  readonly offset: number;
  readonly headerBytes: number;
  readonly checksum: number;
}

export interface FrameFormat {
  readonly version: number;
  readonly headerBytes: number;
  /** The place of the checksum in a header. */
  readonly checksumAt: number;
  /** Reads the header at `offset`, trusting nothing; null where it is cut short or contradicts itself. */
  readHeader(bytes: Buffer, offset: number): RawFrame | null;
  /** The checksum of the frame at `offset`, header and payload of which are in `bytes`. */
  checksum(bytes: Buffer, offset: number, payloadBytes: number): number;
}

/** The CRC-32 of each single byte with nothing before it, shifted out: the table of the algorithm (RFC 1952 §8). */
const CRC_TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let rest = byte;
  for (let bit = 0; bit < 8; bit += 1) rest = (rest & 1) === 1 ? (rest >>> 1) ^ 0xed_b8_83_20 : rest >>> 1;
  return rest;
});

/** The checksum of four bytes behind those whose checksum is `before`. To call zlib for so few takes longer than sealing a frame. */
function crc32OfFour(bytes: Buffer, offset: number, before = 0): number {
  assert(offset >= 0 && offset + 4 <= bytes.length, 'a checksum covers bytes that are there');
  let crc = ~before;
  for (let at = offset; at < offset + 4; at += 1) crc = CRC_TABLE[(crc ^ bytes[at]!) & 0xff]! ^ (crc >>> 8);
  return ~crc >>> 0;
}

const isPayloadLength = (bytes: number): boolean => bytes >= 1 && bytes <= FRAME_BYTES_MAX;

const FORMAT_1: FrameFormat = {
  version: 1,
  headerBytes: 16,
  checksumAt: 4,
  readHeader(bytes, offset) {
    if (offset < 0 || offset + 16 > bytes.length) return null;
    const payloadBytes = bytes.readUInt32LE(offset);
    if (!isPayloadLength(payloadBytes)) return null;
    return {
      offset,
      headerBytes: 16,
      payloadBytes,
      checksum: bytes.readUInt32LE(offset + 4),
      previous: bytes.readUInt32LE(offset + 8),
      batchStart: bytes.readUInt32LE(offset + 12),
      contentVersion: 1,
      rules: 1,
    };
  },
  checksum: (bytes, offset, payloadBytes) =>
    crc32(bytes.subarray(offset + 8, offset + 16 + payloadBytes), crc32OfFour(bytes, offset)),
};

const FORMAT_2: FrameFormat = {
  version: 2,
  headerBytes: 24,
  checksumAt: 8,
  readHeader(bytes, offset) {
    if (offset < 0 || offset + 24 > bytes.length) return null;
    const payloadBytes = bytes.readUInt32LE(offset + 12);
    if (!isPayloadLength(payloadBytes) || bytes.readUInt32LE(offset + 4) !== placeChecksum(bytes, offset)) {
      return null;
    }
    return {
      offset,
      headerBytes: 24,
      payloadBytes,
      checksum: bytes.readUInt32LE(offset + 8),
      previous: bytes.readUInt32LE(offset + 16),
      batchStart: bytes.readUInt32LE(offset),
      contentVersion: bytes.readUInt16LE(offset + 20),
      rules: bytes.readUInt16LE(offset + 22),
    };
  },
  checksum: (bytes, offset, payloadBytes) => crc32(bytes.subarray(offset + 12, offset + 24 + payloadBytes)),
};

/** The checksum of the frame's place and of its own checksum, by which it stands for this frame alone. */
const placeChecksum = (bytes: Buffer, offset: number): number =>
  crc32OfFour(bytes, offset + 8, crc32OfFour(bytes, offset));

/** Every format that can be read, the newest first. */
export const FRAME_FORMATS: readonly FrameFormat[] = [FORMAT_2, FORMAT_1];

/** The format that is written. */
export const FRAME_FORMAT = FORMAT_2;

export const FRAME_HEADER_BYTES = FRAME_FORMAT.headerBytes;

/** From here to the end of its payload, a frame is the same wherever it lies, but for the frame before it. */
export const STAMP_AT = 20;

export const payloadBytesAt = (frames: Buffer, offset: number): number => frames.readUInt32LE(offset + 12);

/** The versions that this build writes into the headers of its own frames. */
export const OWN_STAMP: PayloadStamp = { contentVersion: CONTENT_VERSION, rules: RULES_VERSION };

/** A payload of this build's own. */
export const ownBody = (payload: Buffer): FrameBody => ({ payload, ...OWN_STAMP });

/** Whether a newer version wrote it, so that this one cannot know what it means. */
export const isNewer = ({ contentVersion, rules }: PayloadStamp): boolean =>
  contentVersion > CONTENT_VERSION || rules > RULES_VERSION;

/** Whether an older version wrote it, which would refuse what this one writes behind it. */
export const isOlder = ({ contentVersion, rules }: PayloadStamp): boolean =>
  contentVersion < CONTENT_VERSION || rules < RULES_VERSION;

/** The format of this version, which the header of a segment named. */
export function frameFormatOf(version: number): FrameFormat {
  assert(version === 1 || version === FORMAT_2.version, 'this build reads the format');
  return version === 1 ? FORMAT_1 : FORMAT_2;
}

/** Writes the header before a payload that is already in place; returns the checksum, the next frame's `previous`. */
export function sealFrame(bytes: Buffer, offset: number, links: FrameLinks): number {
  assert(links.batchStart > 0, 'a frame never begins with zeros');
  assert(isPayloadLength(links.payloadBytes), 'a reader accepts the length of a payload');
  assert(offset + FRAME_HEADER_BYTES + links.payloadBytes <= bytes.length, 'the payload is in its place');
  bytes.writeUInt32LE(links.batchStart, offset);
  writeLinks(bytes, offset, links);
  const checksum = FORMAT_2.checksum(bytes, offset, links.payloadBytes);
  bytes.writeUInt32LE(checksum, offset + 8);
  bytes.writeUInt32LE(placeChecksum(bytes, offset), offset + 4);
  return checksum;
}

/** The checksum of a frame that follows one with the checksum `previous`, as `sealFrame` gives it. */
export function chainAfter(previous: number, { payload, contentVersion, rules }: FrameBody): number {
  assert(isPayloadLength(payload.length), 'a reader accepts the length of a payload');
  writeLinks(HEAD, 0, { payloadBytes: payload.length, previous, contentVersion, rules });
  return crc32(payload, crc32OfFour(HEAD, 20, crc32OfFour(HEAD, 16, crc32OfFour(HEAD, 12))));
}

/** Written anew for each frame of which only the checksum is needed. */
const HEAD = Buffer.alloc(FRAME_HEADER_BYTES);

/** Writes the part of the header that the checksum covers. */
function writeLinks(bytes: Buffer, offset: number, links: Omit<FrameLinks, 'batchStart'>): void {
  assert(links.contentVersion > 0 && links.rules > 0, 'a frame says how it is to be read');
  bytes.writeUInt32LE(links.payloadBytes, offset + 12);
  bytes.writeUInt32LE(links.previous, offset + 16);
  bytes.writeUInt16LE(links.contentVersion, offset + 20);
  bytes.writeUInt16LE(links.rules, offset + 22);
}

/** Offset behind the frame. */
export const frameEnd = ({ offset, headerBytes, payloadBytes }: RawFrame): number =>
  offset + headerBytes + payloadBytes;
