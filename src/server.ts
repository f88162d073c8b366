/**
 * The whole server: lock → recover → first events → listen; and back: drain → last snapshot → unlock. `main.ts` runs
 * one per process; tests run as many as they like.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { openStore, type Store, type StoreOptions } from './actors/store.ts';
import type { Config } from './config.ts';
import { controlHandlers } from './control/control-handlers.ts';
import { type ControlServer, openControl } from './control/control-server.ts';
import { adminTokenEvent, initialEvents } from './domain/initial-events.ts';
import { Authenticator, digestOf } from './http/access.ts';
import { createApi, type PlainRoute } from './http/api.ts';
import { transportRefusal } from './http/errors.ts';
import { jsonReply } from './http/json-reply.ts';
import { API_PREFIX, ROUTES } from './http/routes.ts';
import { selectTransport } from './http/select-transport.ts';
import type { Transport } from './http/transport.ts';
import type { Log } from './log.ts';
import { realFileSystem } from './persistence/file-system.ts';
import { type FolderLock, lockFolder } from './persistence/folder-lock.ts';
import { WorkerTextSearch } from './persistence/text-search.ts';

/** How long a stop waits for requests that are under way. */
const DRAIN_MS = 4_000;
/** How often it looks. */
const DRAIN_LOOK_MS = 10;

/** Who records the first events of a data folder. */
const SYSTEM = { name: 'system', userId: -1337 } as const;

export interface ServerOptions {
  readonly config: Config;
  readonly log: Log;
  /** Ends the process: the journal or the state cannot be trusted any more (invariant 6). */
  stop(error: Error): void;
  /** Shows a secret that is shown once, and logged never. */
  announceToken(secret: string): void;
  /** For tests: other disks, clocks and sizes. */
  readonly store?: Partial<Omit<StoreOptions, 'folder' | 'log' | 'stop'>>;
}

export interface Server {
  readonly port: number;
  readonly store: Store;
  readonly transport: Transport;
  close(): Promise<void>;
}

export async function startServer(options: ServerOptions): Promise<Server> {
  const { config, log } = options;
  const lock = lockFolder(config.dataDir);
  try {
    const store = await openStore({
      fs: realFileSystem,
      folder: config.dataDir,
      clock: { now: Date.now, defer: setImmediate, monotonic: () => performance.now() },
      newId: randomUUID,
      textSearch: new WorkerTextSearch(),
      log,
      stop: options.stop,
      ...options.store,
    });
    await recordFirstEvents(store, options);
    const transport = await createHttp(store, options);
    const { port } = await transport.listen();
    const handlers = controlHandlers({ store, folder: config.dataDir, fs: realFileSystem });
    const control = await openControl({ folder: config.dataDir, handlers, log });
    return { port, store, transport, close: () => closeServer(transport, control, store, lock) };
  } catch (error) {
    lock.release();
    throw error;
  }
}

async function recordFirstEvents({ engine }: Store, options: ServerOptions): Promise<void> {
  if (engine.lastId > 0) return;
  const now = new Date(engine.nextTime()).toISOString();
  const { config } = options;
  const secrets = [...config.initialAdminTokens];
  if (secrets.length === 0 && config.authType !== 'none') {
    const secret = `*:*.${randomBytes(32).toString('hex')}`;
    secrets.push(secret);
    options.announceToken(secret);
  }
  const tokens = secrets.map((secret, index) => adminTokenEvent(digestOf(secret), index + 1, now));
  await engine.record(SYSTEM, [...initialEvents(now), ...tokens]);
}

async function createHttp({ engine }: Store, { config, log }: ServerOptions): Promise<Transport> {
  const health: PlainRoute = {
    method: 'GET',
    path: '/health',
    answer: () => {
      const { writable, refusalReason } = engine.journal;
      return writable
        ? jsonReply(200, { health: 'GOOD' })
        : jsonReply(503, { health: 'BAD', reason: refusalReason });
    },
  };
  return selectTransport(config.httpEngine, {
    host: config.host,
    port: config.port,
    handle: createApi({
      engine,
      authenticator: new Authenticator({
        world: engine.world,
        open: config.authType === 'none',
        now: Date.now,
      }),
      routes: ROUTES,
      plainRoutes: [health],
      prefix: API_PREFIX,
      basePath: config.basePath,
      log,
      now: Date.now,
    }),
    refuse: transportRefusal,
    log,
  });
}

async function closeServer(
  transport: Transport,
  control: ControlServer,
  store: Store,
  lock: FolderLock,
): Promise<void> {
  transport.drain();
  await control.close();
  const deadline = performance.now() + DRAIN_MS;
  while (transport.openRequests > 0 && performance.now() < deadline) {
    await new Promise((resolve) => setTimeout(resolve, DRAIN_LOOK_MS));
  }
  await transport.close();
  await store.close();
  lock.release();
}
