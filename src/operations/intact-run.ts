/** Copies and replays a run of intact frames, whatever surrounds it. */
import { join } from 'node:path';
import type { FileSystem } from '../persistence/disk/file-system.ts';
import { writeFully } from '../persistence/disk/write-fully.ts';
import { DurableMarkFile } from '../persistence/journal/durable-mark.ts';
import type { RecordedFrame } from '../persistence/journal/frame.ts';
import { FRAME_FORMATS } from '../persistence/journal/frame-format.ts';
import { decodePayload } from '../persistence/journal/frame-payload.ts';
import {
  encodeSegmentHeader,
  SEGMENT_HEADER_BYTES,
  segmentFileName,
} from '../persistence/journal/segment.ts';
import { type FoundRawFrame, findFrame } from '../persistence/journal/segment-end.ts';
import {
  type JournalSource,
  listSegments,
  type OpenSegment,
  withSegment,
} from '../persistence/journal/segment-file.ts';
import { scanFrames } from '../persistence/journal/segment-scan.ts';
import { copyFile } from './copy-folder.ts';
import { OperationError } from './operation-error.ts';
import type { IntactRun } from './verify-journal.ts';

interface CopyRunOptions {
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
    await mendHeader({ fs, folder: to }, segment);
  }
  const mark = new DurableMarkFile(fs, to);
  await mark.write({ lastId: run.lastId, ...run.end });
  await mark.close();
}

async function segmentsOf(source: JournalSource, run: IntactRun, first: number): Promise<readonly number[]> {
  const segments = await listSegments(source);
  return segments.filter((segment) => segment >= first && segment <= run.end.segment);
}

/** Writes the header that the first frame asks for, where the header is damaged. */
async function mendHeader(source: JournalSource, firstId: number): Promise<void> {
  const header = await withSegment(source, firstId, async (segment) => {
    const first = segment.header === null ? await frameAt(segment, SEGMENT_HEADER_BYTES) : null;
    if (first === null) return null;
    return encodeSegmentHeader({ firstId, chain: first.frame.previous }, first.format.version);
  });
  if (header === null) return;
  const file = await source.fs.open(join(source.folder, segmentFileName(firstId)), 'write');
  try {
    await writeFully(file, header, 0);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** The frame that begins here, of whichever format; null when there is none. */
async function frameAt({ file, header }: OpenSegment, offset: number): Promise<FoundRawFrame | null> {
  const formats = header === null ? FRAME_FORMATS : [header.format];
  const found = await findFrame(file, { from: offset, formats });
  return found?.frame.offset === offset ? found : null;
}

/** Visits the run's frames in order. They were good when they were verified; throws if that has changed. */
export async function replayRun(
  source: JournalSource,
  run: IntactRun,
  visit: (frame: RecordedFrame) => void,
): Promise<void> {
  let { chain } = run.start;
  for (const firstId of await segmentsOf(source, run, run.start.segment)) {
    const offset = firstId === run.start.segment ? run.start.offset : SEGMENT_HEADER_BYTES;
    chain = await withSegment(source, firstId, (segment) =>
      replaySegment(segment, { offset, chain }, run, visit),
    );
  }
  if (chain !== run.end.chain) throw changed(source.folder);
}

async function replaySegment(
  segment: OpenSegment,
  { offset, chain }: { readonly offset: number; readonly chain: number },
  run: IntactRun,
  visit: (frame: RecordedFrame) => void,
): Promise<number> {
  const first = await frameAt(segment, offset);
  // The last segment may hold no frame yet.
  if (first === null) return chain;
  const end = await scanFrames(segment, { format: first.format, offset, chain }, (raw, payload) => {
    const decoded = decodePayload(payload, raw);
    if (decoded.problem !== null || decoded.frame.id > run.lastId) return false;
    visit(decoded.frame);
    return decoded.frame.id + decoded.frame.events.length - 1 < run.lastId;
  });
  return end.chain;
}

const changed = (folder: string): OperationError =>
  new OperationError('unsound', `The journal in ${folder} changed while it was being repaired.`);
