/**
 * One node of a cluster, as the server starts it: the log that the nodes share, the store behind it, and the role of this
 * node. The client of the log is loaded only here, so a server that runs alone loads none of it.
 */
import { randomBytes } from 'node:crypto';
import { isIP } from 'node:net';
import { hostname } from 'node:os';
import { performance } from 'node:perf_hooks';
import type { NatsConnection } from '@nats-io/transport-node';
import type { Store } from '../../actors/store.ts';
import type { Broadcast, JoiningNode, Membership, SharedValue } from '../../host/addon.ts';
import { AtLeast, type ClusterAccess } from '../../http/serving/cluster.ts';
import type { HandedOn, TransportRequest } from '../../http/transport/transport.ts';
import { dataFolder } from '../../persistence/disk/data-folder.ts';
import { realFileSystem } from '../../persistence/disk/file-system.ts';
import { readJournalEnd } from '../../persistence/recovery/journal-end.ts';
import { VERSION } from '../../process/installation.ts';
import type { Log } from '../../process/log.ts';
import { ConfigError } from '../../process/settings.ts';
import { nextRound, unrefTimer } from '../../process/timers.ts';
import { adviceWithoutLog, DisagreementError } from './alignment.ts';
import type { Archivist } from './archivist.ts';
import type { ClusterConfig } from './cluster-config.ts';
import { type ClusterNode, openClusterNode } from './cluster-node.ts';
import type { Found } from './eligibility.ts';
import { type FileArchive, lazyArchive } from './file-archive.ts';
import { HOP_KEY_HEADER, LeaderClient } from './leader-client.ts';
import type { ConnectionLog } from './nats-connection.ts';
import { LAG_MS_MAX } from './node-view.ts';
import type { Replica } from './replica.ts';
import { LogAwayError, LogGoneError, type ReplicatedLog, UnsafeLogError } from './replicated-log.ts';
import { mayDecide } from './role.ts';

/** Between two attempts while the servers of the log choose who keeps it. */
const OPEN_PAUSE_MS = 500;

/** A node that takes longer to respond to a probe is not reached. */
const REACH_MS_MAX = 1_000;

/** So many answers that there is no log are believed. */
const ANSWERS_WITHOUT_LOG = 3;

export interface ClusterOptions extends JoiningNode {
  readonly config: ClusterConfig;
  readonly log: Log;
  /** Before all paths of the interface, on all nodes. */
  readonly basePath: string;
  /** For tests: in place of the log that the configuration names, and its archive. */
  readonly replicatedLog?: ReplicatedLog;
  readonly replicatedArchive?: FileArchive;
}

/** The server's hold on its node. */
export class OpenCluster implements Membership {
  readonly store: Store;
  readonly replica: Replica;
  readonly access: ClusterAccess;
  /** Null where the log keeps everything. */
  readonly archivist: Archivist | null;
  /** On which the nodes share what applications report. */
  readonly broadcast: Broadcast | null;
  readonly sharedValue: Membership['sharedValue'];
  readonly #log: ReplicatedLog;
  readonly #leader: LeaderClient;

  constructor(
    { store, replica, archivist }: ClusterNode<Store>,
    { log, usage, sharedValue }: Shared,
    names: { readonly node: string; readonly hopKey: string },
  ) {
    this.store = store;
    this.replica = replica;
    this.archivist = archivist;
    this.broadcast = usage;
    this.sharedValue = sharedValue;
    this.#log = log;
    const leader = new LeaderClient({ ...names, leaderAddress: () => replica.otherLeader?.address ?? null });
    this.#leader = leader;
    this.access = {
      isLeading: () => replica.isLeading,
      forward: (request, signal) => leader.forward(request, signal),
      atLeast: new AtLeast(store.engine, unrefTimer),
    };
  }

  /** Milliseconds for which what this node shows may be old, where it should not be asked; null otherwise. */
  get ageMs(): number | null {
    const { lagMs } = this.replica;
    return lagMs > LAG_MS_MAX ? lagMs : null;
  }

  /** The caller of a request that a recently seen node forwards; null for every other request. */
  handedOnFor(request: Pick<TransportRequest, 'header'>): HandedOn | null {
    const key = request.header(HOP_KEY_HEADER);
    if (key === '' || !this.replica.knowsHop(key)) return null;
    const address = request.header('x-forwarded-for');
    return isIP(address) === 0 ? null : { address, host: request.header('x-forwarded-host') };
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
  const { config, folder, port } = options;
  const notes = notesOf(options);
  const shared = await sharedOf(options, notes).catch(async (error: unknown) => {
    throw error instanceof LogGoneError ? await withoutLog(options, error) : error;
  });
  const { log, archive, warnings } = shared;
  const hopKey = randomBytes(16).toString('hex');
  try {
    const node = await openClusterNode<Store>({
      ...{ fs: realFileSystem, folder, log, archive, notes, warnings },
      archiveMarginBytes: config.logBytes,
      hasRetention: options.hasRetention,
      cluster: config.cluster,
      version: VERSION,
      identity: {
        node: config.node,
        run: randomBytes(4).toString('hex'),
        address: config.address ?? `http://${hostname()}:${port}`,
      },
      hopKey,
      reach: (node) => reach(node, options.basePath),
      clock: {
        monotonic: () => performance.now(),
        wall: Date.now,
        timer: unrefTimer,
        random: Math.random,
        yieldToEventLoop: nextRound,
      },
      open: (hooks) => options.open(hooks),
      onLeading: (store) => options.onLeading(store),
      stop: (error) => options.stop(error),
    });
    await node.replica.whenServing();
    return new OpenCluster(node, shared, { node: config.node, hopKey });
  } catch (error) {
    await log.close();
    throw error;
  }
}

export interface Shared {
  readonly log: ReplicatedLog;
  /** Null where the log keeps everything. */
  readonly archive: FileArchive | null;
  readonly usage: Broadcast | null;
  readonly sharedValue: ((name: string) => SharedValue) | null;
  /** Sentences that name what an operator should look at, as of the start. */
  readonly warnings: readonly string[];
}

/** The log of the server; what is warned of during a start holds it up. */
function notesOf({ log, onWait }: ClusterOptions): ConnectionLog {
  return {
    info: (details, message) => log.info(details, message),
    warn: (details, message) => {
      onWait(`${message}.`);
      log.warn(details, message);
    },
  };
}

function sharedOf(
  { config, replicatedLog, replicatedArchive }: ClusterOptions,
  notes: ConnectionLog,
): Promise<Shared> {
  if (replicatedLog === undefined) return openLog(config, notes, { make: false });
  const archive = replicatedArchive ?? null;
  return Promise.resolve({ log: replicatedLog, archive, usage: null, sharedValue: null, warnings: [] });
}

/** Servers that were just started choose a leader within ten seconds or so, and know before that of no bucket. */
const ARCHIVE_WAIT_MS = 15_000;

/**
 * The archive alone, regardless of the log. Null where there is none, and none is made. Throws `LogAwayError` where no server tells
 * within the time whether there is one.
 */
export async function openArchive(
  config: ClusterConfig,
  log: ConnectionLog,
  waitMs = ARCHIVE_WAIT_MS,
): Promise<{ readonly archive: FileArchive | null; close(): Promise<void> }> {
  const { findNatsArchive } = await import('./nats-archive.ts');
  const endMs = performance.now() + waitMs;
  const isOver = (): boolean => performance.now() > endMs;
  const connection = await connected(config, log, isOver);
  const close = (): Promise<void> => connection.close();
  try {
    const find = (): Promise<FileArchive> => findNatsArchive({ connection, name: config.cluster });
    const archive = await untilReady(find, log, isOver).catch((error: unknown) =>
      error instanceof LogGoneError ? null : Promise.reject(error),
    );
    return { archive, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/**
 * Waits until the log can be reached. Throws `UnsafeLogError` where it would not keep what it takes, `ConfigError` where its
 * servers refuse this one, and `LogGoneError` where there is none. `make`: makes it there.
 */
export async function openLog(
  config: ClusterConfig,
  log: ConnectionLog,
  { make, monitorPort }: { readonly make: boolean; readonly monitorPort?: number },
): Promise<Shared> {
  const { openNatsArchive } = await import('./nats-archive.ts');
  const { NatsSharedValues } = await import('./nats-shared-value.ts');
  const { NatsUsage } = await import('./nats-usage.ts');
  const { makeNatsStream, openNatsLog, replicasFor } = await import('./nats-log.ts');
  const { cluster, durability, logBytes } = config;
  const connection = await connected(config, log);
  const options = { connection, name: cluster, durability, logBytes };
  const replicas = replicasFor(durability);
  const archive = lazyArchive(() => openNatsArchive({ connection, name: cluster, replicas }));
  try {
    const warnings =
      durability === 'memory' ? [] : await natsWarnings(config, connection, { make, monitorPort });
    for (const warning of warnings) {
      // Operators, of "A NATS server is of release …; upgrade it to …": what it says
      // Operators, of "The NATS server … acknowledges records that it has not written to its disk, …": what it says
      // Operators, of "Whether the NATS server … writes to its disk … cannot be seen …": what it says
      log.warn({}, warning);
    }
    if (make) await untilReady(() => makeNatsStream(options), log);
    const opened = await untilReady(() => openNatsLog(options), log);
    const usage = new NatsUsage({ connection, name: cluster, replicas });
    const values = new NatsSharedValues({ connection, name: cluster, replicas });
    return {
      log: opened,
      archive: config.archive === 'on' ? archive : null,
      ...{ usage, sharedValue: (name) => values.value(name), warnings },
    };
  } catch (error) {
    await connection.close();
    throw error;
  }
}

/** Throws where a cluster would begin on servers that do not sync. */
async function natsWarnings(
  { servers }: ClusterConfig,
  { info }: NatsConnection,
  { make, monitorPort }: { readonly make: boolean; readonly monitorPort: number | undefined },
): Promise<readonly string[]> {
  const { readSync, releaseWarning, syncOffText, syncUnseenText } = await import('./nats-release.ts');
  const { off, unseen } = await readSync(servers, monitorPort);
  if (make && off.length > 0)
    throw new UnsafeLogError(`${syncOffText(off)}, or set REPLICATION_DURABILITY=memory to accept the loss.`);
  const warnings = [
    info === undefined ? null : releaseWarning(info.version),
    off.length > 0 ? `${syncOffText(off)}.` : null,
    make && unseen.length > 0 ? `${syncUnseenText(unseen)}.` : null,
  ];
  return warnings.filter((warning) => warning !== null);
}

async function connected(
  config: ClusterConfig,
  log: ConnectionLog,
  isOver = (): boolean => false,
): Promise<NatsConnection> {
  const { connectToNats } = await import('./nats-connection.ts');
  const { servers, node: name, user, credentialsFile } = config;
  const tls = servers.some((server) => server.startsWith('tls:')) ? config.tls : null;
  // It waits for servers that do not respond, so any other rejection is a setting that they refuse.
  return connectToNats({ servers, name, user, credentialsFile, tls, log, isOver }).catch((cause: Error) => {
    if (cause instanceof LogAwayError) throw cause;
    throw new ConfigError(
      `The servers of REPLICATION_URL refuse the connection: ${cause.message}. Look at its user and password, REPLICATION_CREDENTIALS, and the files of REPLICATION_TLS_CA, _CERT and _KEY.`,
    );
  });
}

/** Tries again while the servers are not ready. One answer that there is no log may come from a server that has just started. */
async function untilReady<T>(
  open: () => Promise<T>,
  log: ConnectionLog,
  isOver = (): boolean => false,
): Promise<T> {
  let said = '';
  for (let answersWithout = 0; ; ) {
    try {
      return await open();
    } catch (error) {
      const isGone = error instanceof LogGoneError;
      if (isGone) answersWithout += 1;
      if (error instanceof UnsafeLogError || answersWithout === ANSWERS_WITHOUT_LOG) throw error;
      const message = isGone ? said : (error as Error).message;
      if (!isGone && isOver())
        throw new LogAwayError(`The NATS servers do not respond, or have no leader yet (${message})`);
      // Operators: nothing, unless it persists: look at the NATS servers
      if (message !== said) log.warn({}, `The replicated log is not ready (${message}); trying again`);
      said = message;
      await new Promise((resolve) => setTimeout(resolve, OPEN_PAUSE_MS));
    }
  }
}

/** The error of a node whose cluster has no log. */
async function withoutLog({ folder, config }: ClusterOptions, cause: LogGoneError): Promise<Error> {
  const end = await readJournalEnd(realFileSystem, dataFolder(folder));
  const { id } = end.places.at(-1) ?? end.places[0];
  const text = `${cause.message} ${adviceWithoutLog(id)}`;
  return id > 0
    ? new DisagreementError(text)
    : new ConfigError(`REPLICATION_CLUSTER is "${config.cluster}". ${text}`);
}

/**
 * Codes of a connection that was not accepted: refused by the machine, or by a proxy without a process behind it. A process that stands
 * still takes connections all the same, because its kernel does.
 */
const NOBODY_LISTENS: readonly (string | undefined)[] = ['ECONNREFUSED', 'ECONNRESET', 'UND_ERR_SOCKET'];

export async function reach(
  { node, address }: { readonly node: string; readonly address: string },
  basePath: string,
): Promise<Found> {
  try {
    const response = await fetch(`${address}${basePath}/health`, {
      signal: AbortSignal.timeout(REACH_MS_MAX),
    });
    const { cluster } = (await response.json()) as { readonly cluster?: { node?: string; role?: string } };
    // A wrong address may lead to another node. One that starts does not say yet who it is.
    if ((cluster?.node ?? node) !== node) return 'nothing';
    return mayDecide(cluster?.role) ? 'leads' : 'follows';
  } catch (error) {
    const { code } = ((error as Error).cause ?? {}) as { readonly code?: string };
    return NOBODY_LISTENS.includes(code) ? 'refused' : 'nothing';
  }
}
