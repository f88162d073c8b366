/**
 * Recovery: from a data folder to the state that was acknowledged, or to a refusal that says why not.
 *
 * Survey and load (reads only) → decide (recovery-cases.ts) → replay (memory only) → clean up (the first change on
 * disk). The survey loads the newest snapshot that can be loaded while it verifies it. Guarantees:
 * - what is replayed is a prefix of what was appended, and holds all that was ever acknowledged (invariants 2, 3, 7);
 * - a refusal changes nothing on disk, and every step of the clean-up may be interrupted and repeated;
 * - before it returns, the journal's tail is on disk: after a killed process it may have been read back from the
 *   kernel's memory only, and from now on readers can see it.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import {
  ADVICE_DAMAGED,
  createDataFolder,
  type DataFolder,
  DataFolderError,
  dataFolder,
  setAside,
} from '../disk/data-folder.ts';
import type { FileSystem } from '../disk/file-system.ts';
import type { DeferredPart } from '../journal/deferred-part.ts';
import { type Boundary, type FramePosition, lastEventId, type RecordedFrame } from '../journal/frame.ts';
import type { RawFrame } from '../journal/frame-format.ts';
import { decodePayload } from '../journal/frame-payload.ts';
import { EMPTY_TAIL, type JournalTail, type ReplayExtent } from '../journal/journal.ts';
import { LOG_BEGINNING_FILE_NAME, writeLogBeginning } from '../journal/log-beginning.ts';
import { segmentFileName } from '../journal/segment.ts';
import { type JournalSource, withSegment } from '../journal/segment-file.ts';
import { scanFrames, scanStartOf } from '../journal/segment-scan.ts';
import { readSnapshot, type SnapshotReading } from '../snapshots/snapshot-reader.ts';
import { rewriteTail } from './journal-end.ts';
import type { SegmentTail } from './journal-survey.ts';
import { decideRecovery, type RecoveryLabel } from './recovery-cases.ts';
import { refusalOf } from './recovery-refusal.ts';
import { type FolderSurvey, surveyFolder } from './recovery-survey.ts';

/**
 * Receives the state. What `load` throws makes the snapshot a bad one, so that an older one is used; what `replay`
 * throws is a refusal: the event does not match the state.
 */
export interface Loader {
  /** Called before anything is loaded, and again when that was of no use: forget everything. */
  reset(): void;
  load(section: string, record: unknown): void;
  replay(frame: RecordedFrame, position: FramePosition): void;
  /** Why what a snapshot of event `id` has loaded cannot be the state of then; null where it can. */
  problemAt?(id: number): string | null;
}

export interface RecoveryLog {
  info(details: object, message: string): void;
  warn(details: object, message: string): void;
}

export interface RecoveryProgress {
  readonly phase: 'verify' | 'load' | 'replay';
  /** Bytes verified or loaded, or events replayed; `total` is null while it is not known. */
  readonly done: number;
  readonly total: number | null;
}

export interface RecoverOptions {
  readonly fs: FileSystem;
  /** The data folder; made when missing. */
  readonly folder: string;
  readonly loader: Loader;
  readonly log: RecoveryLog;
  readonly onProgress?: (progress: RecoveryProgress) => void;
  /** Files of at least so many bytes are left to a check after the start where the snapshot holds their events; all are read unless given. */
  readonly deferredBytesMin?: number | undefined;
  /** Called before the first frame is replayed, unless there is no journal. Must not change anything on disk. */
  readonly beforeReplay?: (extent: ReplayExtent) => Promise<void>;
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
  const { fs, log } = options;
  const folder = dataFolder(options.folder);
  await createDataFolder(fs, folder);
  const survey = await surveyAndLoad(folder, options);
  const { label, outcome } = decideRecovery(survey.facts);
  if (outcome === 'refuse') throw refusalOf(label, survey, folder);
  assert(survey.journal.damage === null, 'a start is refused where the journal is damaged');
  announce(label, survey, log);
  const replayed = await replayJournal(survey, folder, options);
  const moved = await tidyUp(survey, folder, options);
  const tail = tailOf(survey);
  assert(
    tail.lastId === startOf(survey) + replayed.replayedEvents,
    'each event is in the snapshot, or was replayed',
  );
  assert(Number.isFinite(tail.lastAt), 'the last event has a time');
  assert(moved.length === survey.badSnapshots.length, 'each snapshot that is damaged is set aside');
  return {
    label,
    lastId: tail.lastId,
    lastAt: tail.lastAt,
    snapshotId: survey.snapshot?.id ?? null,
    ...replayed,
    tornBytesCut: survey.journal.tail?.tornBytes ?? 0,
    setAside: moved,
    deferred: survey.journal.deferred,
    tail,
    isOlder: survey.isOlder,
  };
}

async function surveyAndLoad(folder: DataFolder, options: RecoverOptions): Promise<FolderSurvey> {
  const { fs, loader, deferredBytesMin, onProgress } = options;
  const survey = await surveyFolder({
    fs,
    folder,
    deferredBytesMin,
    readSnapshot: (path) => loadSnapshot(path, options),
    onProgress: (done) => onProgress?.({ phase: 'verify', done, total: null }),
  });
  if (survey.snapshot === null) loader.reset();
  return survey;
}

/** The event after which the replay begins. */
const startOf = ({ snapshot }: FolderSurvey): number => snapshot?.id ?? 0;

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

/** Loads a snapshot in place of the one before, which was a bad one. */
async function loadSnapshot(
  path: string,
  { fs, loader, onProgress }: RecoverOptions,
): Promise<SnapshotReading> {
  loader.reset();
  const reading = await readSnapshot({
    fs,
    path,
    onRecord: (section, record) => loader.load(section, record),
    onProgress: (done, total) => onProgress?.({ phase: 'load', done, total }),
  });
  const problem = reading.problem === null ? (loader.problemAt?.(reading.header.id) ?? null) : null;
  return problem === null ? reading : { problem, offset: 0 };
}

interface Place {
  readonly file: string;
  readonly offset?: number;
  readonly lastGoodEventId?: number;
}

/** Turns an error of the loader into a refusal that names the place. */
export function attempt(step: () => void, place: Place, what: string): void {
  try {
    step();
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    const details = { ...place, advice: ADVICE_DAMAGED, cause };
    throw new DataFolderError(`The state cannot be rebuilt: ${what} does not fit: ${reason}`, details);
  }
}

type Replayed = Pick<RecoveryReport, 'replayedFrames' | 'replayedEvents' | 'replayedBytes'>;

async function replayJournal(
  survey: FolderSurvey,
  folder: DataFolder,
  options: RecoverOptions,
): Promise<Replayed> {
  const { journal, replayFrom } = survey;
  const replay = new Replay(options, startOf(survey) + 1);
  if (replayFrom === null || journal.end === null) return replay.counts();
  assert(startOf(survey) <= journal.lastId, 'the journal reaches the snapshot');
  await options.beforeReplay?.({
    ...{ segments: journal.segments, deferred: journal.deferred },
    ...{ from: replayFrom, to: journal.end },
  });
  const source = { fs: options.fs, folder: folder.journal };
  for (const firstId of journal.segments.filter((id) => id >= replayFrom.segment)) {
    await replay.segment(source, firstId, firstId === replayFrom.segment ? replayFrom : null);
  }
  if (replay.lastId !== journal.lastId) {
    const problem = `The journal could be read up to event ${journal.lastId} before, and now up to event ${replay.lastId} only: ${replay.problem}`;
    const details = { file: folder.journal, lastGoodEventId: replay.lastId, advice: ADVICE_DAMAGED };
    throw new DataFolderError(problem, details);
  }
  assert(replay.chain === journal.end.chain, 'the replay ends with the frame that was verified');
  return replay.counts();
}

/** Decodes frame after frame and hands them on, insisting that ids follow each other without a gap. */
class Replay {
  readonly #options: RecoverOptions;
  #nextId: number;
  #frames = 0;
  #events = 0;
  #bytes = 0;
  /** Why the last segment could not be read further; a torn tail is one reason. */
  problem: string | null = null;
  /** Checksum of the last frame that was read. */
  chain = 0;

  constructor(options: RecoverOptions, nextId: number) {
    assert(nextId > 0, 'a replay begins with an event');
    this.#options = options;
    this.#nextId = nextId;
  }

  get lastId(): number {
    return this.#nextId - 1;
  }

  counts(): Replayed {
    return { replayedFrames: this.#frames, replayedEvents: this.#events, replayedBytes: this.#bytes };
  }

  /** From the boundary, or the whole segment. */
  async segment(source: JournalSource, firstId: number, from: Boundary | null): Promise<void> {
    await withSegment(source, firstId, async (segment) => {
      const { path, header } = segment;
      assert(header !== null, `${path} had a header when it was surveyed`);
      const start = { ...scanStartOf(header), ...from };
      const end = await scanFrames(segment, start, (raw, payload) => {
        const length = raw.headerBytes + raw.payloadBytes;
        this.#replayFrame(path, { raw, payload }, { segment: firstId, offset: raw.offset, length });
        return true;
      });
      this.problem = end.problem?.what ?? null;
      this.chain = end.chain;
      assert(this.lastId >= firstId - 1, 'a segment ends behind its beginning');
    });
    this.#options.onProgress?.({ phase: 'replay', done: this.#events, total: null });
  }

  #replayFrame(
    file: string,
    { raw, payload }: { readonly raw: RawFrame; readonly payload: Buffer },
    position: FramePosition,
  ): void {
    const place: Place = { file, offset: position.offset, lastGoodEventId: this.#nextId - 1 };
    const decoded = decodePayload(payload, raw);
    if (decoded.problem !== null) {
      const problem = `The journal holds data that the server never writes: ${decoded.problem}`;
      throw new DataFolderError(problem, { ...place, advice: ADVICE_DAMAGED });
    }
    const { frame } = decoded;
    if (frame.id !== this.#nextId) {
      const problem = `The journal has event ${frame.id} where event ${this.#nextId} should be`;
      throw new DataFolderError(problem, { ...place, advice: ADVICE_DAMAGED });
    }
    attempt(() => this.#options.loader.replay(frame, position), place, `event ${frame.id}`);
    assert(lastEventId(frame) >= this.#nextId, 'a frame has an event');
    this.#nextId = lastEventId(frame) + 1;
    assert(
      position.offset > 0 && position.length > payload.length,
      'a frame lies behind a header, and has one',
    );
    this.#frames += 1;
    this.#events += frame.events.length;
    this.#bytes += position.length;
  }
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
