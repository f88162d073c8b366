/**
 * How a segment ends: whole, with zeros that no batch has overwritten yet (preallocation.ts), with a tail that a crash
 * cut off or that is still being written, or with damage. Every reader of segments uses this, so that all of them draw
 * the line in the same place.
 */
import assert from 'node:assert/strict';
import { type OpenFile, readLeniently, UNREADABLE } from '../disk/file-system.ts';
import { CHUNK_BYTES } from '../disk/file-window.ts';
import { FRAME_FORMATS, type FrameFormat, frameEnd, type RawFrame } from './frame-format.ts';
import { beginsLikePayload, PAYLOAD_MARK } from './frame-payload.ts';
import type { OpenSegment } from './segment-file.ts';
import { isBatchStart, type ScanEnd, type ScanStart } from './segment-scan.ts';

export type SegmentEnd =
  | { readonly kind: 'whole' }
  /** From `offset` on, nothing was written yet when the segment was read. */
  | { readonly kind: 'unwritten'; readonly offset: number }
  /**
   * The bytes from `offset` on were never acknowledged as a frame, or are not one yet. `bytes` does not count
   * the zeros that follow it.
   */
  | { readonly kind: 'tail'; readonly offset: number; readonly bytes: number }
  | { readonly kind: 'damage'; readonly offset: number; readonly what: string };

/**
 * Judges where a scan ended. Only the last segment can have a tail: a segment is begun after the one before it is on
 * disk to its end.
 */
export async function judgeScanEnd(
  { file, header }: OpenSegment,
  { offset, size, problem }: ScanEnd,
  isLast: boolean,
): Promise<SegmentEnd> {
  assert(problem === null || offset < size, 'what is wrong lies within the file');
  if (problem === null) return { kind: 'whole' };
  if (!isLast || !problem.tornLike) return { kind: 'damage', offset, what: problem.what };
  const formats = header === null ? FRAME_FORMATS : [header.format];
  const proof = await findFrame(file, { from: offset + 1, formats, batchAfter: offset });
  if (proof === null) return judgeTail(file, offset, size);
  assert(proof.frame.batchStart > offset, 'the frame that proves damage was written after what is damaged');
  // A running server has overwritten the zeros since the scan read them.
  if (header !== null && (await wholeFrameAt(file, offset, header.format, await file.size())) !== null) {
    return { kind: 'unwritten', offset };
  }
  return {
    kind: 'damage',
    offset,
    what: `${problem.what}, and a good frame follows at ${proof.frame.offset}`,
  };
}

/** A header is on disk before the first frame is written, so a file without one can only be new and empty. */
export async function judgeMissingHeader({ file }: OpenSegment, isLast: boolean): Promise<SegmentEnd> {
  const what = 'the header of a journal file is damaged';
  if (!isLast) return { kind: 'damage', offset: 0, what };
  const proof = await findFrame(file, { from: 1, formats: FRAME_FORMATS, batchAfter: 0 });
  if (proof !== null) return { kind: 'damage', offset: 0, what };
  return judgeTail(file, 0, await file.size());
}

/** Judges the bytes behind the last frame. Ones that the disk cannot read are damage: they may not be cut off unseen. */
async function judgeTail(file: OpenFile, offset: number, size: number): Promise<SegmentEnd> {
  const window = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, size - offset));
  const zeros = Buffer.alloc(window.length);
  let end = offset;
  for (let at = offset; at < size; at += CHUNK_BYTES) {
    const { count, unreadableAt } = await readLeniently(file, window, Math.min(CHUNK_BYTES, size - at), at);
    if (unreadableAt !== null) {
      return { kind: 'damage', offset, what: `${UNREADABLE} at offset ${unreadableAt}` };
    }
    const bytes = window.subarray(0, count);
    // Most chunks are zeros, and to compare a whole chunk takes far less than to look at each byte.
    if (bytes.equals(zeros.subarray(0, count))) continue;
    end = at + bytes.findLastIndex((byte) => byte !== 0) + 1;
  }
  assert(end >= offset && end <= Math.max(size, offset), 'a tail lies within the file');
  return end === offset ? { kind: 'unwritten', offset } : { kind: 'tail', offset, bytes: end - offset };
}

export interface FrameSearch {
  /** The first offset at which a frame may begin. */
  readonly from: number;
  readonly formats: readonly FrameFormat[];
  /** Only a frame whose batch began beyond this offset: it proves that what lies before its batch had been synced. */
  readonly batchAfter?: number;
}

export interface FoundRawFrame {
  readonly format: FrameFormat;
  readonly frame: RawFrame;
}

/**
 * The first whole frame; null when there is none. Only places where the payload's first bytes stand are looked at, so
 * that noise costs no checksums.
 */
export async function findFrame(file: OpenFile, search: FrameSearch): Promise<FoundRawFrame | null> {
  assert(search.from >= 0 && search.formats.length > 0, 'a search has a beginning and something to look for');
  const size = await file.size();
  const window = Buffer.allocUnsafe(Math.max(Math.min(CHUNK_BYTES, size - search.from), 0));
  const overlap = PAYLOAD_MARK.length - 1;
  for (let start = search.from; start < size; start += CHUNK_BYTES - overlap) {
    const { count } = await readLeniently(file, window, Math.min(CHUNK_BYTES, size - start), start);
    const bytes = window.subarray(0, count);
    for (let at = bytes.indexOf(PAYLOAD_MARK); at >= 0; at = bytes.indexOf(PAYLOAD_MARK, at + 1)) {
      const found = await frameOfPayload(file, start + at - 1, search, size);
      if (found !== null) return found;
    }
  }
  return null;
}

/** The next whole frame, wherever it begins; null when there is none. */
export async function resumeFrom({ file, header }: OpenSegment, from: number): Promise<ScanStart | null> {
  const formats = header === null ? FRAME_FORMATS : [header.format];
  const found = await findFrame(file, { from, formats });
  return found === null
    ? null
    : { format: found.format, offset: found.frame.offset, chain: found.frame.previous };
}

/** The frame whose payload begins at this offset. */
async function frameOfPayload(
  file: OpenFile,
  payloadAt: number,
  { from, formats, batchAfter = 0 }: FrameSearch,
  size: number,
): Promise<FoundRawFrame | null> {
  for (const format of formats) {
    const offset = payloadAt - format.headerBytes;
    if (offset < from) continue;
    const frame = await wholeFrameAt(file, offset, format, size);
    if (frame === null || frame.batchStart <= batchAfter) continue;
    assert(frameEnd(frame) <= size, 'a frame that was found lies within the file');
    return { format, frame };
  }
  return null;
}

async function wholeFrameAt(
  file: OpenFile,
  offset: number,
  format: FrameFormat,
  size: number,
): Promise<RawFrame | null> {
  const head = Buffer.alloc(format.headerBytes + 1 + PAYLOAD_MARK.length);
  if ((await readLeniently(file, head, head.length, offset)).count < head.length) return null;
  const header = format.readHeader(head, 0);
  if (header === null || !beginsLikePayload(head, format.headerBytes)) return null;
  const frame = { ...header, offset };
  if (frameEnd(frame) > size || !isBatchStart(frame.batchStart, offset)) return null;
  const bytes = Buffer.allocUnsafe(format.headerBytes + frame.payloadBytes);
  if ((await readLeniently(file, bytes, bytes.length, offset)).count < bytes.length) return null;
  return format.checksum(bytes, 0, frame.payloadBytes) === frame.checksum ? frame : null;
}
