/**
 * Mends a journal from a copy: a backup, the folder of another node, or the archive of a cluster. Of the copy it takes the frames that
 * are lost here, and no other ones, each of which is proved (persistence/journal/mended-segment.ts).
 *
 * Segments without damage are taken over byte for byte. A damaged one is written anew, each frame under its old checksum. One piece of a
 * file is in memory at a time.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type DataFolder, dataFolder } from '../persistence/disk/data-folder.ts';
import type { FileSystem } from '../persistence/disk/file-system.ts';
import type { DurableMark } from '../persistence/journal/durable-mark.ts';
import { lastEventId } from '../persistence/journal/frame.ts';
import { FRAME_FORMAT, type FrameLink, type RawFrame } from '../persistence/journal/frame-format.ts';
import { peekId } from '../persistence/journal/frame-payload.ts';
import {
  ForeignFrameError,
  type FrameSource,
  type RangeReading,
  type SegmentMending,
  writeMended,
} from '../persistence/journal/mended-segment.ts';
import { SEGMENT_HEADER_BYTES, segmentFileName } from '../persistence/journal/segment.ts';
import { type JournalSource, listSegments, withSegment } from '../persistence/journal/segment-file.ts';
import { scanFrames, type VisitFrame } from '../persistence/journal/segment-scan.ts';
import { copyFile } from './copy-folder.ts';
import { type FoundFrame, readJournal } from './journal-reading.ts';
import { OperationError } from './operation-error.ts';
import { lostRanges, rangeText } from './repair-plan.ts';
import type { FolderVerification } from './verify-folder.ts';
import { type EventRange, verifyJournal } from './verify-journal.ts';

interface JournalMending {
  readonly fs: FileSystem;
  readonly from: DataFolder;
  readonly copy: FrameSource;
  readonly to: DataFolder;
  readonly verified: FolderVerification;
}

/** Throws where the copy does not have all of these events. */
export async function checkCopy(copy: FrameSource, ranges: readonly EventRange[]): Promise<void> {
  const forgotten = { take: () => undefined, rest: () => Promise.resolve() };
  for (const range of ranges) await readCopy(copy, { ...range, ...forgotten });
}

async function readCopy(copy: FrameSource, reading: RangeReading): Promise<void> {
  if (await copy.read(reading)) return;
  throw new OperationError(
    'unsound',
    `${copy.name} does not have ${rangeText(reading)}, which is what is lost. Nothing was changed. Another copy may have it; "flagstaff verify" says what can be kept without one.`,
  );
}

/** The frames of another data folder. */
export const folderSource = (fs: FileSystem, folder: string): FrameSource => ({
  name: folder,
  read: (reading) => readFolder({ fs, folder: dataFolder(folder).journal }, reading),
});

async function readFolder(source: JournalSource, { from, to, take, rest }: RangeReading): Promise<boolean> {
  const segment = (await listSegments(source)).findLast((id) => id <= from);
  if (segment === undefined) return false;
  let end = from - 1;
  const visit = ({ frame, raw, payload }: FoundFrame): boolean => {
    if (frame.id < from) return true;
    if (frame.id !== end + 1) return false;
    take(linked(raw, payload));
    end = lastEventId(frame);
    return end < to;
  };
  await readJournal(source, { afterId: segment - 1, visit, rest });
  return end === to;
}

function linked({ contentVersion, rules, checksum, previous }: RawFrame, payload: Buffer): FrameLink {
  const id = peekId(payload);
  assert(id !== null, 'a whole frame has an event');
  return { payload: Buffer.from(payload), contentVersion, rules, checksum, previous, id };
}

/** Builds the whole journal in `to`; returns the end of it. */
export async function mendJournal(options: JournalMending): Promise<DurableMark> {
  const { fs, from, to, verified } = options;
  const wanted = lostRanges(verified);
  for (const [segment, lastId] of segmentExtents(verified, wanted)) {
    const path = join(from.journal, segmentFileName(segment));
    const taken = wanted
      .filter((range) => range.from <= lastId && range.to >= segment)
      .map((range) => ({ from: Math.max(range.from, segment), to: Math.min(range.to, lastId) }));
    const isDamaged = taken.length > 0 || verified.damages.some(({ file }) => file === path);
    if (isDamaged) await writeSegment(options, { firstId: segment, lastId, taken });
    else {
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
  wanted: readonly EventRange[],
): readonly (readonly [segment: number, lastId: number])[] {
  const [oldest = Number.POSITIVE_INFINITY] = journal.segments;
  const firstWanted = wanted[0]?.from ?? oldest;
  const segments = firstWanted < oldest ? [firstWanted, ...journal.segments] : journal.segments;
  return segments.map((segment, index) => [segment, (segments[index + 1] ?? Number.POSITIVE_INFINITY) - 1]);
}

/** Hands on the whole frames of a damaged segment that begin within the range; none where the file is missing. */
async function readIntact(
  { fs, from: folder, verified }: JournalMending,
  firstId: number,
  { from, to, take, rest }: RangeReading,
): Promise<void> {
  const runs = verified.journal.runs.filter(
    (run) =>
      run.start.segment <= firstId && firstId <= run.end.segment && run.firstId <= to && run.lastId >= from,
  );
  if (runs.length === 0 || !verified.journal.segments.includes(firstId)) return;
  await withSegment({ fs, folder: folder.journal }, firstId, async (segment) => {
    const format = segment.header?.format ?? FRAME_FORMAT;
    if (format !== FRAME_FORMAT) throw tooOld(segment.path);
    for (const run of runs) {
      // A run that began in an earlier file went on behind a header that is whole.
      const beginning = { offset: SEGMENT_HEADER_BYTES, chain: segment.header?.chain ?? 0 };
      const start = firstId === run.start.segment ? run.start : beginning;
      const visit: VisitFrame = (raw, payload) => {
        if (run.end.segment === firstId && raw.offset >= run.end.offset) return false;
        const frame = linked(raw, payload);
        if (frame.id >= from && frame.id <= to) take(frame);
        return frame.id <= to;
      };
      await scanFrames(segment, { format, ...start }, visit, rest);
    }
  });
}

const tooOld = (file: string): OperationError =>
  new OperationError(
    'unsound',
    `${file} is of release 0.1.0 and is only taken as a whole: put that of the copy in its place. Nothing was changed.`,
  );

interface DamagedSegment {
  readonly firstId: number;
  readonly lastId: number;
  /** The events that come from the copy. */
  readonly taken: readonly EventRange[];
}

async function writeSegment(
  options: JournalMending,
  { firstId, lastId, taken }: DamagedSegment,
): Promise<void> {
  const { fs, copy, to } = options;
  const file = await fs.open(join(to.journal, segmentFileName(firstId)), 'create');
  const fill: SegmentMending['fill'] = async (reading) => {
    let next = firstId;
    for (const range of taken) {
      await readIntact(options, firstId, { from: next, to: range.from - 1, ...reading });
      await readCopy(copy, { ...range, ...reading });
      next = range.to + 1;
    }
    await readIntact(options, firstId, { from: next, to: lastId, ...reading });
  };
  await writeMended({ firstId, file, fill }).catch((error: unknown) => {
    if (!(error instanceof ForeignFrameError)) throw error;
    throw new OperationError('unsound', `With what ${copy.name} has, ${error.message}. Nothing was changed.`);
  });
}

/** The end of the mended journal, which has to be whole. */
async function provedEnd({ fs, to, copy }: JournalMending): Promise<DurableMark> {
  await fs.syncFolder(to.journal);
  const { damages, runs } = await verifyJournal({ fs, folder: to.journal, wantedIds: new Set() });
  const [run, ...more] = runs;
  if (run !== undefined && more.length === 0 && damages.length === 0)
    return { lastId: run.lastId, ...run.end };
  throw new OperationError(
    'unsound',
    `What ${copy.name} has does not fit: ${damages[0]?.what ?? 'events are missing'}. Nothing was changed.`,
  );
}
