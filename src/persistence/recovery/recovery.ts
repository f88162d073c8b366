/**
 * Recovery: from a data folder to the state that was acknowledged, or to a refusal that says why not.
 *
 * Survey, load and replay (reads and memory only) → decide (recovery-cases.ts) → clean up (the first change on disk). The survey loads
 * the newest snapshot that can be loaded, and replays the frames behind it, while it verifies them. Guarantees:
 * - what is replayed is a prefix of what was appended, and holds all that was ever acknowledged (invariants 2, 3, 7);
 * - a refusal changes nothing on disk, and every step of the clean-up may be interrupted and repeated;
 * - before it returns, the journal's tail is on disk: after a killed process it may have been read back from the
 *   kernel's memory only, and from now on readers can see it.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { createDataFolder, type DataFolder, dataFolder, setAside } from '../disk/data-folder.ts';
import type { FileSystem } from '../disk/file-system.ts';
import type { DeferredPart } from '../journal/deferred-part.ts';
import { EMPTY_TAIL, type JournalTail } from '../journal/journal.ts';
import { LOG_BEGINNING_FILE_NAME, writeLogBeginning } from '../journal/log-beginning.ts';
import { segmentFileName } from '../journal/segment.ts';
import { rewriteTail } from './journal-end.ts';
import type { SegmentTail } from './journal-survey.ts';
import { decideRecovery, type RecoveryLabel } from './recovery-cases.ts';
import { refusalOf } from './recovery-refusal.ts';
import { type FolderSurvey, surveyFolder } from './recovery-survey.ts';
import type { Loader } from './replay.ts';

export interface RecoveryLog {
  info(details: object, message: string): void;
  warn(details: object, message: string): void;
}

export interface RecoverOptions {
  readonly fs: FileSystem;
  /** The data folder; made when missing. */
  readonly folder: string;
  readonly loader: Loader;
  readonly log: RecoveryLog;
  /** Files of at least so many bytes are left to a check after the start where the snapshot holds their events; all are read unless given. */
  readonly deferredBytesMin?: number | undefined;
}

export interface RecoveryReport {
  readonly label: RecoveryLabel;
  readonly lastId: number;
  /** Time of the last event, 0 when there is none. */
  readonly lastAt: number;
  /** The snapshot that was loaded; null when none was. */
  readonly snapshotId: number | null;
  readonly replayedFrames: number;
  readonly replayedEvents: number;
  readonly replayedBytes: number;
  readonly tornBytesCut: number;
  /** Files renamed to `.damaged`, by their old paths. */
  readonly setAside: readonly string[];
  /** Parts of the journal that were not read, and have yet to be checked. */
  readonly deferred: readonly DeferredPart[];
  /** The place at which appending goes on. */
  readonly tail: JournalTail;
  /** Whether an older version wrote the last event, and refuses what this one writes. */
  readonly isOlder: boolean;
}

/** Throws `DataFolderError` when it refuses; any other error is an I/O error, and nothing is known. */
export async function recover(options: RecoverOptions): Promise<RecoveryReport> {
  const { fs, loader, log, deferredBytesMin } = options;
  const folder = dataFolder(options.folder);
  await createDataFolder(fs, folder);
  const survey = await surveyFolder({ fs, folder, loader, deferredBytesMin });
  const { label, outcome } = decideRecovery(survey.facts);
  if (outcome === 'refuse') throw refusalOf(label, survey, folder);
  const { journal, replay, snapshot, isOlder } = survey;
  assert(journal.damage === null && replay !== null, 'a start is refused where the journal is damaged');
  announce(label, survey, log);
  if (replay.problem !== null) throw replay.problem;
  const tail = tailOf(survey);
  assert(replay.lastId === tail.lastId, 'each event is in the snapshot, or was replayed');
  assert(Number.isFinite(tail.lastAt), 'the last event has a time');
  const moved = await tidyUp(survey, folder, options);
  assert(moved.length === survey.badSnapshots.length, 'each snapshot that is damaged is set aside');
  return {
    label,
    lastId: tail.lastId,
    lastAt: tail.lastAt,
    snapshotId: snapshot?.id ?? null,
    replayedFrames: replay.frames,
    replayedEvents: replay.events,
    replayedBytes: replay.bytes,
    tornBytesCut: journal.tail?.tornBytes ?? 0,
    setAside: moved,
    deferred: journal.deferred,
    tail,
    isOlder,
  };
}

function tailOf({ journal, snapshot }: FolderSurvey): JournalTail {
  const lastAt = journal.lastAt ?? snapshot?.at ?? 0;
  const { isEndAppendable } = journal;
  assert(
    (journal.end === null) === (journal.firstId === null),
    'a journal has an end where it has a beginning',
  );
  if (journal.end !== null) return { lastId: journal.lastId, lastAt, isEndAppendable, ...journal.end };
  if (snapshot === null) return EMPTY_TAIL;
  return { ...EMPTY_TAIL, lastId: snapshot.id, lastAt, chain: snapshot.chain };
}

function announce(label: RecoveryLabel, survey: FolderSurvey, log: RecoveryLog): void {
  if (label === 'snapshot-only') {
    const message =
      'There is no journal. The server starts from the snapshot alone, without the events before it.';
    // Operators, of "There is no journal. The server starts from the snapshot alone, …": nothing, if you put the snapshot there; else restore a backup
    log.warn({ snapshot: survey.snapshot?.path }, message);
  }
  if (survey.facts.mark === 'unreadable') {
    // Operators: run `flagstaff verify`, and plan to replace the disk, which returned wrong bytes
    log.warn(
      {},
      'The durable mark cannot be read, so damage in the last batch could be mistaken for a torn tail.',
    );
  }
  if (survey.isOlder) {
    const message =
      'An older version of the server wrote this folder, and refuses it from the next change on. Until then the older version can be started again; after that, only on a backup from before the upgrade.';
    // Operators, of "An older version of the server wrote this folder, …": keep the backup from before the [upgrade](docs/operating.md#upgrades)
    log.warn({}, message);
  }
  const beginning = beginningWarning(survey);
  // Operators, of "… cannot be read and is rewritten; …": run `flagstaff verify`, and compare the oldest journal file with a backup's
  // Operators, of "… is missing and is rewritten; …": nothing, for a folder of 0.1.0 with `EVENT_RETENTION_DAYS`; else put deleted journal files back from a backup
  if (beginning !== null) log.warn({}, beginning);
  // Operators: move the file elsewhere
  for (const path of survey.unknown) log.warn({ path }, 'Ignoring an unknown file in the data folder.');
  for (const { path, problem, offset } of survey.badSnapshots) {
    // Operators: run `flagstaff verify`, and plan to replace the disk, which returned wrong bytes
    log.warn(
      { path, problem, offset },
      'A snapshot is damaged; nothing is lost, because the journal has the same events.',
    );
  }
}

/** A folder that retention has made shorter before it kept a record of that cannot be told from one that somebody has. */
function beginningWarning({ facts, journal }: FolderSurvey): string | null {
  const name = LOG_BEGINNING_FILE_NAME;
  if (facts.beginning === 'unreadable')
    return `${name} cannot be read and is rewritten; older segments, if any are missing, are not missed.`;
  const firstId = journal.firstId ?? 1;
  return facts.beginning === 'good' || firstId === 1
    ? null
    : `${name} is missing and is rewritten; the journal begins with event ${firstId}, and whether retention deleted the events before it cannot be told.`;
}

/**
 * The first changes on disk. The journal comes first: once its tail is durable, what a damaged snapshot stood for is
 * certain to be there, and only then may the snapshot be renamed.
 */
async function tidyUp(
  survey: FolderSurvey,
  folder: DataFolder,
  options: RecoverOptions,
): Promise<readonly string[]> {
  const { fs, log } = options;
  const { tail, end, lastBatchAt } = survey.journal;
  assert(
    tail === null || tail.offset === 0 || tail.offset === end?.offset,
    'only what lies behind the end is cut off',
  );
  if (tail !== null) announceTail(tail, log);
  if (tail?.offset === 0) await fs.remove(tail.path);
  if (end !== null) {
    const path = join(folder.journal, segmentFileName(end.segment));
    await rewriteTail(fs, { path, from: lastBatchAt, to: end.offset });
  }
  await fs.syncFolder(folder.journal);
  await recordBeginning(survey, folder, fs);
  const moved: string[] = [];
  for (const { path } of survey.badSnapshots) {
    await setAside(fs, path);
    moved.push(path);
  }
  for (const path of survey.leftovers) await fs.remove(path);
  await fs.syncFolder(folder.snapshots);
  return moved;
}

/** For folders of release 0.1.0, for copies, and where the record cannot be read. */
async function recordBeginning(
  { facts, journal }: FolderSurvey,
  folder: DataFolder,
  fs: FileSystem,
): Promise<void> {
  const { firstId, firstChain: chain } = journal;
  if (facts.beginning !== 'good' && firstId !== null)
    await writeLogBeginning(fs, folder.root, { firstId, chain });
}

function announceTail({ path, offset, tornBytes }: SegmentTail, log: RecoveryLog): void {
  if (tornBytes === 0) return;
  const message = 'A crash left a torn tail at the end of the journal, which is now cut off.';
  // Operators, of "A crash left a torn tail at the end of the journal, …": nothing; it was never acknowledged
  log.warn({ path, offset, bytes: tornBytes }, message);
}
