/**
 * Reads a segment from front to back, and verifies the checksum and the chain of every frame without decoding any.
 *
 * The file is read in large chunks, and the frames of a chunk are visited in a plain loop, since a promise per frame
 * would cost more than its checksum. Memory is bounded by one chunk and one frame, for any file.
 */
import assert from 'node:assert/strict';
import { RULES_VERSION } from '../../domain/state/replay-rules.ts';
import { CONTENT_VERSION } from '../../domain/state/upgrade.ts';
import { type DataFolderError, newerFormat } from '../disk/data-folder.ts';
import { UNREADABLE } from '../disk/file-system.ts';
import { FileWindow } from '../disk/file-window.ts';
import { type FrameFormat, frameEnd, isNewer, type RawFrame } from './frame-format.ts';
import { SEGMENT_HEADER_BYTES, type SegmentHeader } from './segment.ts';
import type { OpenSegment } from './segment-file.ts';

/** Called for each frame in order; `payload` is valid during the call only. Return false to stop the scan. */
export type VisitFrame = (frame: RawFrame, payload: Buffer) => boolean | undefined;

/** Awaited between pieces of long work, for the sake of others. */
export type Rest = () => Promise<void>;

export interface ScanStart {
  readonly format: FrameFormat;
  /** Offset of the first frame to read. */
  readonly offset: number;
  /** Checksum of the frame before it, or the segment header's chain value. */
  readonly chain: number;
}

/** Before the first frame. */
export const scanStartOf = ({ format, chain }: SegmentHeader): ScanStart => ({
  format,
  offset: SEGMENT_HEADER_BYTES,
  chain,
});

export interface ScanEnd {
  /** Offset behind the last good frame. */
  readonly offset: number;
  /** Checksum of the last good frame, or the chain value the scan began with. */
  readonly chain: number;
  readonly frames: number;
  /** The problem at `offset`; null at the end of the file, or where the visitor stopped. */
  readonly problem: ScanProblem | null;
  readonly size: number;
}

export interface ScanProblem {
  readonly what: string;
  /**
   * Whether a write cut off by a crash can look like this. A frame that is whole but does not fit its place cannot:
   * it was dropped, doubled, swapped or brought here after it had been written. Nor can a place that the disk cannot
   * read: what was there is not known.
   */
  readonly tornLike: boolean;
}

const torn = (what: string): ScanProblem => ({ what, tornLike: true });
const notTorn = (what: string): ScanProblem => ({ what, tornLike: false });

/**
 * Verifies the frames of a segment from `start` to the end of the file or to the first bad one. Throws when a newer
 * version wrote one of them.
 */
export async function scanFrames(
  { file, path }: Pick<OpenSegment, 'file' | 'path'>,
  start: ScanStart,
  visit: VisitFrame,
  rest?: Rest,
): Promise<ScanEnd> {
  const window = new FileWindow(file, await file.size());
  const { format } = start;
  let { offset, chain } = start;
  assert(offset >= SEGMENT_HEADER_BYTES, 'a scan begins behind the header');
  let frames = 0;
  let problem: ScanProblem | null = null;
  while (offset < window.size) {
    const step = nextFrame(window, { format, offset, chain });
    if (typeof step === 'number') {
      await rest?.();
      await window.slide(offset, step);
      if (window.has(offset, step)) continue;
      problem =
        window.unreadableAt === null
          ? torn('the file became shorter while it was read')
          : notTorn(`${UNREADABLE} at offset ${window.unreadableAt}`);
      break;
    }
    if ('what' in step) {
      problem = step;
      break;
    }
    if (isNewer(step)) throw newerFrame(step, path);
    const payloadAt = offset - window.start + format.headerBytes;
    offset = frameEnd(step);
    assert(
      offset <= window.size && step.previous === chain,
      'a verified frame lies in the file, behind the one before',
    );
    chain = step.checksum;
    frames += 1;
    if (visit(step, window.bytes.subarray(payloadAt, payloadAt + step.payloadBytes)) === false) break;
  }
  assert((frames === 0) === (offset === start.offset), 'a scan goes on by whole frames');
  return { offset, chain, frames, problem, size: window.size };
}

/** The verified frame at `offset`; or how many bytes the window must hold to tell; or what is wrong. */
function nextFrame(
  window: FileWindow,
  { format, offset, chain }: ScanStart,
): RawFrame | number | ScanProblem {
  const left = window.size - offset;
  if (left < format.headerBytes) return torn('a frame header is cut short');
  if (!window.has(offset, format.headerBytes)) return format.headerBytes;
  const at = offset - window.start;
  const header = format.readHeader(window.bytes, at);
  if (header === null) return torn('a frame header is damaged');
  const frameBytes = format.headerBytes + header.payloadBytes;
  if (frameBytes > left) return torn('a frame is cut short');
  if (!window.has(offset, frameBytes)) return frameBytes;
  if (format.checksum(window.bytes, at, header.payloadBytes) !== header.checksum)
    return torn('a checksum does not match');
  if (header.previous !== chain) return notTorn('a frame does not follow the one before it');
  if (!isBatchStart(header.batchStart, offset))
    return notTorn('a frame claims a write that cannot have been');
  return { ...header, offset };
}

/** A batch begins behind the segment's header, and not behind its own frame. */
export const isBatchStart = (batchStart: number, offset: number): boolean =>
  batchStart >= SEGMENT_HEADER_BYTES && batchStart <= offset;

function newerFrame({ offset, contentVersion, rules }: RawFrame, file: string): DataFolderError {
  if (contentVersion > CONTENT_VERSION) {
    const details = { file, offset: offset + 20, version: contentVersion, known: CONTENT_VERSION };
    return newerFormat('An event', { ...details, of: 'content version' });
  }
  const details = { file, offset: offset + 22, version: rules, known: RULES_VERSION };
  return newerFormat('An event', { ...details, of: 'replay rule' });
}
