/** Copies and replays a run of intact frames, whatever surrounds it. */
import { join } from 'node:path';
import type { FileSystem, OpenFile } from '../../persistence/disk/file-system.ts';
import { writeFully } from '../../persistence/disk/write-fully.ts';
import { DurableMarkFile } from '../../persistence/journal/durable-mark.ts';
import { FRAME_HEADER_BYTES, type Frame, readFrameHeader } from '../../persistence/journal/frame.ts';
import { decodePayload } from '../../persistence/journal/frame-payload.ts';
import { withFile } from '../../persistence/journal/frame-reader.ts';
import {
  encodeSegmentHeader,
  SEGMENT_HEADER_BYTES,
  segmentFileName,
} from '../../persistence/journal/segment.ts';
import { scanFrames } from '../../persistence/journal/segment-scan.ts';
import { OperationError } from '../operation-error.ts';
import { type JournalSource, listSegments } from '../read/journal-reading.ts';
import type { IntactRun } from '../verify/verify-journal.ts';
import { copyFile } from './copy-file.ts';

export interface CopyRunOptions {
  /** The journal folders. */
  readonly from: string;
  readonly to: string;
  readonly run: IntactRun;
  /** The first of the run's segments that is copied. */
  readonly firstSegment: number;
}

/** Copies the run's segments up to its end, gives each a good header, and writes their end into the durable mark. */
export async function copyRun(
  fs: FileSystem,
  { from, to, run, firstSegment }: CopyRunOptions,
): Promise<void> {
  for (const segment of await segmentsOf({ fs, folder: from }, run, firstSegment)) {
    const target = join(to, segmentFileName(segment));
    const bytes = segment === run.end.segment ? run.end.offset : null;
    await copyFile(fs, { from: join(from, segmentFileName(segment)), to: target, bytes });
    await writeHeader(fs, target, segment);
  }
  const mark = new DurableMarkFile(fs, to);
  await mark.write({ lastId: run.lastId, ...run.end });
  await mark.close();
}

async function segmentsOf(source: JournalSource, run: IntactRun, first: number): Promise<readonly number[]> {
  const segments = await listSegments(source);
  return segments.filter((segment) => segment >= first && segment <= run.end.segment);
}

/** The header that matches the first frame. It equals the old one if that was good. */
async function writeHeader(fs: FileSystem, path: string, firstId: number): Promise<void> {
  const file = await fs.open(path, 'write');
  try {
    const frame = await frameHeaderAt(file, SEGMENT_HEADER_BYTES);
    // A last segment without frames: its header was found good.
    if (frame === null) return;
    await writeFully(file, encodeSegmentHeader({ firstId, chain: frame.previous }), 0);
    await file.sync();
  } finally {
    await file.close();
  }
}

async function frameHeaderAt(file: OpenFile, offset: number) {
  const bytes = Buffer.alloc(FRAME_HEADER_BYTES);
  const count = await file.read(bytes, 0, bytes.length, offset);
  return readFrameHeader(bytes.subarray(0, count), 0);
}

/** Visits the run's frames in order. They were good when they were verified; throws if that has changed. */
export async function replayRun(
  source: JournalSource,
  run: IntactRun,
  visit: (frame: Frame) => void,
): Promise<void> {
  let { chain } = run.start;
  for (const segment of await segmentsOf(source, run, run.start.segment)) {
    const path = join(source.folder, segmentFileName(segment));
    const offset = segment === run.start.segment ? run.start.offset : SEGMENT_HEADER_BYTES;
    chain = await withFile(source.fs, path, (file) => replaySegment(file, { offset, chain }, run, visit));
  }
  if (chain !== run.end.chain) throw changed(source.folder);
}

async function replaySegment(
  file: OpenFile,
  start: { readonly offset: number; readonly chain: number },
  run: IntactRun,
  visit: (frame: Frame) => void,
): Promise<number> {
  const end = await scanFrames(file, start, (_, payload) => {
    const decoded = decodePayload(payload);
    if (decoded.problem !== null || decoded.frame.id > run.lastId) return false;
    visit(decoded.frame);
    return decoded.frame.id + decoded.frame.events.length - 1 < run.lastId;
  });
  return end.chain;
}

const changed = (folder: string): OperationError =>
  new OperationError('unsound', `The journal in ${folder} changed while it was being repaired.`);
