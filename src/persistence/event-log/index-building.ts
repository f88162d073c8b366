/**
 * Fills an event index from the index files, and from the segment files for everything that those do not cover.
 *
 * It runs after recovery, which has verified every byte and cut a torn tail. While a server is running, a reader may
 * still find a half-written frame at the very end, and ignores it. Anything else that does not match stops the build,
 * since an index with a gap would hide events silently.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { ADVICE_DAMAGED, DataFolderError } from '../disk/data-folder-error.ts';
import type { FileSystem, OpenFile } from '../disk/file-system.ts';
import { FRAME_HEADER_BYTES } from '../journal/frame.ts';
import { FrameOutline } from '../journal/frame-outline.ts';
import { decodePayload, peekId } from '../journal/frame-payload.ts';
import { withFile } from '../journal/frame-reader.ts';
import {
  decodeSegmentHeader,
  idInFileName,
  SEGMENT_HEADER_BYTES,
  SEGMENT_SUFFIX,
  segmentFileName,
} from '../journal/segment.ts';
import { findProofOfDamage, type ScanEnd, type ScanStart, scanFrames } from '../journal/segment-scan.ts';
import { EventColumns } from './event-columns.ts';
import type { EventIndex } from './event-index.ts';

export interface BuildProgress {
  readonly segmentsDone: number;
  readonly segments: number;
  readonly events: number;
}

/** Columns restored from an index file, and where decoding has to continue. */
export interface Restored {
  readonly columns: EventColumns;
  readonly chain: number;
}

export interface BuildOptions {
  readonly fs: FileSystem;
  /** The journal folder. */
  readonly folder: string;
  readonly index: EventIndex;
  /** The columns from the index file of this segment; null when there is none that can be trusted. */
  restore(firstId: number, segment: OpenFile): Promise<Restored | null>;
  onProgress?(progress: BuildProgress): void;
}

export async function buildIndex(options: BuildOptions): Promise<void> {
  const { fs, folder, index } = options;
  const firstIds = await segmentIds(fs, folder);
  for (const [position, firstId] of firstIds.entries()) {
    const path = join(folder, segmentFileName(firstId));
    const isNewest = position === firstIds.length - 1;
    await withFile(fs, path, async (file) => {
      const end = await indexSegment(options, { firstId, path, file });
      if (end.problem !== null && !(isNewest && (await isTail(file, end))))
        throw broken(end, path, index.lastId);
    });
    options.onProgress?.({ segmentsDone: position + 1, segments: firstIds.length, events: index.count });
  }
}

async function segmentIds(fs: FileSystem, folder: string): Promise<number[]> {
  const names = await fs.list(folder);
  const ids = names.map((name) => idInFileName(name, SEGMENT_SUFFIX)).filter((id) => id !== null);
  return ids.sort((a, b) => a - b);
}

async function isTail(file: OpenFile, end: ScanEnd): Promise<boolean> {
  return end.problem?.tornLike === true && (await findProofOfDamage(file, end.offset)) === null;
}

function broken(end: ScanEnd, file: string, lastGoodEventId: number): DataFolderError {
  const problem = `The journal cannot be indexed: ${end.problem?.what}`;
  return new DataFolderError(problem, { file, offset: end.offset, lastGoodEventId, advice: ADVICE_DAMAGED });
}

interface OpenSegment {
  readonly firstId: number;
  readonly path: string;
  readonly file: OpenFile;
}

async function indexSegment(options: BuildOptions, segment: OpenSegment): Promise<ScanEnd> {
  const { firstId, file, path } = segment;
  const { index } = options;
  const restored = await options.restore(firstId, file);
  const columns = index.beginSegment(restored?.columns ?? new EventColumns(firstId, SEGMENT_HEADER_BYTES));
  const chain = restored?.chain ?? (await chainFromHeader(segment));
  const start: ScanStart = { offset: columns.bytesEnd, chain };
  const outline = new FrameOutline();
  return scanFrames(file, start, (raw, payload) => {
    const id = peekId(payload);
    if (id === null || !outline.read(payload))
      throw unreadable(payload, { file: path, offset: raw.offset, index });
    const position = { segment: firstId, offset: raw.offset, length: FRAME_HEADER_BYTES + raw.payloadBytes };
    index.addOutline(id, outline, position);
    return true;
  });
}

function unreadable(
  payload: Buffer,
  at: { file: string; offset: number; index: EventIndex },
): DataFolderError {
  const { file, offset, index } = at;
  const problem = decodePayload(payload).problem ?? 'its fields are not in their form';
  const details = { file, offset, lastGoodEventId: index.lastId, advice: ADVICE_DAMAGED };
  return new DataFolderError(`A frame cannot be read: ${problem}`, details);
}

async function chainFromHeader({ file, path, firstId }: OpenSegment): Promise<number> {
  const bytes = Buffer.alloc(SEGMENT_HEADER_BYTES);
  const count = await file.read(bytes, 0, bytes.length, 0);
  const header = decodeSegmentHeader(bytes.subarray(0, count), path);
  assert(header !== null && header.firstId === firstId, `${path} does not begin with a header of its own`);
  return header.chain;
}
