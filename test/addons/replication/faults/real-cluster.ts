/** Three servers on three NATS servers, all of them processes of this machine, each of which can be killed, paused or cut off. */

import assert from 'node:assert/strict';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import type { ClusterStatus } from '../../../../src/addons/replication/node-parts.ts';
import { askServer } from '../../../../src/control/control-client.ts';
import { EXIT } from '../../../../src/process/exit-codes.ts';
import { LOAD_PROBE, type ProbeReading } from '../../../faults/server-probe.ts';
import { freePort } from '../../../support/free-port.ts';
import { type ServerProcess, spawnServer, temporaryFolder } from '../../../support/server.ts';
import { initCluster, type NatsCluster, startNats } from '../nats-servers.ts';
import { LinkProxy } from './link-proxy.ts';

export const NODES = 3;

const LOOK_MS = 50;

export interface ClusterSettings {
  readonly env?: Readonly<Record<string, string>>;
  /** The folder of the source that the nodes run at first; this checkout when absent. */
  readonly checkout?: string | undefined;
  /** Whether NATS servers can be cut off from each other. */
  readonly hasRouteLinks?: boolean;
}

/** Their folders are kept when something fails. */
export async function withCluster<T>(
  use: (cluster: Cluster) => Promise<T>,
  { env = {}, checkout, hasRouteLinks = false }: ClusterSettings = {},
): Promise<T> {
  const root = temporaryFolder();
  const routes: RouteLink[] = [];
  const nats = await startNats(
    NODES,
    [],
    !hasRouteLinks
      ? undefined
      : async (from, to, port) => {
          const link = await LinkProxy.to('127.0.0.1', port);
          routes.push({ from, to, link });
          return link.address;
        },
  );
  await initCluster(nats.urls);
  const cluster = new Cluster(root, nats, env, routes);
  try {
    await Promise.all(Array.from({ length: NODES }, (_, at) => cluster.start(at, checkout)));
    const result = await use(cluster);
    rmSync(root, { recursive: true, force: true });
    return result;
  } finally {
    await cluster.close();
    await nats.close();
  }
}

interface RouteLink {
  readonly from: number;
  readonly to: number;
  readonly link: LinkProxy;
}

export class Cluster {
  readonly nodes: (ServerProcess | null)[] = Array.from({ length: NODES }, () => null);
  readonly nats: NatsCluster;
  readonly #root: string;
  readonly #env: Readonly<Record<string, string>>;
  /** Between each node and the servers of the log. */
  readonly #logLinks: (readonly LinkProxy[] | null)[] = Array.from({ length: NODES }, () => null);
  /** Between each node and the others, which forward writes to it when it leads. */
  readonly #nodeLinks: (LinkProxy | null)[] = Array.from({ length: NODES }, () => null);
  readonly #ports: number[] = [];
  /** The source that each node runs. */
  readonly #checkouts: (string | undefined)[] = [];

  /** Between the NATS servers. */
  readonly #routes: readonly RouteLink[];

  constructor(
    root: string,
    nats: NatsCluster,
    env: Readonly<Record<string, string>>,
    routes: readonly RouteLink[] = [],
  ) {
    this.#routes = routes;
    this.#root = root;
    this.nats = nats;
    this.#env = env;
  }

  /** `checkout`: the folder of the source to run; that of the node's last start when absent. */
  async start(at: number, checkout = this.#checkouts[at]): Promise<void> {
    this.#checkouts[at] = checkout;
    this.#logLinks[at] ??= await Promise.all(
      this.nats.urls.map((url) => LinkProxy.to('127.0.0.1', Number(new URL(url).port))),
    );
    this.#ports[at] ??= await freePort();
    this.#nodeLinks[at] ??= await LinkProxy.to('127.0.0.1', this.#ports[at]);
    const env = {
      REPLICATION_URL: this.#logLinks[at].map(({ address }) => `nats://${address}`).join(','),
      REPLICATION_CLUSTER: 'test',
      REPLICATION_NODE: `node-${at}`,
      REPLICATION_ADDRESS: `http://${this.#nodeLinks[at].address}`,
      PORT: String(this.#ports[at]),
      // The first as `npm start` does.
      NODE_OPTIONS: `--max-semi-space-size=16 ${LOAD_PROBE}`,
      PROBE_FILE: this.#probeFile(at),
      ...this.#env,
    };
    this.nodes[at] = await spawnServer(this.folder(at), env, checkout);
  }

  /** Starts those again that have ended because another one leads, as a supervisor does. */
  async startDeposed(): Promise<void> {
    for (const [at, node] of this.nodes.entries()) {
      const { exitCode } = node!.child;
      assert(exitCode === null || exitCode === EXIT.deposed, `node ${at} ended with ${exitCode}`);
      if (exitCode !== null) await this.start(at);
    }
  }

  /** Cuts a node off from the log, and the log off from it. */
  cut(at: number): void {
    for (const link of this.#logLinks[at] ?? []) link.cut();
  }

  heal(at: number): void {
    for (const link of this.#logLinks[at] ?? []) link.heal();
  }

  /** Cuts a NATS server off from the others and from all nodes. */
  cutServer(server: number): void {
    for (const link of this.#linksOf(server)) link.cut();
  }

  healServer(server: number): void {
    for (const link of this.#linksOf(server)) link.heal();
  }

  #linksOf(server: number): readonly LinkProxy[] {
    const routes = this.#routes.filter(({ from, to }) => from === server || to === server);
    return [...routes.map(({ link }) => link), ...this.#logLinks.flatMap((links) => links?.[server] ?? [])];
  }

  /** The place of the NATS server that leads the log. */
  async logLeader(): Promise<number> {
    const connection = await connect({ servers: [...this.nats.urls] });
    try {
      const { streams } = await jetstreamManager(connection);
      const { cluster } = await streams.info('FLAGSTAFF_test');
      return Number(cluster?.leader?.replace('server-', ''));
    } finally {
      await connection.close();
    }
  }

  /** Cuts the other nodes off from a node, so that they cannot forward writes to it. Clients reach it. */
  cutFromNodes(at: number): void {
    this.#nodeLinks[at]?.cut();
  }

  healFromNodes(at: number): void {
    this.#nodeLinks[at]?.heal();
  }

  /** The last event that a leader has had the log forget. */
  async forgottenId(at: number): Promise<number> {
    return ((await askServer(this.folder(at), 'cluster')) as ClusterStatus | null)?.archive?.forgottenId ?? 0;
  }

  /** Takes away the folder of a node that does not run. */
  wipe(at: number): void {
    rmSync(this.folder(at), { recursive: true, force: true });
  }

  /** The most processor time that one turn of a node's event loop has taken, but for the first seconds; null before they are over. */
  loopBusyMostMs(at: number): number | null {
    const file = this.#probeFile(at);
    return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as ProbeReading).loopBusyMostMs : null;
  }

  #probeFile(at: number): string {
    return join(this.#root, `probe-${at}.json`);
  }

  folder(at: number): string {
    return join(this.#root, `node-${at}`);
  }

  /** The place of the leader among the nodes, of which one may not respond. */
  async leader(except?: number): Promise<number> {
    for (;;) {
      for (const [at, node] of this.nodes.entries()) {
        if (at === except) continue;
        const health = await fetch(`${node?.origin}/health`).then(
          (response) => response.json() as Promise<{ cluster?: { role: string } }>,
          () => null,
        );
        // One that is starting says nothing of its cluster yet.
        if (health?.cluster?.role === 'leading') return at;
      }
      await pause(LOOK_MS);
    }
  }

  async close(): Promise<void> {
    for (const node of this.nodes) await node?.kill().catch(() => undefined);
    const routes = this.#routes.map(({ link }) => link);
    for (const link of [...this.#logLinks.flat(), ...this.#nodeLinks, ...routes]) link?.close();
  }
}

export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
