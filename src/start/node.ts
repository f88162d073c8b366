/** The parts below the HTTP surfaces: the store, alone or as a node of a cluster, and the check for stale flags. */
import { randomBytes, randomUUID } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import { StalenessCheck } from '../actors/staleness-check.ts';
import { openStore, type Store, type StoreHooks, type StoreOptions } from '../actors/store.ts';
import { Background } from '../actors/turn.ts';
import type { ConfiguredAddon, Membership } from '../host/addon.ts';
import type { CommitMeter } from '../http/serving/metrics.ts';
import type { FileSystem } from '../persistence/disk/file-system.ts';
import type { FolderLock } from '../persistence/disk/folder-lock.ts';
import { WorkerLogReader } from '../persistence/event-log/log-reader.ts';
import { decideAlone } from '../persistence/journal/log-history.ts';
import type { Log } from '../process/log.ts';
import { coreUsedMs } from '../process/schedule-times.ts';
import { unrefTimer } from '../process/timers.ts';
import type { Config } from './config.ts';
import { recordFirstEvents } from './first-start.ts';

export interface NodeOptions {
  readonly config: Config;
  readonly log: Log;
  /** Ends the process: the journal or the state cannot be trusted any more (invariant 6). */
  stop(error: Error): void;
  /** Shows a secret, which is shown only once and never logged. It resolves when the secret cannot be lost. */
  announceToken(secret: string): Promise<void>;
  /** For tests: other disks, clocks and sizes. */
  readonly store?: Partial<Omit<StoreOptions, 'folder' | 'log' | 'stop'>>;
  /** The add-ons as the settings have them; none unless given. */
  readonly addons?: readonly ConfiguredAddon[];
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
): Promise<{ readonly store: Store; readonly cluster: Membership | null }> {
  const { log, stop, config, addons = [] } = options;
  const firstEvents = (store: Store): Promise<void> => recordFirstEvents(store, { ...options, fs: parts.fs });
  const join = addons.find((one) => one.join !== undefined)?.join;
  if (join === undefined) {
    const store = await open(options, parts);
    if (await decideAlone(parts.fs, config.dataDir))
      // Operators: stop it, if the node belongs to [its cluster](docs/cluster.md#starting-one)
      log.warn(
        {},
        'This data folder was that of a node of a cluster, and the server runs alone now: the cluster will not take what it changes',
      );
    await firstEvents(store);
    return { store, cluster: null };
  }
  const cluster = await join({
    ...{ folder: config.dataDir, port: parts.port, stop },
    hasRetention: config.eventRetentionDays !== null,
    open: (hooks) => open(options, parts, hooks),
    onLeading: firstEvents,
    onWait: (what) => parts.onWait(what),
  });
  return { store: cluster.store, cluster };
}

async function open(
  options: NodeOptions,
  { commits, lock, fs }: StoreParts,
  hooks: Partial<StoreHooks> = {},
): Promise<Store> {
  const { dataDir } = options.config;
  const observe = options.addons?.find((one) => one.observe !== undefined)?.observe;
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
    ...(observe !== undefined && { observe }),
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
