/**
 * Mends a journal from a copy: a backup, or the folder of another node. Of the copy it takes the frames that are lost here, and
 * no other ones. A frame's checksum covers the one before, so only the very frames that were here fit between their
 * neighbours; a signed head tells more than a checksum can (audit.ts).
 *
 * Segments without damage are taken over byte for byte. A damaged one is written anew, each frame under its old checksum.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type DataFolder, dataFolder } from '../persistence/disk/data-folder.ts';
import type { FileSystem } from '../persistence/disk/file-system.ts';
import { writeFully } from '../persistence/disk/write-fully.ts';
import type { DurableMark } from '../persistence/journal/durable-mark.ts';
import { lastEventId } from '../persistence/journal/frame.ts';
import {
  FRAME_FORMAT,
  FRAME_HEADER_BYTES,
  type FrameBody,
  type RawFrame,
  sealFrame,
} from '../persistence/journal/frame-format.ts';
import { peekId } from '../persistence/journal/frame-payload.ts';
import {
  encodeSegmentHeader,
  SEGMENT_HEADER_BYTES,
  segmentFileName,
} from '../persistence/journal/segment.ts';
import { listSegments, withSegment } from '../persistence/journal/segment-file.ts';
import { scanFrames } from '../persistence/journal/segment-scan.ts';
import { copyFile } from './copy-folder.ts';
import { readJournal } from './journal-reading.ts';
import { OperationError } from './operation-error.ts';
import { type EventRange, lostRanges, rangeText } from './repair-plan.ts';
import type { FolderVerification } from './verify-folder.ts';
import { verifyJournal } from './verify-journal.ts';

/** A frame, with the checksum under which it stood in the journal, and that of the frame before. */
interface LinkedFrame extends FrameBody {
  readonly id: number;
  readonly checksum: number;
  readonly previous: number;
}

interface JournalMending {
  readonly fs: FileSystem;
  readonly from: DataFolder;
  /** The data folder of the copy. */
  readonly copy: string;
  readonly to: DataFolder;
  readonly verified: FolderVerification;
}

/** Throws where the copy does not have all of these events. */
export async function checkCopy(fs: FileSystem, copy: string, ranges: readonly EventRange[]): Promise<void> {
  for (const range of ranges) await framesOfCopy(fs, copy, range);
}

/** The frames of the copy that hold the lost events. Throws where it does not have all of them. */
async function framesOfCopy(
  fs: FileSystem,
  copy: string,
  { from, to }: EventRange,
): Promise<readonly LinkedFrame[]> {
  const source = { fs, folder: dataFolder(copy).journal };
  const segment = (await listSegments(source)).findLast((id) => id <= from);
  const frames: LinkedFrame[] = [];
  let end = 0;
  if (segment !== undefined)
    await readJournal(source, {
      afterId: segment - 1,
      visit: ({ frame, raw, payload }) => {
        if (frame.id > to) return false;
        if (lastEventId(frame) >= from) frames.push(linked(raw, payload));
        end = lastEventId(frame);
        return true;
      },
    });
  if (frames[0]?.id === from && end === to) return frames;
  throw new OperationError(
    'unsound',
    `${copy} does not have ${rangeText({ from, to })}, which is what is lost. Nothing was changed.`,
  );
}

function linked({ contentVersion, rules, checksum, previous }: RawFrame, payload: Buffer): LinkedFrame {
  const id = peekId(payload);
  assert(id !== null, 'a whole frame has an event');
  return { payload: Buffer.from(payload), contentVersion, rules, checksum, previous, id };
}

/** Builds the whole journal in `to`; returns the end of it. */
export async function mendJournal(options: JournalMending): Promise<DurableMark> {
  const { fs, copy, from, to, verified } = options;
  const lost: LinkedFrame[] = [];
  for (const range of lostRanges(verified)) lost.push(...(await framesOfCopy(fs, copy, range)));
  for (const [segment, lastId] of segmentExtents(verified, lost)) {
    const path = join(from.journal, segmentFileName(segment));
    const added = lost.filter(({ id }) => id >= segment && id <= lastId);
    const isDamaged = added.length > 0 || verified.damages.some(({ file }) => file === path);
    if (isDamaged) {
      const own = await intactFrames(options, segment);
      await writeSegment(
        options,
        segment,
        [...own, ...added].sort((one, other) => one.id - other.id),
      );
    } else {
      const { unfinished } = verified.journal;
      const bytes = unfinished?.file === path ? unfinished.offset : null;
      await copyFile(fs, { from: path, to: join(to.journal, segmentFileName(segment)), bytes });
    }
  }
  return provedEnd(options);
}

/**
 * The segments that the mended journal has, each with the last event that can be in it. What a missing file held goes into the
 * one before it.
 */
function segmentExtents(
  { journal }: FolderVerification,
  lost: readonly LinkedFrame[],
): readonly (readonly [segment: number, lastId: number])[] {
  const [oldest = Number.POSITIVE_INFINITY] = journal.segments;
  const firstLost = lost[0]?.id ?? oldest;
  const segments = firstLost < oldest ? [firstLost, ...journal.segments] : journal.segments;
  return segments.map((segment, index) => [segment, (segments[index + 1] ?? Number.POSITIVE_INFINITY) - 1]);
}

/** The frames of a damaged segment that are whole, wherever they lie; none where the file is missing. */
async function intactFrames(
  { fs, from, verified }: JournalMending,
  firstId: number,
): Promise<readonly LinkedFrame[]> {
  const { runs, segments } = verified.journal;
  if (!segments.includes(firstId)) return [];
  const frames: LinkedFrame[] = [];
  await withSegment({ fs, folder: from.journal }, firstId, async (segment) => {
    const format = segment.header?.format ?? FRAME_FORMAT;
    if (format !== FRAME_FORMAT) throw tooOld(segment.path);
    for (const run of runs) {
      if (firstId < run.start.segment || firstId > run.end.segment) continue;
      // A run that began in an earlier file went on behind a header that is whole.
      const beginning = { offset: SEGMENT_HEADER_BYTES, chain: segment.header?.chain ?? 0 };
      const start = firstId === run.start.segment ? run.start : beginning;
      await scanFrames(segment, { format, ...start }, (raw, payload) => {
        const isInside = run.end.segment > firstId || raw.offset < run.end.offset;
        if (isInside) frames.push(linked(raw, payload));
        return isInside;
      });
    }
  });
  return frames;
}

const tooOld = (file: string): OperationError =>
  new OperationError(
    'unsound',
    `${file} is of release 0.1.0 and is only taken as a whole: put that of the copy in its place. Nothing was changed.`,
  );

/** Each frame gets a place of its own, and keeps its checksum: another frame, or one from elsewhere, cannot. */
async function writeSegment(
  { fs, to, copy }: JournalMending,
  firstId: number,
  frames: readonly LinkedFrame[],
): Promise<void> {
  const [first] = frames;
  assert(first !== undefined, 'a segment that is written anew has a frame');
  const file = await fs.open(join(to.journal, segmentFileName(firstId)), 'create');
  try {
    await writeFully(file, encodeSegmentHeader({ firstId, chain: first.previous }), 0);
    let offset = SEGMENT_HEADER_BYTES;
    let { previous } = first;
    for (const frame of frames) {
      const bytes = Buffer.concat([Buffer.alloc(FRAME_HEADER_BYTES), frame.payload]);
      const { contentVersion, rules, payload } = frame;
      const links = { payloadBytes: payload.length, previous, batchStart: offset, contentVersion, rules };
      if (sealFrame(bytes, 0, links) !== frame.checksum) throw foreign(copy, frame.id);
      await writeFully(file, bytes, offset);
      offset += bytes.length;
      previous = frame.checksum;
    }
    await file.sync();
  } finally {
    await file.close();
  }
}

const foreign = (copy: string, id: number): OperationError =>
  new OperationError(
    'unsound',
    `Event ${id} of ${copy} is not the one that was here: it belongs to another history. Nothing was changed.`,
  );

/** The end of the mended journal, which has to be whole. */
async function provedEnd({ fs, to, copy }: JournalMending): Promise<DurableMark> {
  await fs.syncFolder(to.journal);
  const { damages, runs } = await verifyJournal({ fs, folder: to.journal, wantedIds: new Set() });
  const [run, ...more] = runs;
  if (run !== undefined && more.length === 0 && damages.length === 0)
    return { lastId: run.lastId, ...run.end };
  throw new OperationError(
    'unsound',
    `What ${copy} has does not fit: ${damages[0]?.what ?? 'events are missing'}. Nothing was changed.`,
  );
}
