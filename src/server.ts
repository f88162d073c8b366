/**
 * The life of the server. It locks the folder, listens without being ready, recovers, records the first events, and
 * is ready. At the end it drains, takes a last snapshot, and unlocks. `main.ts` runs one in a process; tests run
 * several.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import { DiskUsageReader } from './actors/disk-usage.ts';
import { StalenessCheck } from './actors/staleness-check.ts';
import { openStore, type Store, type StoreOptions } from './actors/store.ts';
import { Usage } from './actors/usage.ts';
import type { StoreHooks } from './addons/replication/cluster-node.ts';
import type { FileArchive } from './addons/replication/file-archive.ts';
import type { ReplicatedLog } from './addons/replication/replicated-log.ts';
import { askServer } from './control/control-client.ts';
import { type ControlServer, controlHandlers, openControl } from './control/control-server.ts';
import type { ScryptCost } from './domain/access/password-hash.ts';
import { describeInterface } from './http/description/document.ts';
import { pageSurface } from './http/description/page-routes.ts';
import { Authenticator } from './http/serving/access.ts';
import { type Api, createApi } from './http/serving/dispatcher.ts';
import { errorOfTransport, plainErrorResponse } from './http/serving/errors.ts';
import { createInstance } from './http/serving/instance.ts';
import type { RouteMeter } from './http/serving/meters.ts';
import { CommitMeter, createMetrics, type MetricsSources } from './http/serving/metrics.ts';
import { probeSurface, startingHandler } from './http/serving/probes.ts';
import { SessionCookies } from './http/serving/session-cookie.ts';
import type { Tracer } from './http/serving/tracer.ts';
import type { Transport } from './http/transport/transport.ts';
import { Passwords } from './passwords/passwords.ts';
import { ScryptQueue } from './passwords/scrypt-queue.ts';
import { dataFolder } from './persistence/disk/data-folder.ts';
import { createFileSystem, type FileSystem, realFileSystem } from './persistence/disk/file-system.ts';
import { type FolderLock, FolderLockedError, lockFolder } from './persistence/disk/folder-lock.ts';
import { WorkerLogReader } from './persistence/event-log/log-reader.ts';
import { refuseUnfinishedImport } from './persistence/recovery/unfinished-work.ts';
import { UsageFolder } from './persistence/snapshots/usage-folder.ts';
import { VERSION } from './process/installation.ts';
import type { Log } from './process/log.ts';
import { coreUsedMs } from './process/schedule-times.ts';
import { createAdminToken } from './start/admin-token.ts';
import { joinCluster, type OpenCluster } from './start/cluster.ts';
import type { Config } from './start/config.ts';
import { recordFirstEvents } from './start/first-start.ts';
import { createFront, type Front, signInSurfaces, surfacesOf } from './start/surfaces.ts';

/** How often a stop checks whether requests are still under way. */
const DRAIN_LOOK_MS = 10;

export interface ServerOptions {
  readonly config: Config;
  readonly log: Log;
  /** Ends the process: the journal or the state cannot be trusted any more (invariant 6). */
  stop(error: Error): void;
  /** Shows a secret, which is shown only once and never logged. */
  announceToken(secret: string): void;
  /** For tests: other disks, clocks and sizes. */
  readonly store?: Partial<Omit<StoreOptions, 'folder' | 'log' | 'stop'>>;
  /** For tests, whose passwords nobody guesses. */
  readonly passwordCost?: ScryptCost;
  /** Told of requests; nobody is unless given. */
  readonly tracer?: Tracer | null;
  /** For tests: in place of the log that the configuration names, and its archive. */
  readonly replicatedLog?: ReplicatedLog;
  readonly replicatedArchive?: FileArchive;
}

export interface Server {
  readonly port: number;
  readonly store: Store;
  /** Null where the server runs alone. */
  readonly cluster: OpenCluster | null;
  readonly usage: Usage;
  readonly staleness: StalenessCheck;
  readonly transport: Transport;
  close(): Promise<void>;
}

export async function startServer(options: ServerOptions): Promise<Server> {
  const { config, log } = options;
  const lock = lockFolder(config.dataDir);
  let transport: Transport | null = null;
  try {
    await refuseRunningServer(config.dataDir);
    // Listening comes first, so that a supervisor can tell a long replay from a dead process.
    const front: Front = {
      phase: 'starting',
      handle: startingHandler(config.basePath),
      admit: () => false,
      refuse: (status, reason) => plainErrorResponse(errorOfTransport(status, reason)),
    };
    transport = await createFront(front, options);
    const { port } = await transport.listen();
    await refuseUnfinishedImport(realFileSystem, config.dataDir);
    const commits = new CommitMeter();
    const patience = { isOver: false };
    const fs = createFileSystem(() => !patience.isOver);
    const { store, cluster } = await openNode(options, { commits, lock, port, fs });
    const usage = await openUsage(store, fs, options);
    const api = createHandler({ store, cluster, usage, transport, commits, front }, options);
    front.handle = api.handle;
    front.admit = api.admit;
    front.refuse = api.refuse;
    const handlers = controlHandlers({
      store,
      replica: cluster?.replica ?? null,
      archivist: cluster?.archivist ?? null,
      folder: config.dataDir,
      fs: realFileSystem,
      createAdminToken: () => createAdminToken(store.engine),
    });
    const control = await openControl({ folder: config.dataDir, handlers, log });
    const staleness = stalenessCheck(store, options);
    staleness.start();
    front.phase = 'ready';
    return serverOf({
      ...{ port, store, cluster, usage, staleness, transport, front, control, lock, patience },
      shutdownTimeoutMs: config.shutdownTimeoutMs,
    });
  } catch (error) {
    await transport?.close();
    lock.release();
    throw error;
  }
}

/**
 * Refuses to start beside a server that answers for this folder. The lock alone would let both run where somebody
 * deleted its file.
 */
async function refuseRunningServer(folder: string): Promise<void> {
  const running = await askServer(folder, 'status');
  if (running !== null) throw new FolderLockedError(folder, running.pid);
}

interface Parts {
  readonly store: Store;
  /** Null where the server runs alone. */
  readonly cluster: OpenCluster | null;
  readonly usage: Usage;
  readonly transport: Transport;
  readonly commits: CommitMeter;
  readonly front: Front;
}

interface StoreParts {
  readonly commits: CommitMeter;
  readonly lock: FolderLock;
  /** On which the server listens. */
  readonly port: number;
  readonly fs: FileSystem;
}

/** The store with its first events: of a server that runs alone, or of a node that has joined its cluster. */
async function openNode(
  options: ServerOptions,
  parts: StoreParts,
): Promise<{ readonly store: Store; readonly cluster: OpenCluster | null }> {
  const { log, stop, replicatedLog, replicatedArchive } = options;
  const { cluster: config, dataDir: folder } = options.config;
  const firstEvents = (store: Store): Promise<void> =>
    recordFirstEvents(store, { ...options, fs: realFileSystem });
  if (config === null) {
    const store = await open(options, parts);
    await firstEvents(store);
    return { store, cluster: null };
  }
  const cluster = await joinCluster({
    ...{ config, folder, port: parts.port, log, stop },
    hasRetention: options.config.eventRetentionDays !== null,
    open: (hooks) => open(options, parts, hooks),
    onLeading: firstEvents,
    ...(replicatedLog !== undefined && { replicatedLog }),
    ...(replicatedArchive !== undefined && { replicatedArchive }),
  });
  return { store: cluster.store, cluster };
}

function open(
  options: ServerOptions,
  { commits, lock, fs }: StoreParts,
  hooks: Partial<StoreHooks> = {},
): Promise<Store> {
  return openStore({
    ...hooks,
    fs,
    folder: options.config.dataDir,
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
    limits: options.config.limits,
    memoryBudgetBytes: options.config.memoryBudgetBytes,
    onCommit: (observation) => commits.observe(observation),
    holdsLock: () => lock.isHeld(),
    ...options.store,
  });
}

/** Free space below which what applications report is not saved: the reserve of the journal, and twice what it can take. */
const USAGE_ROOM_BYTES = 256 * 1024 * 1024;

async function openUsage({ engine }: Store, fs: FileSystem, { config, log }: ServerOptions): Promise<Usage> {
  const usage = new Usage({
    world: engine.world,
    feed: engine.feed,
    folder: new UsageFolder({
      fs,
      folder: dataFolder(config.dataDir).usage,
      onDamaged: (details) =>
        log.warn(
          details,
          'a file of what applications reported is damaged; it was set aside, and what it lacks is lost',
        ),
    }),
    now: Date.now,
    hasRoom: () => engine.journal.writable && engine.journal.stats().freeBytes > USAGE_ROOM_BYTES,
    onFault: (error) =>
      log.error(
        { err: error },
        'what applications reported could not be read or saved; flags are not concerned',
      ),
    timer: unrefTimer,
  });
  await usage.open();
  return usage;
}

function stalenessCheck({ engine }: Store, { log }: ServerOptions): StalenessCheck {
  return new StalenessCheck({
    engine,
    monotonicMs: () => performance.now(),
    yieldToEventLoop: () => new Promise((resolve) => setImmediate(resolve)),
    timer: unrefTimer,
    onFault: (error) => log.error({ err: error }, 'the check for flags that outlived their types failed'),
  });
}

function unrefTimer(delayMs: number, callback: () => void): void {
  setTimeout(callback, delayMs).unref();
}

function createHandler(
  { store, cluster, usage, transport, commits, front }: Parts,
  { config, log, passwordCost, tracer = null }: ServerOptions,
): Api {
  const { engine, keeper } = store;
  const replica = cluster === null ? null : () => cluster.replica.view;
  const meters: RouteMeter[] = [];
  const sources: MetricsSources = {
    ...{
      version: VERSION,
      engine,
      keeper,
      transport,
      commits,
      routes: () => meters,
      usage,
      replica,
      now: Date.now,
    },
    recoveryMs: store.recoveryMs,
    historyCheck: store.historyCheck,
    refusedLogins: () => api.refusedLogins(),
    longRequests: () => api.longRequests,
  };
  const instance = createInstance({
    version: VERSION,
    configuredOrigins: config.frontendOrigins,
    limits: config.limits,
    signOn: config.oidc,
    tokenKey: config.tokenKey,
    storage: new DiskUsageReader({ fs: realFileSystem, folder: config.dataDir }),
    transport,
    uptimeMs: () => process.uptime() * 1000,
    memoryUsage: process.memoryUsage,
  });
  const passwords = new Passwords({
    world: engine.world,
    monotonicMs: () => performance.now(),
    onAttempt: (userId, succeeded) => usage.signInTried(userId, succeeded),
    queue: new ScryptQueue(passwordCost),
  });
  const { basePath } = config;
  const open = config.authType === 'none';
  const surfaces = surfacesOf(config);
  const cookies = new SessionCookies(basePath, config.sessions.isSecureOnly);
  const described = [
    ...surfaces,
    probeSurface({
      engine,
      historyCheck: store.historyCheck,
      replica,
      metrics: config.metrics
        ? {
            registry: createMetrics(sources),
            token: config.metricsToken,
            monotonicMs: () => performance.now(),
          }
        : null,
      phase: () => front.phase,
    }),
    ...signInSurfaces({ config, cookies, log }),
  ];
  const all = [
    ...described,
    pageSurface({
      basePath,
      describe: () =>
        describeInterface({ surfaces: described, version: VERSION, basePath, open, limits: config.limits }),
    }),
  ];
  const api = createApi({
    engine,
    reads: store.reads,
    instance,
    authenticator: new Authenticator({
      world: engine.world,
      open,
      now: Date.now,
      onUse: (digest) => usage.tokenUsed(digest),
      usedAt: (digest) => usage.seen.token(digest),
      sessionIdleMs: config.sessions.idleMs,
    }),
    cookies,
    usage,
    passwords,
    surfaces: all,
    basePath,
    streaming: {
      forSdks: config.streamingHint !== 'off',
      forPages: config.streamingHint === 'all',
      areOpen: open,
      ...{ basePath, publicOrigin: config.publicOrigin },
    },
    log,
    now: Date.now,
    monotonicMs: () => performance.now(),
    metered: config.metrics,
    cluster: cluster?.access ?? null,
    tracer,
  });
  meters.push(...api.meters);
  return api;
}

interface Running extends Omit<Parts, 'commits'> {
  readonly port: number;
  readonly staleness: StalenessCheck;
  readonly control: ControlServer;
  readonly lock: FolderLock;
  /** While it is not over, files wait for descriptors that connections will give back. */
  readonly patience: { isOver: boolean };
  readonly shutdownTimeoutMs: number;
}

function serverOf(running: Running): Server {
  const { port, store, cluster, usage, staleness, transport, front, control, lock, patience } = running;
  const { shutdownTimeoutMs } = running;
  const close = async (): Promise<void> => {
    front.phase = 'draining';
    await cluster?.handOver(shutdownTimeoutMs);
    transport.drain();
    await control.close();
    const deadline = performance.now() + shutdownTimeoutMs;
    while (transport.openRequests + transport.openStreams > 0 && performance.now() < deadline) {
      await new Promise((resolve) => setTimeout(resolve, DRAIN_LOOK_MS));
    }
    await transport.close();
    patience.isOver = true;
    await usage.close();
    await staleness.close();
    await cluster?.stopFollowing();
    await store.close();
    await cluster?.close();
    lock.release();
  };
  return { port, store, cluster, usage, staleness, transport, close };
}
