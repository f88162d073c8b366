/**
 * The life of the server. It locks the folder, listens without being ready, recovers, records the first events, and
 * is ready. At the end it drains, takes a last snapshot, and unlocks. `main.ts` runs one in a process; tests run
 * several.
 */
import { performance } from 'node:perf_hooks';
import { readDiskUsage } from './actors/disk-usage.ts';
import type { StalenessCheck } from './actors/staleness-check.ts';
import type { Store } from './actors/store.ts';
import { NO_USAGE, type UsageView } from './actors/usage-view.ts';
import { askServer } from './control/control-client.ts';
import { type ControlServer, controlHandlers, openControl } from './control/control-server.ts';
import { invalid } from './domain/state/refusal.ts';
import type { AddonParts, Host, Membership } from './host/addon.ts';
import { describeInterface } from './http/description/document.ts';
import { Authenticator } from './http/serving/access.ts';
import { type Api, createApi } from './http/serving/dispatcher.ts';
import { errorOfTransport, plainErrorResponse } from './http/serving/errors.ts';
import { createInstance } from './http/serving/instance.ts';
import { CommitMeter, createMetrics, type MetricsSources } from './http/serving/metrics.ts';
import { probeSurface, startingHandler } from './http/serving/probes.ts';
import { SessionCookies } from './http/serving/session-cookie.ts';
import type { Surface } from './http/serving/surface.ts';
import { drainAndClose, originOf, type Transport } from './http/transport/transport.ts';
import { createFileSystem, realFileSystem } from './persistence/disk/file-system.ts';
import { type FolderLock, FolderLockedError, lockFolder } from './persistence/disk/folder-lock.ts';
import { refuseUnfinishedImport } from './persistence/recovery/unfinished-work.ts';
import { EXIT } from './process/exit-codes.ts';
import { VERSION } from './process/installation.ts';
import { createLog } from './process/log.ts';
import { ADDONS, configureAddons } from './start/addons.ts';
import { createAdminToken, writeFirstToken } from './start/admin-token.ts';
import { ignoredVariables, readConfig } from './start/config.ts';
import { exitCodeOf, fail } from './start/failures.ts';
import { misspeltSettings } from './start/misspelt-settings.ts';
import { type NodeOptions, openNode, stalenessCheck } from './start/node.ts';
import { listen, type RequestRouter, surfacesOf } from './start/surfaces.ts';
import { unclaimedFiles } from './start/unclaimed-files.ts';

export interface Server {
  readonly port: number;
  readonly store: Store;
  /** Null where the server runs alone. */
  readonly cluster: Membership | null;
  readonly usage: UsageView;
  readonly staleness: StalenessCheck;
  readonly transport: Transport;
  close(): Promise<void>;
}

export async function startServer(options: NodeOptions): Promise<Server> {
  const { config, log, addons: configured = [] } = options;
  const surfaces = surfacesOf(configured);
  const lock = lockFolder(config.dataDir);
  let transport: Transport | null = null;
  try {
    await refuseRunningServer(config.dataDir);
    let waitsFor: string | null = null;
    // Listening comes first, so that a supervisor can tell a long replay from a dead process.
    const router: RequestRouter = {
      phase: 'starting',
      handle: startingHandler(config.basePath, () => waitsFor),
      admit: () => null,
      refuse: (status, reason) => plainErrorResponse(errorOfTransport(status, reason)),
    };
    const engine = configured.find((one) => one.engine !== undefined)?.engine ?? null;
    transport = await listen(router, { config, log, surfaces, engine });
    const { port } = await transport.listen();
    await refuseUnfinishedImport(realFileSystem, config.dataDir);
    const commits = new CommitMeter();
    const grace = { isOver: false };
    const fs = createFileSystem(() => !grace.isOver);
    const { store, cluster } = await openNode(options, {
      ...{ commits, lock, port, fs },
      onWait: (what) => {
        waitsFor = what;
      },
    });
    const host: Host = {
      ...{ engine: store.engine, fs, folder: config.dataDir },
      ...{ broadcast: cluster?.broadcast ?? null, sharedValue: cluster?.sharedValue ?? null },
      isLeading: () => cluster?.access.isLeading() ?? true,
    };
    const addons = await Promise.all(configured.map(async ({ open }) => (await open?.(host)) ?? {}));
    const usage = addons.find((one) => one.usage !== undefined)?.usage ?? NO_USAGE;
    const api = createHandler(
      { store, cluster, usage, transport, commits, router, addons, surfaces },
      options,
    );
    router.handle = api.handle;
    router.admit = api.admit;
    router.refuse = api.refuse;
    if (cluster !== null) router.handedOnFor = (request) => cluster.handedOnFor(request);
    const handlers = controlHandlers({
      store,
      addons,
      folder: config.dataDir,
      fs: realFileSystem,
      createAdminToken: () => createAdminToken(store.engine),
    });
    const control = await openControl({ folder: config.dataDir, handlers, log });
    const staleness = stalenessCheck(store, options);
    staleness.start();
    router.phase = 'ready';
    return serverOf({
      ...{ port, store, cluster, usage, staleness, transport, router, control, lock, grace, addons },
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
  readonly cluster: Membership | null;
  readonly usage: UsageView;
  readonly transport: Transport;
  readonly commits: CommitMeter;
  readonly router: RequestRouter;
  readonly addons: readonly AddonParts[];
  /** The surfaces that programs talk to. */
  readonly surfaces: readonly Surface[];
}

/** Nothing here would ever check one. */
const NO_PASSWORDS = invalid('Users of this server have no passwords.', '/body/password');

/** Bound, and not called from a function of ours: each request asks twice. */
const monotonicMs = performance.now.bind(performance);

function createHandler(parts: Parts, options: NodeOptions): Api {
  const { store, cluster, usage, transport, addons } = parts;
  const { config, log, addons: configured = [] } = options;
  const { engine } = store;
  const { basePath } = config;
  const cookies = new SessionCookies(basePath, config.sessions.isSecureOnly);
  const areOpen = config.authType === 'none';
  const publicOrigin = config.publicOrigin ?? configured.find((one) => one.publicOrigin)?.publicOrigin;
  const api = createApi({
    ...{ state: engine, engine },
    reads: store.reads,
    instance: createInstance({
      version: VERSION,
      configuredOrigins: config.frontendOrigins,
      limits: config.limits,
      tokenKey: config.tokenKey,
      diskUsage: () => readDiskUsage({ fs: realFileSystem, folder: config.dataDir }),
      transport,
      uptimeMs: () => process.uptime() * 1000,
      memoryUsage: process.memoryUsage,
    }),
    authenticator: new Authenticator({
      state: engine,
      open: areOpen,
      now: Date.now,
      onUse: (digest) => usage.tokenUsed(digest),
      usedAt: (digest) => usage.seen.token(digest),
      sessionIdleMs: config.sessions.idleMs,
    }),
    cookies,
    usage,
    hashPassword: configured.find((one) => one.hashPassword)?.hashPassword ?? (async () => NO_PASSWORDS),
    surfaces: createSurfaces(parts, options, () => api),
    basePath,
    site: { isOpen: areOpen, basePath, publicOrigin: publicOrigin ?? null },
    log,
    now: Date.now,
    monotonicMs,
    metered: config.metrics,
    cluster: cluster?.access ?? null,
    ...(cluster !== null && { ageMs: () => cluster.ageMs }),
    tracer: addons.find(({ tracer }) => tracer !== undefined)?.tracer ?? null,
  });
  return api;
}

/** The surfaces that programs talk to, and the pages, which describe the former. `api` is there once the server responds. */
function createSurfaces(
  { store, transport, commits, router, surfaces, addons }: Parts,
  { config, addons: configured = [] }: NodeOptions,
  api: () => Api,
): readonly Surface[] {
  const { engine, keeper, recoveryMs, historyCheck } = store;
  const sources: MetricsSources = {
    ...{
      version: VERSION,
      engine,
      keeper,
      transport,
      commits,
      recoveryMs,
      historyCheck,
    },
    routes: () => api().meters,
    refusedLogins: () => api().refusedLogins(),
    now: Date.now,
  };
  const metrics = {
    registry: createMetrics(
      sources,
      addons.map((one) => one.metrics ?? {}),
    ),
    token: config.metricsToken,
    monotonicMs,
  };
  const described = [
    ...surfaces,
    probeSurface({
      ...{ engine, historyCheck },
      addons: addons.flatMap(({ health }) => health ?? []),
      metrics: config.metrics ? metrics : null,
      phase: () => router.phase,
    }),
  ];
  const { basePath, limits } = config;
  const open = config.authType === 'none';
  const describe = () => describeInterface({ surfaces: described, version: VERSION, basePath, open, limits });
  return [...described, ...configured.flatMap(({ pages }) => pages?.(describe) ?? [])];
}

interface Running extends Omit<Parts, 'commits' | 'surfaces'> {
  readonly port: number;
  readonly staleness: StalenessCheck;
  readonly control: ControlServer;
  readonly lock: FolderLock;
  /** While it is not over, files wait for descriptors that connections will give back. */
  readonly grace: { isOver: boolean };
  readonly shutdownTimeoutMs: number;
}

function serverOf(running: Running): Server {
  const { port, store, cluster, usage, staleness, transport, router, control, lock, grace, addons } = running;
  const { shutdownTimeoutMs } = running;
  const close = async (): Promise<void> => {
    router.phase = 'draining';
    await cluster?.handOver(shutdownTimeoutMs);
    await Promise.all([control.close(), drainAndClose(transport, shutdownTimeoutMs)]);
    grace.isOver = true;
    for (const addon of addons) await addon.close?.();
    await staleness.close();
    await cluster?.stopFollowing();
    await store.close();
    await cluster?.close();
    lock.release();
  };
  return { port, store, cluster, usage, staleness, transport, close };
}

// The process of a server: configuration, server, signals.

/** Resolves when the server listens; what it cannot do ends the process with a line and an exit code. */
export async function runServer(env: NodeJS.ProcessEnv): Promise<void> {
  // Node itself ends with exit code 1 after an uncaught error, which no manual explains.
  process.on('uncaughtException', fail);
  await serve(env).catch(fail);
}

async function serve(env: NodeJS.ProcessEnv): Promise<void> {
  const config = readConfig(env);
  const log = createLog(config.logLevel);
  const ignored = ignoredVariables(env);
  if (ignored.length > 0)
    // Operators: remove the setting
    log.warn({ ignored }, 'The DATABASE_ variables are ignored, because this server has no database');
  // Operators, of "There is no setting …": correct the name
  for (const message of misspeltSettings(env, ADDONS)) log.warn({}, message);
  if (env['HTTP_WORKERS'] !== undefined)
    // Operators: what it says
    log.warn(
      {},
      'HTTP_WORKERS is ignored, because this version has no HTTP workers; for more readers, run followers (docs/cluster.md)',
    );
  const startedAt = performance.now();
  const addons = await configureAddons(env, config, log);
  // Operators, of "…: finishing the requests under way, then stopping": nothing
  const signals = stopOnSignals((message) => log.info({}, message));
  const server = await startServer({
    config,
    log,
    addons,
    stop: (error) => {
      log.fatal({ err: error }, error.message);
      process.exit(exitCodeOf(error));
    },
    announceToken: async (secret) => {
      if (process.stderr.isTTY)
        return void process.stderr.write(`\nAdmin API token, shown only this once:\n\n    ${secret}\n\n`);
      const file = await writeFirstToken(realFileSystem, config.dataDir, secret);
      // Operators: what it says
      log.info(
        { file },
        'The first admin token is in this file; keep it in a safe place, and delete the file',
      );
    },
  });
  const unclaimed = await unclaimedFiles(config.dataDir, ADDONS);
  if (unclaimed.length > 0)
    // Operators: nothing, unless they belong to an add-on that was taken away by mistake
    log.info(
      { names: unclaimed },
      'No part of this server knows some files in the data folder; they are left alone',
    );
  const { recovery, engine } = server.store;
  // Operators: nothing
  log.info(
    {
      port: server.port,
      engine: server.transport.engine,
      dataDir: config.dataDir,
      lastEventId: engine.lastId,
      snapshotId: recovery.snapshotId,
      replayedEvents: recovery.replayedEvents,
      startMs: Math.round(performance.now() - startedAt),
    },
    `Flagstaff listens on ${originOf(config.host, server.port)}${config.basePath}`,
  );
  if (config.authType === 'none')
    // Operators: what it says
    log.warn({}, 'AUTH_TYPE=none: anybody who can reach this port may do everything');
  signals.server = server;
}

/**
 * The first signal drains and takes a last snapshot. A second one, or one during a start, ends the process at once,
 * which loses nothing either. The listeners exist from the first moment, because the first process of a container
 * ignores signals for which it has no listener.
 */
function stopOnSignals(say: (message: string) => void): { server: Server | null } {
  const signals: { server: Server | null } = { server: null };
  let stopping = false;
  const stop = (signal: string): void => {
    const { server } = signals;
    if (stopping || server === null) process.exit(EXIT.ok);
    stopping = true;
    say(`${signal}: finishing the requests under way, then stopping`);
    server.close().then(
      () => process.exit(EXIT.ok),
      (error: unknown) => fail(error),
    );
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  return signals;
}
