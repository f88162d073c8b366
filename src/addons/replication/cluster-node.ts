/**
 * Opens a data folder as one of a cluster's nodes: compares its journal with the log, cuts off what the log refused,
 * opens the store behind a commit log that the nodes share, and begins to follow.
 */
import { basename } from 'node:path';
import type { StoreHooks } from '../../actors/store.ts';
import { createDataFolder, DataFolderError, dataFolder } from '../../persistence/disk/data-folder.ts';
import type { FileSystem } from '../../persistence/disk/file-system.ts';
import { FencedError } from '../../persistence/journal/commit-log.ts';
import { readLogHistory, writeLogHistory } from '../../persistence/journal/log-history.ts';
import { idInFileName, SEGMENT_SUFFIX, segmentFileName } from '../../persistence/journal/segment.ts';
import { cutJournal, type JournalEnd, readJournalEnd } from '../../persistence/recovery/journal-end.ts';
import { type Alignment, align, DisagreementError, meetHistory } from './alignment.ts';
import { encodeAnnouncement } from './announcement.ts';
import { ArchiveDamageError } from './archived-frames.ts';
import { Archivist } from './archivist.ts';
import { type Found, OWN_FORMATS } from './eligibility.ts';
import type { FileArchive } from './file-archive.ts';
import { fetchFromArchive, lacksBeginning } from './join.ts';
import { SHORT_MS_MAX } from './log-watch.ts';
import { mendSegment } from './mend.ts';
import { NodeHistory } from './node-history.ts';
import { LogDamageError, NewerRecordError, type NodeIdentity } from './record-format.ts';
import { Replica } from './replica.ts';
import type { ReplicaClock, ReplicaLog, ReplicaOptions, ReplicatedEngine } from './replica-options.ts';
import { ReplicatedCommitLog } from './replicated-commit-log.ts';
import type { ReplicatedLog } from './replicated-log.ts';

/** Between two attempts to reach the log at a start. */
const START_PAUSE_MS = 1_000;

const CUT = 'Events that the replicated log refused are cut off the journal; they were never shown.';

/** How often a joining node says what the log has to keep for it. */
const RESERVATION_MS = 1_000;

export interface ClusterNodeOptions<S> {
  readonly fs: FileSystem;
  /** The data folder, whose lock the caller holds. */
  readonly folder: string;
  readonly log: ReplicatedLog;
  /** Null where the log keeps everything. */
  readonly archive: FileArchive | null;
  /** Archived events that the log keeps all the same, in bytes (archivist.ts). */
  readonly archiveMarginBytes: number;
  /** Whether journal that retention removed is to go from the archive too. */
  readonly hasRetention: boolean;
  /** For tests: of archived files. */
  readonly archiveFileBytes?: number;
  /** For tests: of one part of a batch in the log. */
  readonly partBytes?: number;
  /** For tests: the newest formats that this node reads and writes. */
  readonly formats?: ReplicaOptions['formats'];
  readonly cluster: string;
  readonly identity: NodeIdentity;
  readonly version: string;
  /** Names this node to the leader, of random bytes. */
  readonly hopKey: string;
  /** Never rejects, and takes a second at most. */
  reach(node: { readonly node: string; readonly address: string }): Promise<Found>;
  readonly clock: ReplicaClock;
  readonly notes: ReplicaLog;
  /** Sentences about the servers of the log, for operators. */
  readonly warnings?: readonly string[];
  /** Opens the store, when journal and log agree; again where a file that it could not read was restored. */
  open(hooks: StoreHooks): Promise<S>;
  /** Called each time that this node has begun to lead. */
  onLeading(store: S): Promise<void>;
  stop(error: Error): void;
}

export interface ClusterNode<S> {
  readonly store: S;
  readonly replica: Replica;
  /** Null where the log keeps everything. */
  readonly archivist: Archivist | null;
}

/** Waits until the log can be reached. Throws `DisagreementError` when it holds another history than the journal. */
export async function openClusterNode<S extends { readonly engine: ReplicatedEngine }>(
  options: ClusterNodeOptions<S>,
): Promise<ClusterNode<S>> {
  const { fs, folder, log, identity, version, hopKey, reach, clock, notes } = options;
  const pause: Pause = (delayMs) => new Promise((resolve) => clock.timer(delayMs, resolve));
  let replica: Replica | null = null;
  const refusalToDecide = (): string | null =>
    replica?.isLeading === true
      ? null
      : 'Another node of the cluster takes the writes; send it again in a moment.';
  const { history, ...place } = await alignFolder(options, pause);
  const commitLog = commitLogOf(options, history, pause);
  const mendSegment = (firstId: number): Promise<boolean> => mend(options, history, firstId);
  const store = await openMended(options, { commitLog, mendSegment, refusalToDecide }, pause);
  history.onNamed = (id) =>
    void writeLogHistory(fs, folder, { id, decidedBy: 'log' }).catch((error: unknown) =>
      // Operators: look at `err`
      notes.warn({ err: error }, 'The name of the history could not be written to the data folder'),
    );
  commitLog.committed(store.engine.lastId);
  replica = new Replica({
    ...{ log, history, identity, version, hopKey, reach, commitLog, clock, notes },
    ...{ from: place.from, last: place.last, askedAtMs: place.askedAtMs },
    warnings: options.warnings ?? [],
    engine: store.engine,
    formats: options.formats ?? OWN_FORMATS,
    stop: (error) => {
      store.engine.giveUpForGood();
      options.stop(error);
    },
    onLeading: () => options.onLeading(store),
  });
  replica.start();
  const { archive } = options;
  const parts = { files: dataFolder(folder), engine: store.engine, replica, history };
  const archivist = archive === null ? null : new Archivist({ ...options, archive, ...parts });
  archivist?.start();
  return { store, replica, archivist };
}

type Pause = (delayMs: number) => Promise<void>;

interface Aligned extends Alignment {
  readonly history: NodeHistory;
  /** The moment at which the log was asked, monotonic. */
  readonly askedAtMs: number;
}

const commitLogOf = <S>(
  { log, identity, clock, partBytes, notes }: ClusterNodeOptions<S>,
  history: NodeHistory,
  pause: Pause,
): ReplicatedCommitLog =>
  new ReplicatedCommitLog({
    ...{ log, history, identity, pause, monotonic: clock.monotonic, partBytes },
    onTrouble: (cause) =>
      // Operators: nothing, unless it repeats: see [fail-over](docs/cluster.md#fail-over)
      notes.warn({ err: cause }, 'It is not known yet whether the replicated log has a change'),
  });

/** Opens the store, after files without which it cannot start were restored. */
async function openMended<S>(options: ClusterNodeOptions<S>, hooks: StoreHooks, pause: Pause): Promise<S> {
  for (const tried = new Set<number>(); ; ) {
    try {
      return await options.open(hooks);
    } catch (error) {
      const firstId =
        error instanceof DataFolderError ? idInFileName(basename(error.file), SEGMENT_SUFFIX) : null;
      if (firstId === null || tried.has(firstId)) throw error;
      tried.add(firstId);
      if (!(await whenReached(options, pause, () => hooks.mendSegment(firstId)))) throw error;
    }
  }
}

/** Restores a damaged file of the journal, and logs it; whether it could. Rejects where the archive cannot be reached. */
async function mend<S>(
  { fs, folder, archive, clock, notes }: ClusterNodeOptions<S>,
  { id: history }: NodeHistory,
  firstId: number,
): Promise<boolean> {
  if (archive === null) return false;
  const file = segmentFileName(firstId);
  const rest = (): Promise<void> => clock.yieldToEventLoop();
  try {
    const isMended = await mendSegment({ fs, folder: dataFolder(folder), archive, history, rest }, firstId);
    // Operators, of "A damaged file of the journal was restored …": plan to replace the disk, which returned wrong bytes
    // Operators, of "The archive does not have all …": see [old history](docs/operating.md#old-history)
    if (isMended) notes.warn({ file }, 'A damaged file of the journal was restored from the archive');
    else notes.warn({ file }, 'The archive does not have all that a damaged file of the journal held');
    return isMended;
  } catch (error) {
    if (!(error instanceof ArchiveDamageError)) throw error;
    // Operators: see [old history](docs/operating.md#old-history)
    notes.warn({ err: error, file }, 'A file of the journal is damaged, and so is the archive');
    return false;
  }
}

async function alignFolder<S>(options: ClusterNodeOptions<S>, pause: Pause): Promise<Aligned> {
  const { fs, folder: root, log, cluster, clock, notes } = options;
  const folder = dataFolder(root);
  await createDataFolder(fs, folder);
  const history = new NodeHistory(cluster, (await readLogHistory(fs, root))?.id ?? null);
  let disagreesSinceMs: number | null = null;
  return whenReached(options, pause, async () => {
    for (;;) {
      await meetHistory(log, history);
      if (await lacksBeginning(fs, folder, await readEnd(options))) await fetchMissing(options, history);
      const end = await readEnd(options);
      const askedAtMs = clock.monotonic();
      const alignment = await align(log, history, end).catch(async (error: unknown) => {
        if (!(error instanceof DisagreementError)) throw error;
        if (await fetchMissing(options, history)) return null;
        // A server of the log that has just been chosen to lead may not have caught up yet.
        disagreesSinceMs ??= askedAtMs;
        if (askedAtMs - disagreesSinceMs >= SHORT_MS_MAX) throw error;
        await pause(START_PAUSE_MS);
        return null;
      });
      if (alignment === null) continue;
      const newestId = end.places.at(-1)?.id ?? 0;
      const { place } = alignment;
      if (place.id < newestId) {
        // Operators, of "Events that the replicated log refused are cut off the journal; …": nothing
        notes.warn({ keptEventId: place.id, cutEventId: newestId }, CUT);
        await cutJournal(fs, folder, place);
      }
      if (history.id !== null) await writeLogHistory(fs, root, { id: history.id, decidedBy: 'log' });
      return { ...alignment, history, askedAtMs };
    }
  });
}

/** Tries again while the log or the archive cannot be reached. */
async function whenReached<S, T>(
  { notes }: ClusterNodeOptions<S>,
  pause: Pause,
  run: () => Promise<T>,
): Promise<T> {
  for (;;) {
    try {
      return await run();
    } catch (error) {
      if (isFinal(error)) throw error;
      // Operators: nothing, unless it repeats: see [fail-over](docs/cluster.md#fail-over)
      notes.warn({ err: error }, 'The replicated log or its archive cannot be reached; trying again');
      await pause(START_PAUSE_MS);
    }
  }
}

/** The end of the journal. All of one that ran alone was acknowledged. */
async function readEnd<S>({ fs, folder }: ClusterNodeOptions<S>): Promise<JournalEnd> {
  const end = await readJournalEnd(fs, dataFolder(folder));
  const isAlone = (await readLogHistory(fs, folder))?.decidedBy === 'disk';
  return isAlone ? { ...end, committedId: end.places.at(-1)!.id, isAlone } : end;
}

/** True for errors that no retry mends: journal and log that differ, and faults of the folder and its disk. */
const isFinal = (error: unknown): boolean =>
  [DisagreementError, LogDamageError, NewerRecordError, DataFolderError, FencedError].some(
    (kind) => error instanceof kind,
  ) ||
  (error instanceof Error && 'syscall' in error && 'path' in error);

/** Makes the journal longer from the archive; whether it could. The leader learns meanwhile what the log has to keep. */
async function fetchMissing<S>(options: ClusterNodeOptions<S>, history: NodeHistory): Promise<boolean> {
  const { fs, folder: root, log, archive, identity, version, clock, notes } = options;
  if (archive === null) return false;
  const folder = dataFolder(root);
  const end = await readEnd(options);
  const newestId = end.places.at(-1)?.id ?? 0;
  let durableId = newestId;
  let cancel = (): void => undefined;
  const reserve = (): void => {
    const place = { epoch: 0, position: 0, durableId, handsOver: false };
    const node = { ...identity, version, history: history.id, role: 'joining' };
    log.announce(encodeAnnouncement({ ...node, ...place }));
    cancel = clock.timer(RESERVATION_MS, reserve);
  };
  reserve();
  try {
    const fetched = await fetchFromArchive({
      ...{ fs, folder, archive, end, history: history.id },
      reserve: (id) => {
        durableId = id;
      },
    });
    if (fetched === null) return false;
    const { keptId: keptEventId, lastId: toEventId } = fetched;
    // Operators, of "Events that the replicated log refused are cut off the journal; …": nothing
    if (keptEventId < newestId) notes.warn({ keptEventId, cutEventId: newestId }, CUT);
    // Operators: nothing
    notes.info({ fromEventId: keptEventId, toEventId }, 'Events that this node lacked came from the archive');
    return true;
  } catch (error) {
    if (!(error instanceof ArchiveDamageError)) throw error;
    throw new DisagreementError(
      `This node lacks what the log has forgotten, and ${error.message}. Copy the data folder of another node that is stopped, and start again.`,
    );
  } finally {
    cancel();
  }
}
