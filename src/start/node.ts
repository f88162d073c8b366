/** The parts below the HTTP surfaces: the store, alone or as a node of a cluster, and the check for stale flags. */
import { randomBytes, randomUUID } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import { StalenessCheck } from '../actors/staleness-check.ts';
import { openStore, type Store, type StoreOptions } from '../actors/store.ts';
import { Background } from '../actors/turn.ts';
import type { StoreHooks } from '../addons/replication/cluster-node.ts';
import type { FileArchive } from '../addons/replication/file-archive.ts';
import type { ReplicatedLog } from '../addons/replication/replicated-log.ts';
import type { Broadcast } from '../host/addon.ts';
import type { CommitMeter } from '../http/serving/metrics.ts';
import type { FileSystem } from '../persistence/disk/file-system.ts';
import type { FolderLock } from '../persistence/disk/folder-lock.ts';
import { WorkerLogReader } from '../persistence/event-log/log-reader.ts';
import { decideAlone } from '../persistence/journal/log-history.ts';
import type { Log } from '../process/log.ts';
import { coreUsedMs } from '../process/schedule-times.ts';
import { joinCluster, type OpenCluster } from './cluster.ts';
import type { Config } from './config.ts';
import { recordFirstEvents } from './first-start.ts';
import { openSigner } from './history-key.ts';

export interface NodeOptions {
  readonly config: Config;
  readonly log: Log;
  /** Ends the process: the journal or the state cannot be trusted any more (invariant 6). */
  stop(error: Error): void;
  /** Shows a secret, which is shown only once and never logged. It resolves when the secret cannot be lost. */
  announceToken(secret: string): Promise<void>;
  /** For tests: other disks, clocks and sizes. */
  readonly store?: Partial<Omit<StoreOptions, 'folder' | 'log' | 'stop'>>;
  /** For tests: in place of the log that the configuration names, and its archive. */
  readonly replicatedLog?: ReplicatedLog;
  readonly replicatedArchive?: FileArchive;
  readonly broadcast?: Broadcast;
}

interface StoreParts {
  readonly commits: CommitMeter;
  readonly lock: FolderLock;
  /** On which the server listens. */
  readonly port: number;
  readonly fs: FileSystem;
  /** Told what holds the start of a node up. */
  onWait(what: string): void;
}

/** The store with its first events: of a server that runs alone, or of a node that has joined its cluster. */
export async function openNode(
  options: NodeOptions,
  parts: StoreParts,
): Promise<{ readonly store: Store; readonly cluster: OpenCluster | null }> {
  const { log, stop, replicatedLog, replicatedArchive, broadcast } = options;
  const { cluster: config, dataDir: folder } = options.config;
  const firstEvents = (store: Store): Promise<void> => recordFirstEvents(store, { ...options, fs: parts.fs });
  if (config === null) {
    const store = await open(options, parts);
    if (await decideAlone(parts.fs, folder))
      // Operators: stop it, if the node belongs to [its cluster](docs/cluster.md#starting-one)
      log.warn(
        {},
        'This data folder was that of a node of a cluster, and the server runs alone now: the cluster will not take what it changes',
      );
    await firstEvents(store);
    return { store, cluster: null };
  }
  const cluster = await joinCluster({
    ...{ config, folder, port: parts.port, log, stop },
    onWait: (what) => parts.onWait(what),
    basePath: options.config.basePath,
    hasRetention: options.config.eventRetentionDays !== null,
    open: (hooks) => open(options, parts, hooks),
    onLeading: firstEvents,
    ...(replicatedLog !== undefined && { replicatedLog }),
    ...(replicatedArchive !== undefined && { replicatedArchive }),
    ...(broadcast !== undefined && { broadcast }),
  });
  return { store: cluster.store, cluster };
}

async function open(
  options: NodeOptions,
  { commits, lock, fs }: StoreParts,
  hooks: Partial<StoreHooks> = {},
): Promise<Store> {
  const { dataDir, historyKeyFile } = options.config;
  return openStore({
    ...hooks,
    fs,
    folder: dataDir,
    clock: {
      now: Date.now,
      defer: setImmediate,
      monotonic: () => performance.now(),
      coreUsed: coreUsedMs(),
    },
    newId: randomUUID,
    newName: () => randomBytes(4).toString('hex'),
    logReader: new WorkerLogReader(),
    log: options.log,
    stop: options.stop,
    eventRetentionDays: options.config.eventRetentionDays,
    historyCheckMs: options.config.historyCheckMs,
    signer: await openSigner(fs, dataDir, historyKeyFile),
    limits: options.config.limits,
    memoryBudgetBytes: options.config.memoryBudgetBytes,
    onCommit: (observation) => commits.observe(observation),
    holdsLock: () => lock.isHeld(),
    ...options.store,
  });
}

export function stalenessCheck({ engine }: Store, { log }: NodeOptions): StalenessCheck {
  return new StalenessCheck({
    engine,
    background: new Background(),
    timer: unrefTimer,
    // Operators: report it with the log line
    onFault: (error) => log.error({ err: error }, 'the check for potentially stale flags failed'),
  });
}

function unrefTimer(delayMs: number, callback: () => void): void {
  setTimeout(callback, delayMs).unref();
}
