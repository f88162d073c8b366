/**
 * An open data folder: the recovered engine, its journal and its snapshots. This file has the life cycle of
 * everything durable, `openStore` and `close`, for the HTTP server, the simulation and the tests alike. The caller
 * holds the lock on the folder.
 */
import assert from 'node:assert/strict';
import type { GrowthLimits } from '../domain/flags/growth-limits.ts';
import { stateBytes } from '../domain/state/records.ts';
import type { World } from '../domain/state/world.ts';
import { dataFolder } from '../persistence/disk/data-folder.ts';
import type { FileSystem } from '../persistence/disk/file-system.ts';
import { EventLog } from '../persistence/event-log/event-log.ts';
import type { LogReader } from '../persistence/event-log/log-reader.ts';
import { EventRetention } from '../persistence/event-log/retention.ts';
import type { CommitLog } from '../persistence/journal/commit-log.ts';
import { FileJournal, type FileJournalOptions } from '../persistence/journal/file-journal.ts';
import type { CommitObservation } from '../persistence/journal/journal.ts';
import { writeLogBeginning } from '../persistence/journal/log-beginning.ts';
import { type RecoveryLog, type RecoveryReport, recover } from '../persistence/recovery/recovery.ts';
import { refuseUnfinishedRepair } from '../persistence/recovery/unfinished-work.ts';
import { KnownBlocks } from '../persistence/snapshots/known-blocks.ts';
import { type Timer, unrefTimer } from '../process/timers.ts';
import { cacheOf } from './cache.ts';
import { Engine, type EngineClock } from './engine.ts';
import { FlagHistory } from './flag-history.ts';
import { HistoryCheck } from './history-check.ts';
import type { JournalObserver, ObservedJournal } from './journal-observer.ts';
import { LogReads } from './log-reads.ts';
import { memoryWarning } from './memory-budget.ts';
import { SnapshotKeeper } from './snapshot-keeper.ts';
import { assertNotNewer, loaderOf, startLoader } from './state/state-loader.ts';
import { BACKGROUND_CLOCK, Background, type BackgroundClock } from './turn.ts';

/** The part that other nodes play in opening a node's store. */
export type StoreHooks = Required<Pick<StoreOptions, 'commitLog' | 'refusalToDecide' | 'mendSegment'>>;

export interface StoreOptions {
  readonly fs: FileSystem;
  /** The data folder. */
  readonly folder: string;
  readonly clock: EngineClock;
  /** A fresh UUID. */
  newId(): string;
  /** A random name of eight hexadecimal digits for what this start records (lineage.ts). */
  newName(): string;
  readonly logReader: LogReader;
  readonly log: RecoveryLog & { error(details: object, message: string): void };
  /** The journal cannot be written, or the state cannot be trusted any more: the process must end (invariant 6). */
  stop(error: Error): void;
  /** Decides besides this disk what is durable; the disk decides alone unless given. */
  readonly commitLog?: CommitLog;
  /** Why no command may be decided here, because another node leads; null when one may. One always may unless given. */
  refusalToDecide?(): string | null;
  readonly eventsPerSnapshot?: number;
  readonly bytesPerSnapshot?: number;
  readonly segmentBytes?: number;
  readonly reserveBytes?: number;
  /** Old segments of fewer bytes are read before the start (journal-survey.ts). */
  readonly deferredBytesMin?: number;
  readonly preallocatedBytes?: number;
  readonly mailboxLengthMax?: number;
  /** Asserts what must be true of a state up to an event, at each turn and start. Snapshots are decoded then too; for the simulation. */
  readonly audit?: (world: World, lastId: number) => void;
  /** The defaults unless given. */
  readonly limits?: GrowthLimits;
  /** The bytes of memory that the state may take; without a bound unless given. */
  readonly memoryBudgetBytes?: number;
  /** Events older than this may be deleted after a snapshot; all are kept when absent or null. */
  readonly eventRetentionDays?: number | null;
  /** Time between two readings of all of the journal; it is read once, after the start, when absent or null. */
  readonly historyCheckMs?: number | null;
  /** Opens what observes the journal. */
  observe?(journal: ObservedJournal): Promise<JournalObserver>;
  /** Schedules the durable mark and the pauses of work in the background; uses real time by default. */
  readonly timer?: Timer;
  /** Restores the journal file that begins with this event from elsewhere; false where it could not. Rejects where it may be able to later. */
  mendSegment?(firstId: number): Promise<boolean>;
  /** Whether the caller's lock on the folder still holds, so that no other server can have opened it. */
  holdsLock?(): Promise<boolean>;
  onCommit?(observation: CommitObservation): void;
}

export interface Store {
  readonly engine: Engine;
  readonly keeper: SnapshotKeeper;
  readonly recovery: RecoveryReport;
  /** How long reading the snapshot and replaying the journal took. */
  readonly recoveryMs: number;
  readonly reads: LogReads;
  /** Reads what the start has not read. */
  readonly historyCheck: HistoryCheck;
  /** Waits for appended frames, takes a last snapshot and closes the files. No command may arrive any more. */
  close(): Promise<void>;
}

export async function openStore(options: StoreOptions): Promise<Store> {
  const { fs, clock, log } = options;
  const folder = dataFolder(options.folder);
  await refuseUnfinishedRepair(fs, options.folder);
  const recoveryStartedAt = clock.monotonic();
  const recovered = await recoverState(options, folder.journal);
  const recoveryMs = clock.monotonic() - recoveryStartedAt;
  assert(recoveryMs >= 0, 'the monotonic clock does not go back');
  checkRecovered(recovered, options);
  const { eventLog, recovery } = recovered;
  let onFailure = options.stop;
  const journal = await openJournal(options, recovery, {
    onDurable: (id) => {
      engine.durable(id);
      keeper.noticed(id);
    },
    onFrames: (frames) => observer.durable?.(frames),
    onFailure: (failure) => onFailure(failure),
  });
  const engine = openEngine(options, recovered, journal);
  if (options.commitLog !== undefined)
    onFailure = (failure) => {
      engine.giveUpForGood();
      options.stop(failure);
    };
  const onFailed = (error: unknown): void =>
    // Operators: look at `err`
    log.error({ err: error }, 'the snapshot failed; nothing is lost, because the journal has everything');
  const observer = (await options.observe?.(observedBy(options, engine))) ?? {};
  const keeper = openKeeper(options, recovered, { engine, observer, onFailed });
  const history = new FlagHistory({ fs, snapshots: folder.snapshots, eventLog });
  const historyCheck = new HistoryCheck({
    ...{ eventLog, log, monotonicMs: clock.monotonic, parts: recovery.deferred },
    background: new Background(backgroundClock(options)),
    intervalMs: options.historyCheckMs ?? null,
    timer: options.timer ?? unrefTimer,
    durableId: () => engine.durableId,
    now: clock.now,
    afterPass: async () => observer.check?.(),
    ...given(options, 'mendSegment'),
  });
  const reads = new LogReads({ eventLog, history, onFault: (error) => historyCheck.met(error) });
  void historyCheck.run();
  observer.start?.();
  return {
    ...{ engine, keeper, recovery, recoveryMs, reads, historyCheck },
    close: () => {
      historyCheck.stop();
      return close({ engine, keeper, observer, recovery }, onFailed);
    },
  };
}

function checkRecovered({ world, recovery }: RecoveredState, { audit }: StoreOptions): void {
  assertNotNewer(world, recovery.lastId);
  assert(
    (recovery.snapshotId ?? 0) <= recovery.lastId,
    'a snapshot is no newer than what it was recovered from',
  );
  audit?.(world, recovery.lastId);
}

/** The state with a lineage, where its history has recorded none. */
function named(world: World, { lastId, tail }: RecoveryReport): World {
  if (lastId === 0) return world;
  return { ...world, lineage: world.lineage.derived(tail.chain.toString(16).padStart(8, '0')) };
}

async function openJournal(
  options: StoreOptions,
  { tail, lastId }: RecoveryReport,
  told: Pick<FileJournalOptions, 'onDurable' | 'onFrames' | 'onFailure'>,
): Promise<FileJournal> {
  const { fs, clock } = options;
  const folder = dataFolder(options.folder);
  const journal = await FileJournal.open({
    ...{ fs, folder: folder.journal, tail, ...told },
    monotonicMs: clock.monotonic,
    onBegun: (beginning) => writeLogBeginning(fs, folder.root, beginning),
    ...given(options, 'timer', 'onCommit', 'holdsLock', 'commitLog'),
    ...given(options, 'segmentBytes', 'reserveBytes', 'preallocatedBytes'),
  });
  assert(
    journal.appendedId === lastId && journal.appendedChain === tail.chain,
    'the journal goes on from what was recovered',
  );
  return journal;
}

function openEngine(
  options: StoreOptions,
  { world, eventLog, recovery }: RecoveredState,
  journal: FileJournal,
): Engine {
  const { clock, log, newId, newName, stop } = options;
  const engine = new Engine({
    ...{ world, journal, eventLog, clock, newId, newName, stop },
    lastAt: recovery.lastAt,
    // Operators: report it with the log line
    onListenerFault: (error) => log.error({ err: error }, 'a listener of the change feed failed'),
    ...given(options, 'limits', 'memoryBudgetBytes', 'mailboxLengthMax', 'audit', 'refusalToDecide'),
    showsCommittedOnly: options.commitLog !== undefined,
  });
  const bytes = stateBytes(world);
  const warning = memoryWarning(bytes, engine.memoryBudgetBytes);
  // Operators, of "The state takes … of its memory budget": [make room](docs/operating.md#memory)
  if (warning !== null) log.warn({ stateBytes: bytes, budgetBytes: engine.memoryBudgetBytes }, warning);
  return engine;
}

/** The keeper of snapshots, which deletes what is too old once there is a newer one. */
function openKeeper(
  options: StoreOptions,
  { eventLog, recovery }: RecoveredState,
  { engine, observer, onFailed }: Pick<Store, 'engine'> & Observed & { onFailed(error: unknown): void },
): SnapshotKeeper {
  const { fs, clock, log } = options;
  const retention = new EventRetention({
    ...{ fs, folder: dataFolder(options.folder), eventLog, log },
    retentionDays: options.eventRetentionDays ?? null,
    now: clock.now,
    beforeDeletion: async (firstId) => (await observer.beforeDeletion?.(firstId)) ?? true,
  });
  return new SnapshotKeeper({
    ...{ engine, fs, onFailed },
    background: new Background(backgroundClock(options)),
    folder: dataFolder(options.folder).snapshots,
    newestId: recovery.snapshotId ?? 0,
    replayedBytes: recovery.replayedBytes,
    known: new KnownBlocks(),
    now: clock.now,
    monotonicMs: clock.monotonic,
    keepOlder: (older) => retention.keepOlder(older, engine.durableId),
    onTaken: async (snapshot) => {
      // Operators: nothing
      log.info({ ...snapshot }, 'snapshot taken');
      await retention.apply(engine.durableId);
    },
    audited: options.audit !== undefined,
    ...given(options, 'eventsPerSnapshot', 'bytesPerSnapshot'),
  });
}

interface Observed {
  readonly observer: JournalObserver;
}

function observedBy(options: StoreOptions, engine: Engine): ObservedJournal {
  const { fs, folder, log, clock, timer = unrefTimer } = options;
  const background = new Background(backgroundClock(options));
  return {
    ...{ fs, folder, log, timer },
    now: clock.now,
    pause: () => background.pause(),
    firstId: () => engine.eventLog.oldestId(engine.durableId),
    durable: () => ({ id: engine.durableId, chain: engine.journal.durableChain }),
    notify: (notice) => {
      engine.notice = notice;
    },
  };
}

/** Read in some 30 ms: a journal that is not much longer is wholly read before the start. */
const DEFERRED_BYTES_MIN = 16 * 1024 * 1024;

interface RecoveredState {
  readonly world: World;
  readonly eventLog: EventLog;
  readonly recovery: RecoveryReport;
}

async function recoverState(options: StoreOptions, journal: string): Promise<RecoveredState> {
  const loader = loaderOf();
  const { fs, folder, clock, log, logReader, deferredBytesMin = DEFERRED_BYTES_MIN } = options;
  const cache = cacheOf({ world: loader.world, ...given(options, 'memoryBudgetBytes') });
  const eventLog = new EventLog({
    fs,
    folder: journal,
    logReader,
    yieldToEventLoop: yieldTo(clock),
    texts: cache.part({ bytesOf: ({ byteLength }) => byteLength, isMultiplied: true }),
  });
  const recovery = await recover({
    fs,
    folder,
    loader: startLoader(loader, eventLog),
    log,
    deferredBytesMin,
  });
  return { world: named(loader.world, recovery), eventLog, recovery };
}

const yieldTo = (clock: EngineClock) => (): Promise<void> => new Promise((resolve) => clock.defer(resolve));

/**
 * Keeps the process alive, unlike the timer of marks: a stop waits for the snapshot that is being written. In any
 * time but the real one the process counts as busy.
 */
function backgroundClock({ clock, timer }: Pick<StoreOptions, 'clock' | 'timer'>): BackgroundClock {
  return {
    monotonicMs: clock.monotonic,
    yieldToEventLoop: yieldTo(clock),
    pause:
      timer === undefined
        ? BACKGROUND_CLOCK.pause
        : (pauseMs) => new Promise((resolve) => void timer(pauseMs, () => resolve(1))),
  };
}

/** Closes the journal properly even when the last snapshot fails. */
async function close(
  { engine, keeper, observer, recovery }: Pick<Store, 'engine' | 'keeper' | 'recovery'> & Observed,
  onFailed: (error: unknown) => void,
): Promise<void> {
  keeper.hurry();
  await engine.journal.flush();
  // A snapshot would keep an older version, which can still read the folder, from starting on it again.
  const isUntouched = recovery.isOlder && engine.lastId === recovery.lastId;
  if (!isUntouched) await keeper.take().catch(onFailed);
  await engine.journal.close();
  await observer.close?.();
  assert(engine.durableId === engine.lastId, 'a closed store has all on disk');
  assert(keeper.newestId <= engine.durableId, 'no snapshot is ahead of the journal');
  await engine.eventLog.close();
}

/** The options of these names that are set: the types distinguish an absent property from `undefined`. */
function given<Name extends keyof StoreOptions>(
  options: StoreOptions,
  ...names: readonly Name[]
): Pick<StoreOptions, Name> {
  const set = names.filter((name) => options[name] !== undefined);
  return Object.fromEntries(set.map((name) => [name, options[name]])) as Pick<StoreOptions, Name>;
}
