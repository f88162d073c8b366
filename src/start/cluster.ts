/**
 * One node of a cluster, as the server starts it: the log that the nodes share, the store behind it, and the role of this
 * node. The client of the log is loaded only here, so a server that runs alone loads none of it.
 */
import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { performance } from 'node:perf_hooks';
import type { Store } from '../actors/store.ts';
import type { Archivist } from '../addons/replication/archivist.ts';
import { type ClusterNode, openClusterNode, type StoreHooks } from '../addons/replication/cluster-node.ts';
import { type FileArchive, lazyArchive } from '../addons/replication/file-archive.ts';
import type { ConnectionLog } from '../addons/replication/nats-connection.ts';
import type { Replica } from '../addons/replication/replica.ts';
import { type ReplicatedLog, UnsafeLogError } from '../addons/replication/replicated-log.ts';
import { AtLeast, type ClusterAccess } from '../http/serving/cluster.ts';
import { LeaderClient } from '../http/serving/leader-client.ts';
import { realFileSystem } from '../persistence/disk/file-system.ts';
import type { Log } from '../process/log.ts';
import { ConfigError } from '../process/settings.ts';
import type { ClusterConfig } from './cluster-config.ts';

/** Between two attempts while the servers of the log choose who keeps it. */
const OPEN_PAUSE_MS = 1_000;

export interface ClusterOptions {
  readonly config: ClusterConfig;
  readonly folder: string;
  /** The port on which this server listens. */
  readonly port: number;
  readonly log: Log;
  /** Whether retention removes old events on the nodes. */
  readonly hasRetention: boolean;
  open(hooks: StoreHooks): Promise<Store>;
  /** Called each time that this node has begun to lead. */
  onLeading(store: Store): Promise<void>;
  stop(error: Error): void;
  /** For tests: in place of the log that the configuration names, and its archive. */
  readonly replicatedLog?: ReplicatedLog;
  readonly replicatedArchive?: FileArchive;
}

/** The server's hold on its node. */
export class OpenCluster {
  readonly store: Store;
  readonly replica: Replica;
  readonly access: ClusterAccess;
  /** Null where the log keeps everything. */
  readonly archivist: Archivist | null;
  readonly #log: ReplicatedLog;
  readonly #leader: LeaderClient;

  constructor({ store, replica, archivist }: ClusterNode<Store>, log: ReplicatedLog, node: string) {
    this.store = store;
    this.replica = replica;
    this.archivist = archivist;
    this.#log = log;
    const leader = new LeaderClient({ node, leaderAddress: () => replica.otherLeader?.address ?? null });
    this.#leader = leader;
    this.access = {
      isLeading: () => replica.isLeading,
      forward: (request, signal) => leader.forward(request, signal),
      atLeast: new AtLeast(store.engine, timer),
    };
  }

  /** Lets another node lead, if that is possible within the time: a log that does not respond must not hold up a stop. */
  async handOver(timeoutMs: number): Promise<void> {
    const elapsed = new Promise<void>((resolve) => setTimeout(resolve, timeoutMs).unref());
    await Promise.race([this.replica.handOver(), elapsed]);
  }

  /** Before the store is closed: nothing is followed any more. */
  stopFollowing(): Promise<void> {
    this.archivist?.close();
    return this.replica.close();
  }

  /** After the store was closed. */
  async close(): Promise<void> {
    this.#leader.close();
    await this.#log.close();
  }
}

/** Resolves when this node follows or leads, and has something to show. */
export async function joinCluster(options: ClusterOptions): Promise<OpenCluster> {
  const { config, folder, port, log: notes } = options;
  const { log, archive } = await sharedOf(options);
  try {
    const node = await openClusterNode<Store>({
      ...{ fs: realFileSystem, folder, log, archive, notes },
      archiveMarginBytes: config.logBytes,
      hasRetention: options.hasRetention,
      cluster: config.cluster,
      identity: {
        node: config.node,
        run: randomBytes(4).toString('hex'),
        address: config.address ?? `http://${hostname()}:${port}`,
      },
      clock: { monotonic: () => performance.now(), timer, random: Math.random, yieldToEventLoop },
      open: (hooks) => options.open(hooks),
      onLeading: (store) => options.onLeading(store),
      stop: (error) => options.stop(error),
    });
    await node.replica.whenServing();
    return new OpenCluster(node, log, config.node);
  } catch (error) {
    await log.close();
    throw error;
  }
}

/**
 * Waits until the log can be reached. Throws `UnsafeLogError` where it would not keep what it takes, and `ConfigError` where
 * its servers refuse this one.
 */
export async function openLog(config: ClusterConfig, log: ConnectionLog): Promise<ReplicatedLog> {
  return (await openShared(config, log)).log;
}

interface Shared {
  readonly log: ReplicatedLog;
  /** Null where the log keeps everything. */
  readonly archive: FileArchive | null;
}

function sharedOf({ config, log: notes, replicatedLog, replicatedArchive }: ClusterOptions): Promise<Shared> {
  if (replicatedLog === undefined) return openShared(config, notes);
  return Promise.resolve({ log: replicatedLog, archive: replicatedArchive ?? null });
}

async function openShared(config: ClusterConfig, log: ConnectionLog): Promise<Shared> {
  const { connectToNats } = await import('../addons/replication/nats-connection.ts');
  const { openNatsArchive } = await import('../addons/replication/nats-archive.ts');
  const { openNatsLog, replicasFor } = await import('../addons/replication/nats-log.ts');
  const { servers, node: name, user, credentialsFile, cluster, durability } = config;
  const tls = servers.some((server) => server.startsWith('tls:')) ? config.tls : null;
  // It waits for servers that do not respond, so whatever it rejects with is a setting that they refuse.
  const connection = await connectToNats({ servers, name, user, credentialsFile, tls, log }).catch(
    (cause: Error) => {
      throw new ConfigError(
        `The servers of REPLICATION_URL refuse the connection: ${cause.message}. Look at its user and password, REPLICATION_CREDENTIALS, and the files of REPLICATION_TLS_CA, _CERT and _KEY.`,
      );
    },
  );
  for (;;) {
    try {
      const opened = await openNatsLog({ connection, name: cluster, durability });
      const replicas = replicasFor(durability);
      const archive = lazyArchive(() => openNatsArchive({ connection, name: cluster, replicas }));
      return { log: opened, archive: config.archive === 'on' ? archive : null };
    } catch (error) {
      if (error instanceof UnsafeLogError) {
        await connection.close();
        throw error;
      }
      // Operators: nothing, unless it repeats: see [fail-over](docs/cluster.md#fail-over)
      log.warn({ err: error }, 'The replicated log is not ready yet; trying again');
      await new Promise((resolve) => setTimeout(resolve, OPEN_PAUSE_MS));
    }
  }
}

function timer(delayMs: number, run: () => void): () => void {
  const timeout = setTimeout(run, delayMs).unref();
  return () => clearTimeout(timeout);
}

const yieldToEventLoop = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
