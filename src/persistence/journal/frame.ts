/**
 * A frame: one committed command on disk. All of its events survive a crash, or none does (invariant 2).
 *
 * Format 1. Every number is little-endian.
 *
 *   offset  bytes  what
 *        0      4  payload length in bytes, 1 … FRAME_BYTES_MAX
 *        4      4  CRC-32 (that of zlib) of bytes 0–3 followed by bytes 8 to the end of the payload
 *        8      4  CRC-32 of the frame before; of the first frame in a segment: the segment header's chain value
 *       12      4  offset in this segment at which the write batch that holds this frame began
 *       16      …  payload: one MessagePack map, its first key `id` (see frame-payload.ts)
 *
 * `previous` chains the frames: a frame that was dropped, doubled, swapped or brought from elsewhere shows, though
 * its own checksum holds. `batchStart` tells damage from a torn tail: one sync is in flight at a time, and a batch is
 * written only after the one before it is on disk, hence everything before a frame's `batchStart` had been synced
 * when the frame was written. Wrong bytes at offset o with a good frame after them whose `batchStart` lies beyond o
 * are damage. Wrong bytes that no such frame follows belong to the last batch, no change of which was acknowledged.
 *
 * Sample, the payload `{ id: 1 }` alone (not a valid frame, but short), first in its segment:
 *   05 00 00 00 | 00 38 a7 b9 | 00 00 00 00 | 40 00 00 00 | 81 a2 69 64 01
 *
 * History: 1, the first. The version stands in the segment header (segment.ts).
 */
import { crc32 } from 'node:zlib';

/** A recorded change. `hidden` is what replay needs and no reader of events may see. */
export interface RecordedEvent {
  readonly type: string;
  readonly project: string | null;
  readonly featureName: string | null;
  readonly environment: string | null;
  readonly data: unknown;
  readonly preData: unknown;
  readonly tags?: readonly { readonly type: string; readonly value: string }[];
  readonly hidden?: unknown;
}

export interface Frame {
  /** Id of the first event; the others follow without a gap. */
  readonly id: number;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly by: string;
  readonly userId: number;
  /** At least one. */
  readonly events: readonly RecordedEvent[];
  /** The response to an idempotent request, kept for retries. */
  readonly answer?: unknown;
}

/** Where a frame lies: the segment by its first event id, the offset of the header, header and payload in bytes. */
export interface FramePosition {
  readonly segment: number;
  readonly offset: number;
  readonly length: number;
}

export const FRAME_HEADER_BYTES = 16;

/** Protects recovery's memory: no length field makes it allocate more. A request body is limited to 1 MiB. */
export const FRAME_BYTES_MAX = 32 * 1024 * 1024;

export const lastEventId = (frame: Frame): number => frame.id + frame.events.length - 1;

/** The checksum of the frame at `offset`, whose header, but for the checksum itself, and payload are in place. */
export function frameChecksum(bytes: Buffer, offset: number, payloadBytes: number): number {
  const length = crc32OfFour(bytes, offset);
  return crc32(bytes.subarray(offset + 8, offset + FRAME_HEADER_BYTES + payloadBytes), length);
}

/** The CRC-32 of each single byte with nothing before it, shifted out: the table of the algorithm (RFC 1952 §8). */
const CRC_TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let rest = byte;
  for (let bit = 0; bit < 8; bit += 1) rest = (rest & 1) === 1 ? (rest >>> 1) ^ 0xed_b8_83_20 : rest >>> 1;
  return rest;
});

/** For four bytes. Calling zlib for so few takes longer than everything else in completing a frame. */
function crc32OfFour(bytes: Buffer, offset: number): number {
  let crc = 0xff_ff_ff_ff;
  for (let at = offset; at < offset + 4; at += 1) crc = CRC_TABLE[(crc ^ bytes[at]!) & 0xff]! ^ (crc >>> 8);
  return (crc ^ 0xff_ff_ff_ff) >>> 0;
}

export interface FrameLinks {
  readonly payloadBytes: number;
  readonly previous: number;
  readonly batchStart: number;
}

/** Writes the header before a payload that is already in place; returns the checksum, the next frame's `previous`. */
export function sealFrame(bytes: Buffer, offset: number, links: FrameLinks): number {
  bytes.writeUInt32LE(links.payloadBytes, offset);
  bytes.writeUInt32LE(links.previous, offset + 8);
  bytes.writeUInt32LE(links.batchStart, offset + 12);
  const checksum = frameChecksum(bytes, offset, links.payloadBytes);
  bytes.writeUInt32LE(checksum, offset + 4);
  return checksum;
}

/** A frame as it lies in a buffer, its payload not decoded. */
export interface RawFrame extends FrameLinks {
  readonly offset: number;
  readonly checksum: number;
}

/** Reads the header at `offset`, trusting nothing; null where fewer bytes are left than a header takes. */
export function readFrameHeader(bytes: Buffer, offset: number): RawFrame | null {
  if (offset < 0 || offset + FRAME_HEADER_BYTES > bytes.length) return null;
  return {
    offset,
    payloadBytes: bytes.readUInt32LE(offset),
    checksum: bytes.readUInt32LE(offset + 4),
    previous: bytes.readUInt32LE(offset + 8),
    batchStart: bytes.readUInt32LE(offset + 12),
  };
}

export const isPayloadLength = (bytes: number): boolean => bytes >= 1 && bytes <= FRAME_BYTES_MAX;
