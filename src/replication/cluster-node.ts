/**
 * Opens a data folder as one of a cluster's nodes: compares its journal with the log, cuts off what the log refused,
 * opens the store behind a commit log that the nodes share, and begins to follow.
 */
import { createDataFolder, dataFolder } from '../persistence/disk/data-folder.ts';
import type { FileSystem } from '../persistence/disk/file-system.ts';
import type { CommitLog } from '../persistence/journal/commit-log.ts';
import { cutJournal, readJournalEnd } from '../persistence/recovery/journal-end.ts';
import { type Alignment, align, DisagreementError } from './alignment.ts';
import { LogDamageError, NewerRecordError, type NodeIdentity } from './record-format.ts';
import { Replica, type ReplicaClock, type ReplicaLog, type ReplicatedEngine } from './replica.ts';
import { ReplicatedCommitLog } from './replicated-commit-log.ts';
import type { ReplicatedLog } from './replicated-log.ts';

/** Between two attempts to reach the log at a start. */
const START_PAUSE_MS = 1_000;

/** What the store of a node is opened with. */
export interface StoreHooks {
  readonly commitLog: CommitLog;
  /** Why no command may be decided here; null when one may. */
  refusalToDecide(): string | null;
}

export interface ClusterNodeOptions<S> {
  readonly fs: FileSystem;
  /** The data folder, whose lock the caller holds. */
  readonly folder: string;
  readonly log: ReplicatedLog;
  readonly cluster: string;
  readonly identity: NodeIdentity;
  readonly clock: ReplicaClock;
  readonly notes: ReplicaLog;
  /** Opens the store; called once, when journal and log agree. */
  open(hooks: StoreHooks): Promise<S>;
  /** Called each time that this node has begun to lead. */
  onLeading(store: S): Promise<void>;
  stop(error: Error): void;
}

export interface ClusterNode<S> {
  readonly store: S;
  readonly replica: Replica;
}

/** Waits until the log can be reached. Throws `DisagreementError` when it holds another history than the journal. */
export async function openClusterNode<S extends { readonly engine: ReplicatedEngine }>(
  options: ClusterNodeOptions<S>,
): Promise<ClusterNode<S>> {
  const { log, cluster, identity, clock, notes } = options;
  const pause = (delayMs: number): Promise<void> => new Promise((resolve) => clock.timer(delayMs, resolve));
  const { from, last } = await alignFolder(options, pause);
  const commitLog = new ReplicatedCommitLog({
    ...{ log, cluster, identity, pause },
    onTrouble: (cause) =>
      notes.warn({ err: cause }, 'It is not known yet whether the replicated log has a change'),
  });
  let replica: Replica | null = null;
  const store = await options.open({
    commitLog,
    refusalToDecide: () =>
      replica?.isLeading === true
        ? null
        : 'Another node of the cluster takes the writes; send it again in a moment.',
  });
  commitLog.decided(store.engine.lastId);
  replica = new Replica({
    ...{ log, cluster, identity, from, last, commitLog, clock, notes },
    engine: store.engine,
    stop: options.stop,
    onLeading: () => options.onLeading(store),
  });
  replica.start();
  return { store, replica };
}

async function alignFolder<S>(
  { fs, folder: root, log, cluster, notes }: ClusterNodeOptions<S>,
  pause: (delayMs: number) => Promise<void>,
): Promise<Alignment> {
  const folder = dataFolder(root);
  await createDataFolder(fs, folder);
  const end = await readJournalEnd(fs, folder);
  for (;;) {
    try {
      const alignment = await align(log, cluster, end);
      const newestId = end.places.at(-1)?.id ?? 0;
      const { place } = alignment;
      if (place.id < newestId) {
        const message =
          'Events that the replicated log refused are cut off the journal; nobody was told of them.';
        notes.warn({ keptEventId: place.id, cutEventId: newestId }, message);
        await cutJournal(fs, folder, place);
      }
      return alignment;
    } catch (error) {
      const isFinal = [DisagreementError, LogDamageError, NewerRecordError].some(
        (kind) => error instanceof kind,
      );
      if (isFinal) throw error;
      notes.warn({ err: error }, 'The replicated log cannot be reached; trying again');
      await pause(START_PAUSE_MS);
    }
  }
}
