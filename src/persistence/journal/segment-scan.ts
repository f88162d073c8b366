/**
 * Reads a segment from front to back, and verifies the checksum and the chain of every frame without decoding any.
 *
 * The file is read in large chunks, and the frames of a chunk are visited in a plain loop, since a promise per frame
 * would cost more than its checksum. Memory is bounded by one chunk and one frame, whatever the file says.
 */
import { crc32 } from 'node:zlib';
import type { OpenFile } from '../disk/file-system.ts';
import {
  FRAME_HEADER_BYTES,
  frameChecksum,
  isPayloadLength,
  type RawFrame,
  readFrameHeader,
} from './frame.ts';
import { beginsLikePayload, PAYLOAD_MARK } from './frame-payload.ts';
import { SEGMENT_HEADER_BYTES } from './segment.ts';

/** Large enough to read at the disk's pace, small enough to stay in the processor's cache while it is verified. */
export const CHUNK_BYTES = 1024 * 1024;

/** Called for each frame in order; `payload` is valid during the call only. Return false to stop the scan. */
export type VisitFrame = (frame: RawFrame, payload: Buffer) => boolean | undefined;

export interface ScanStart {
  /** Offset of the first frame to read. */
  readonly offset: number;
  /** Checksum of the frame before it, or the segment header's chain value. */
  readonly chain: number;
}

export interface ScanEnd {
  /** Offset behind the last good frame. */
  readonly offset: number;
  /** Checksum of the last good frame, or the chain value the scan began with. */
  readonly chain: number;
  readonly frames: number;
  /** What is wrong at `offset`; null at the end of the file, or where the visitor stopped. */
  readonly problem: ScanProblem | null;
  readonly size: number;
}

export interface ScanProblem {
  readonly what: string;
  /**
   * Whether a write cut off by a crash can look like this. A frame that is whole but does not fit its place cannot:
   * it was dropped, doubled, swapped or brought here after it had been written.
   */
  readonly tornLike: boolean;
}

const torn = (what: string): ScanProblem => ({ what, tornLike: true });
const misplaced = (what: string): ScanProblem => ({ what, tornLike: false });

/** A window over a file that slides forward; `bytes` holds the file from `start` on. */
class Window {
  readonly #file: OpenFile;
  readonly size: number;
  #buffer = Buffer.alloc(0);
  bytes: Buffer = this.#buffer.subarray(0, 0);
  start = 0;

  constructor(file: OpenFile, size: number) {
    this.#file = file;
    this.size = size;
  }

  has(offset: number, count: number): boolean {
    return offset >= this.start && offset + count <= this.start + this.bytes.length;
  }

  /** Makes `count` bytes from `offset` on available, and as many more as fit. The caller has checked the size. */
  async slide(offset: number, count: number): Promise<void> {
    const wanted = Math.min(Math.max(count, CHUNK_BYTES), this.size - offset);
    // A buffer that grew for one huge frame is freed.
    const fits = this.#buffer.length >= wanted && this.#buffer.length <= Math.max(wanted, CHUNK_BYTES);
    if (!fits) this.#buffer = Buffer.allocUnsafe(wanted);
    const read = await this.#file.read(this.#buffer, 0, wanted, offset);
    this.start = offset;
    this.bytes = this.#buffer.subarray(0, read);
  }
}

/** Verifies the frames of a segment from `start` to the end of the file or to the first bad one. */
export async function scanFrames(file: OpenFile, start: ScanStart, visit: VisitFrame): Promise<ScanEnd> {
  const window = new Window(file, await file.size());
  let { offset, chain } = start;
  let frames = 0;
  let problem: ScanProblem | null = null;
  while (offset < window.size) {
    const step = nextFrame(window, offset, chain);
    if (typeof step === 'number') {
      await window.slide(offset, step);
      if (window.has(offset, step)) continue;
      problem = torn('the file became shorter while it was read');
      break;
    }
    if ('what' in step) {
      problem = step;
      break;
    }
    const end = offset + FRAME_HEADER_BYTES + step.payloadBytes;
    const payloadAt = offset - window.start + FRAME_HEADER_BYTES;
    offset = end;
    chain = step.checksum;
    frames += 1;
    if (visit(step, window.bytes.subarray(payloadAt, payloadAt + step.payloadBytes)) === false) break;
  }
  return { offset, chain, frames, problem, size: window.size };
}

/** The verified frame at `offset`; or how many bytes the window must hold to tell; or what is wrong. */
function nextFrame(window: Window, offset: number, chain: number): RawFrame | number | ScanProblem {
  const left = window.size - offset;
  if (left < FRAME_HEADER_BYTES) return torn('a frame header is cut short');
  if (!window.has(offset, FRAME_HEADER_BYTES)) return FRAME_HEADER_BYTES;
  const at = offset - window.start;
  const header = readFrameHeader(window.bytes, at);
  if (header === null || !isPayloadLength(header.payloadBytes)) return torn('a frame length is impossible');
  const frameBytes = FRAME_HEADER_BYTES + header.payloadBytes;
  if (frameBytes > left) return torn('a frame is cut short');
  if (!window.has(offset, frameBytes)) return frameBytes;
  if (frameChecksum(window.bytes, at, header.payloadBytes) !== header.checksum)
    return torn('a checksum does not match');
  if (header.previous !== chain) return misplaced('a frame does not follow the one before it');
  if (!isBatchStart(header.batchStart, offset))
    return misplaced('a frame claims a write that cannot have been');
  return { ...header, offset };
}

const isBatchStart = (batchStart: number, offset: number): boolean =>
  batchStart >= SEGMENT_HEADER_BYTES && batchStart <= offset;

/**
 * Looks behind bad bytes for a frame that proves that they had once been synced: a complete frame whose batch began
 * beyond `badOffset`. Returns its offset, or null when the bad bytes belong to the last batch.
 *
 * Only places where the payload's first bytes stand are looked at, so that noise costs no checksums.
 */
export async function findProofOfDamage(file: OpenFile, badOffset: number): Promise<number | null> {
  const size = await file.size();
  const window = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, size - badOffset));
  const overlap = PAYLOAD_MARK.length - 1;
  for (let start = badOffset; start < size; start += CHUNK_BYTES - overlap) {
    const count = await file.read(window, 0, Math.min(CHUNK_BYTES, size - start), start);
    const bytes = window.subarray(0, count);
    for (let at = bytes.indexOf(PAYLOAD_MARK); at >= 0; at = bytes.indexOf(PAYLOAD_MARK, at + 1)) {
      const offset = start + at - 1 - FRAME_HEADER_BYTES;
      if (offset > badOffset && (await provesDamage(file, { offset, badOffset, size }))) return offset;
    }
  }
  return null;
}

interface Candidate {
  readonly offset: number;
  readonly badOffset: number;
  readonly size: number;
}

async function provesDamage(file: OpenFile, { offset, badOffset, size }: Candidate): Promise<boolean> {
  const head = Buffer.alloc(FRAME_HEADER_BYTES + 1 + PAYLOAD_MARK.length);
  if ((await file.read(head, 0, head.length, offset)) < head.length) return false;
  const header = readFrameHeader(head, 0);
  if (header === null || !isPayloadLength(header.payloadBytes)) return false;
  if (offset + FRAME_HEADER_BYTES + header.payloadBytes > size) return false;
  if (header.batchStart <= badOffset || !isBatchStart(header.batchStart, offset)) return false;
  if (!beginsLikePayload(head, FRAME_HEADER_BYTES)) return false;
  return (await checksumInFile(file, offset, header.payloadBytes)) === header.checksum;
}

/** Computes a frame's checksum piece by piece, so that a false length costs time but no memory. */
async function checksumInFile(file: OpenFile, offset: number, payloadBytes: number): Promise<number> {
  const piece = Buffer.allocUnsafe(64 * 1024);
  await file.read(piece, 0, 4, offset);
  let checksum = crc32(piece.subarray(0, 4));
  const end = offset + FRAME_HEADER_BYTES + payloadBytes;
  for (let at = offset + 8; at < end; ) {
    const count = await file.read(piece, 0, Math.min(piece.length, end - at), at);
    if (count === 0) break;
    checksum = crc32(piece.subarray(0, count), checksum);
    at += count;
  }
  return checksum;
}
