/**
 * Builds the journal of a repaired folder. Files without damage are copied byte for byte; the others are rewritten, each frame
 * under its old checksum, which proves that it is the one that stood there. One piece of a file is in memory at a time.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { copyFile } from '../../operations/copy-folder.ts';
import { type FoundFrame, readJournal } from '../../operations/journal-reading.ts';
import { OperationError } from '../../operations/operation-error.ts';
import type { FolderVerification } from '../../operations/verify-folder.ts';
import { type EventRange, type IntactRun, verifyJournal } from '../../operations/verify-journal.ts';
import { type DataFolder, dataFolder } from '../../persistence/disk/data-folder.ts';
import type { FileSystem } from '../../persistence/disk/file-system.ts';
import type { DurableMark } from '../../persistence/journal/durable-mark.ts';
import { lastEventId } from '../../persistence/journal/frame.ts';
import {
  FRAME_FORMAT,
  FRAME_HEADER_BYTES,
  type FrameLink,
  type RawFrame,
} from '../../persistence/journal/frame-format.ts';
import { peekId } from '../../persistence/journal/frame-payload.ts';
import {
  ForeignFrameError,
  type FrameSource,
  type RangeReading,
  writeMended,
} from '../../persistence/journal/mended-segment.ts';
import { SEGMENT_HEADER_BYTES, segmentFileName } from '../../persistence/journal/segment.ts';
import { type JournalSource, listSegments, withSegment } from '../../persistence/journal/segment-file.ts';
import { scanFrames } from '../../persistence/journal/segment-scan.ts';
import { type Part, rangeText, type Way } from './ways.ts';

/** Throws where the copy does not have all of these events. */
export async function checkCopy(copy: FrameSource, ranges: readonly EventRange[]): Promise<void> {
  const forgotten = { take: () => undefined, rest: () => Promise.resolve() };
  for (const range of ranges) await readCopy(copy, { ...range, ...forgotten });
}

async function readCopy(copy: FrameSource, reading: RangeReading): Promise<void> {
  if (await copy.read(reading)) return;
  throw new OperationError(
    'unsound',
    `${copy.name} does not have ${rangeText(reading)}, which is what is lost. Nothing was changed. Another copy may have it; "flagstaff repair --dry-run" shows what can be kept without one.`,
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
    if (raw.headerBytes !== FRAME_HEADER_BYTES) throw tooOld(source.folder);
    take(linked(raw, payload));
    end = lastEventId(frame);
    return end < to;
  };
  await readJournal(source, { afterId: segment - 1, visit, rest });
  return end === to;
}

const tooOld = (folder: string): OperationError =>
  new OperationError(
    'unsound',
    `What is lost is in a file of release 0.1.0 in ${folder}, and can only be taken as a whole: put that file in the place of the damaged one. Nothing was changed.`,
  );

function linked({ contentVersion, rules, checksum, previous }: RawFrame, payload: Buffer): FrameLink {
  const id = peekId(payload);
  assert(id !== null, 'a whole frame has an event');
  return { payload: Buffer.from(payload), contentVersion, rules, checksum, previous, id };
}

export interface Rebuilding {
  readonly fs: FileSystem;
  readonly from: DataFolder;
  readonly to: DataFolder;
  readonly verified: FolderVerification;
  readonly way: Way;
  /** Has the events of the parts that are missing; null where none are. */
  readonly copy: FrameSource | null;
}

/** Returns the end of the journal, of which the way keeps at least one event. */
export async function rebuildJournal(rebuilding: Rebuilding): Promise<DurableMark> {
  const { fs, to, way } = rebuilding;
  const firstIds = firstIdsOf(rebuilding);
  for (const [at, firstId] of firstIds.entries()) {
    const lastId = (firstIds[at + 1] ?? way.lastId + 1) - 1;
    const parts = way.parts
      .filter((part) => part.from <= lastId && part.to >= firstId)
      .map(({ run, ...part }) => ({
        run,
        from: Math.max(part.from, firstId),
        to: Math.min(part.to, lastId),
      }));
    const whole = wholeFile(rebuilding, firstId, parts);
    if (whole !== null) {
      const { path: from, bytes } = whole;
      await copyFile(fs, { from, to: join(to.journal, segmentFileName(firstId)), bytes });
    } else await writeSegment(rebuilding, firstId, parts);
  }
  return provedEnd(rebuilding);
}

/** The first events of the files. The header says what a file is, and its name only where that is damaged. */
function firstIdsOf({ verified: { journal }, way }: Rebuilding): readonly number[] {
  const [{ from }] = way.parts as [Part];
  const ids = journal.segments.map((name) => journal.headers.get(name)?.firstId ?? name);
  return [...new Set([from, ...ids.filter((id) => id > from && id <= way.lastId)])].sort((a, b) => a - b);
}

/** The file that has exactly these parts from its header on, and how many bytes of it, null for all; null where there is none. */
function wholeFile(
  { from, verified: { journal } }: Rebuilding,
  firstId: number,
  parts: readonly Part[],
): { readonly path: string; readonly bytes: number | null } | null {
  const run = parts.length === 1 ? parts[0]!.run : null;
  if (run === null) return null;
  const { start, end } = run;
  const name = namesOf(journal.segments, run).find((one) => journal.headers.get(one)?.firstId === firstId);
  if (name === undefined || (name === start.segment && start.offset !== SEGMENT_HEADER_BYTES)) return null;
  const bytes = name === end.segment ? end.offset : null;
  return { path: join(from.journal, segmentFileName(name)), bytes };
}

/** The files in which the run is. */
const namesOf = (segments: readonly number[], { start, end }: IntactRun): readonly number[] =>
  segments.filter((name) => start.segment <= name && name <= end.segment);

async function writeSegment(rebuilding: Rebuilding, firstId: number, parts: readonly Part[]): Promise<void> {
  const { fs, to, copy } = rebuilding;
  const file = await fs.open(join(to.journal, segmentFileName(firstId)), 'create');
  const fill = async (writing: Pick<RangeReading, 'take' | 'rest'>): Promise<void> => {
    for (const { run, ...range } of parts) {
      if (run !== null) await readRun(rebuilding, run, { ...range, ...writing });
      else {
        assert(copy !== null, 'without a copy, no event that is missing is kept');
        await readCopy(copy, { ...range, ...writing });
      }
    }
  };
  await writeMended({ firstId, file, fill }).catch((error: unknown) => {
    if (!(error instanceof ForeignFrameError)) throw error;
    throw doesNotFit(copy, error.message);
  });
}

/** Hands on the frames of the run that begin within the range. */
async function readRun(
  { fs, from: { journal: folder }, verified: { journal } }: Rebuilding,
  run: IntactRun,
  { from, to, take, rest }: RangeReading,
): Promise<void> {
  for (const name of namesOf(journal.segments, run)) {
    await withSegment({ fs, folder }, name, async (segment) => {
      const { header } = segment;
      const beginning = { offset: SEGMENT_HEADER_BYTES, chain: header?.chain ?? 0 };
      const start = {
        format: header?.format ?? FRAME_FORMAT,
        ...(name === run.start.segment ? run.start : beginning),
      };
      const visit = (raw: RawFrame, payload: Buffer): boolean => {
        if (name === run.end.segment && raw.offset >= run.end.offset) return false;
        const frame = linked(raw, payload);
        if (frame.id >= from && frame.id <= to) take(frame);
        return frame.id <= to;
      };
      await scanFrames(segment, start, visit, rest);
    });
  }
}

/** The end of the journal, which has to be whole. */
async function provedEnd({ fs, to, way, copy }: Rebuilding): Promise<DurableMark> {
  await fs.syncFolder(to.journal);
  const { damages, runs } = await verifyJournal({ fs, folder: to.journal, wantedIds: new Set() });
  const [run, ...more] = runs;
  if (run?.lastId === way.lastId && more.length === 0 && damages.length === 0)
    return { lastId: run.lastId, ...run.end };
  throw doesNotFit(copy, damages[0]?.what ?? 'events are missing');
}

const doesNotFit = (copy: FrameSource | null, problem: string): OperationError =>
  new OperationError(
    'unsound',
    copy === null
      ? `The files of the journal do not belong together: ${problem}. Nothing was changed.`
      : `What ${copy.name} has does not fit: ${problem}. Nothing was changed.`,
  );
