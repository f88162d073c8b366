/** Surveys a whole data folder and collects the facts for recovery's decision. Changes nothing. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import {
  ADVICE_DAMAGED,
  DAMAGED_SUFFIX,
  type DataFolder,
  DataFolderError,
  TEMPORARY_SUFFIX,
} from '../disk/data-folder.ts';
import { type FileSystem, unlessMissing } from '../disk/file-system.ts';
import {
  type DurableMark,
  MARK_FILE_NAME,
  type MarkReading,
  readDurableMark,
} from '../journal/durable-mark.ts';
import { isOlder, OWN_STAMP } from '../journal/frame-format.ts';
import { type LogBeginningReading, readLogBeginning } from '../journal/log-beginning.ts';
import { idInFileName, SEGMENT_SUFFIX, type SegmentStart } from '../journal/segment.ts';
import { listSnapshots, type SnapshotFile } from '../snapshots/snapshot-files.ts';
import { SNAPSHOT_SUFFIX, type SnapshotHeader } from '../snapshots/snapshot-format.ts';
import {
  checkSnapshotFile,
  type ReadSnapshotOptions,
  readSnapshot,
  type SnapshotReading,
} from '../snapshots/snapshot-reader.ts';
import { type JournalSurvey, surveyJournal } from './journal-survey.ts';
import type { RecoveryFacts } from './recovery-cases.ts';
import { type Loader, Replay } from './replay.ts';

export interface GoodSnapshot extends SnapshotHeader {
  readonly path: string;
}

export interface BadSnapshot extends SnapshotFile {
  readonly problem: string;
  readonly offset: number;
}

export interface FolderSurvey {
  readonly facts: RecoveryFacts;
  readonly journal: JournalSurvey;
  readonly mark: DurableMark | null;
  /** The beginning of the log, as it was recorded. */
  readonly beginning: SegmentStart | null;
  /** The newest good one, and the bad ones that are newer. */
  readonly snapshot: GoodSnapshot | null;
  readonly badSnapshots: readonly BadSnapshot[];
  /** The replay of the journal; null without a loader. */
  readonly replay: Replay | null;
  /** Whether an older build wrote the folder, can still read all of it, and refuses what this one writes. */
  readonly isOlder: boolean;
  /** Unfinished files, to be removed. */
  readonly leftovers: readonly string[];
  /** Unknown names, which are ignored with a warning. */
  readonly unknown: readonly string[];
}

export interface SurveyFolderOptions {
  readonly fs: FileSystem;
  readonly folder: DataFolder;
  /**
   * Loads the newest snapshot that is good, and the frames behind it, in one reading. Commands that change nothing only check them,
   * and give null.
   */
  readonly loader: Loader | null;
  /** Files of at least so many bytes are not read where the snapshot holds their events; all are read unless given. */
  readonly deferredBytesMin?: number | undefined;
  onProgress?(bytesDone: number): void;
}

export async function surveyFolder(options: SurveyFolderOptions): Promise<FolderSurvey> {
  const { fs, folder, loader, deferredBytesMin: bytesMin, onProgress } = options;
  const names = await sortNames(fs, folder);
  const files = (await listSnapshots(fs, folder.snapshots)).toReversed();
  const chosen = await chooseSnapshot(files, options);
  const reading = await readDurableMark(fs, folder.journal);
  const recorded = await readLogBeginning(fs, folder.root);
  const markedId = reading.state === 'good' ? reading.mark.lastId : 0;
  const beforeId = recorded.state === 'good' ? recorded.beginning.firstId - 1 : 0;
  const { snapshot } = chosen;
  const replay = loader && new Replay(loader, snapshot);
  const journal = await surveyJournal({
    ...{ fs, folder: folder.journal },
    wantedIds: new Set([markedId, beforeId, snapshot?.id ?? 0]),
    visit: (segment, frame, payload) => replay?.visit(segment, frame, payload),
    defer: (part) => loader?.defer?.(part),
    ...(bytesMin !== undefined && snapshot !== null && { deferral: { snapshot, bytesMin } }),
    ...(onProgress !== undefined && { onProgress }),
  });
  assert(
    (journal.deferred.at(-1)?.lastId ?? 0) <= (snapshot?.id ?? 0),
    'the snapshot has every event that is not read',
  );
  return surveyOf({ ...names, ...chosen, reading, recorded, journal, replay });
}

type Chosen = Pick<FolderSurvey, 'snapshot' | 'badSnapshots'>;

interface Surveyed extends Chosen, Pick<FolderSurvey, 'journal' | 'replay' | 'leftovers' | 'unknown'> {
  readonly reading: MarkReading;
  readonly recorded: LogBeginningReading;
}

function surveyOf(surveyed: Surveyed): FolderSurvey {
  const { reading, recorded, journal, snapshot, badSnapshots, ...rest } = surveyed;
  assert(
    badSnapshots.every(({ id }) => id > (snapshot?.id ?? 0)),
    'no older snapshot is used before a good one',
  );
  assert(snapshot === null || snapshot.id > 0, 'a snapshot has an event: 0 stands for none');
  const mark = reading.state === 'good' ? reading.mark : null;
  const beginning = recorded.state === 'good' ? recorded.beginning : null;
  const facts: RecoveryFacts = {
    journal: journal.damage !== null ? 'damaged' : journal.firstId === null ? 'none' : 'good',
    mark: reading.state,
    reachesMark: reachesMark(journal, reading),
    beginning: recorded.state,
    holdsBeginning:
      beginning === null
        ? recorded.state === 'unreadable' || !lacksRecord(journal, snapshot?.id ?? 0)
        : holdsBeginning(journal, beginning),
    firstId: journal.firstId ?? 0,
    lastId: journal.lastId,
    newestSnapshotId: badSnapshots[0]?.id ?? snapshot?.id ?? 0,
    newestGoodSnapshotId: snapshot?.id ?? 0,
    holdsSnapshotFrame: snapshot !== null && journal.chains.get(snapshot.id) === snapshot.chain,
  };
  assert(
    facts.newestSnapshotId >= facts.newestGoodSnapshotId,
    'the newest snapshot is as new as any good one',
  );
  assert(
    journal.firstId === null || journal.damage !== null || journal.lastId >= journal.firstId - 1,
    'a journal ends behind its beginning',
  );
  const kept = { journal, mark, beginning, snapshot, badSnapshots };
  return { facts, ...kept, isOlder: isOlderFolder(journal, snapshot), ...rest };
}

function isOlderFolder({ lastStamp }: JournalSurvey, snapshot: GoodSnapshot | null): boolean {
  if (snapshot === null) return lastStamp !== null && isOlder(lastStamp);
  const { contentVersion } = snapshot;
  return (
    isOlder(lastStamp ?? { ...OWN_STAMP, contentVersion }) &&
    contentVersion <= (lastStamp?.contentVersion ?? contentVersion)
  );
}

/** A mark before the journal's first event refers to segments that retention has removed since. */
function reachesMark(journal: JournalSurvey, reading: MarkReading): boolean {
  if (reading.state !== 'good' || journal.firstId === null) return true;
  const { lastId, chain } = reading.mark;
  if (lastId < journal.firstId - 1) return true;
  return lastId <= journal.lastId && journal.chains.get(lastId) === chain;
}

/** Older segments than the recorded one are there when a crash kept retention from deleting them. */
const holdsBeginning = ({ chains }: JournalSurvey, { firstId, chain }: SegmentStart): boolean =>
  chains.get(firstId - 1) === chain;

/**
 * A journal in today's format got its record before its first frame, and one of release 0.1.0, which kept none, before
 * its first frame in that format. Where it begins with the first event, no segment before it can be missing; where no
 * snapshot reaches to it, the gap is refused by itself.
 */
const lacksRecord = ({ firstId, lastId, isEndAppendable }: JournalSurvey, snapshotId: number): boolean =>
  firstId !== null && firstId > 1 && firstId <= snapshotId + 1 && isEndAppendable && lastId >= firstId;

/** The first good one of `files`, which are newest first. */
async function chooseSnapshot(
  files: readonly SnapshotFile[],
  { fs, loader }: SurveyFolderOptions,
): Promise<Chosen> {
  const badSnapshots: BadSnapshot[] = [];
  for (const file of files) {
    const reading = await loadSnapshot(fs, file, loader);
    if (reading.problem === null) return { snapshot: { ...reading.header, path: file.path }, badSnapshots };
    badSnapshots.push({ ...file, ...reading });
  }
  loader?.reset();
  return { snapshot: null, badSnapshots };
}

/**
 * Loads a snapshot in place of what the loader has; without one, the records are not decoded. It is a bad one where the file has the name
 * of another, unless its id is null, or where its state cannot be that of its event.
 */
export async function loadSnapshot(
  fs: FileSystem,
  { id, path }: Pick<SnapshotFile, 'path'> & { readonly id: number | null },
  loader: Loader | null,
  onProgress: ReadSnapshotOptions['onProgress'] = () => undefined,
): Promise<SnapshotReading> {
  loader?.reset();
  const reading = await (loader === null
    ? checkSnapshotFile({ fs, path })
    : readSnapshot({ fs, path, onRecord: (section, record) => loader.load(section, record), onProgress }));
  if (reading.problem !== null) return reading;
  const { header } = reading;
  if (id !== null && header.id !== id)
    return { problem: `the file says that it ends with event ${header.id}`, offset: 16 };
  const problem = loader?.problemAt?.(header.id) ?? null;
  return problem === null ? reading : { problem, offset: 0 };
}

async function sortNames(
  fs: FileSystem,
  folder: DataFolder,
): Promise<Pick<FolderSurvey, 'leftovers' | 'unknown'>> {
  const leftovers: string[] = [];
  const unknown: string[] = [];
  for (const [path, suffix] of [
    [folder.journal, SEGMENT_SUFFIX],
    [folder.snapshots, SNAPSHOT_SUFFIX],
  ] as const) {
    // A start makes the folders that are missing; a command that only reads does not.
    for (const name of await unlessMissing(fs.list(path), [])) {
      const file = join(path, name);
      if (name.endsWith(TEMPORARY_SUFFIX)) leftovers.push(file);
      else if (name.endsWith(suffix)) refuseForeignName(name, suffix, file);
      else if (!isOurs(name)) unknown.push(file);
    }
  }
  return { leftovers, unknown };
}

const isOurs = (name: string): boolean =>
  name === MARK_FILE_NAME || name.endsWith('.index') || name.endsWith(DAMAGED_SUFFIX);

/** Otherwise a renamed segment or snapshot would silently be missing. */
function refuseForeignName(name: string, suffix: string, file: string): void {
  const id = idInFileName(name, suffix);
  if (id !== null && id > 0) return;
  const problem = `The file is named like a file of the server, but its name has no event id of 20 digits`;
  throw new DataFolderError(problem, {
    file,
    advice: `Rename it back, or move it away. ${ADVICE_DAMAGED}`,
  });
}
