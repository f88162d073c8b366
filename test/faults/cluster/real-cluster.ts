/** Three servers on three NATS servers, all of them processes of this machine, each of which can be killed, paused or cut off. */
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { askServer } from '../../../src/control/control-client.ts';
import { EXIT } from '../../../src/exit-codes.ts';
import { type NatsCluster, startNats } from '../../support/replication/nats-servers.ts';
import { type ServerProcess, spawnServer, temporaryFolder } from '../../support/server.ts';
import { LogProxy } from './log-proxy.ts';

export const NODES = 3;

const LOOK_MS = 50;

export interface ClusterSettings {
  readonly env?: Readonly<Record<string, string>>;
}

/** Their folders are kept when something fails. */
export async function withCluster<T>(
  use: (cluster: Cluster) => Promise<T>,
  { env = {} }: ClusterSettings = {},
): Promise<T> {
  const root = temporaryFolder();
  const nats = await startNats(NODES);
  const cluster = new Cluster(root, nats, env);
  try {
    await Promise.all(Array.from({ length: NODES }, (_, at) => cluster.start(at)));
    const result = await use(cluster);
    rmSync(root, { recursive: true, force: true });
    return result;
  } finally {
    await cluster.close();
    await nats.close();
  }
}

export class Cluster {
  readonly nodes: (ServerProcess | null)[] = Array.from({ length: NODES }, () => null);
  readonly nats: NatsCluster;
  readonly #root: string;
  readonly #env: Readonly<Record<string, string>>;
  readonly #proxies: (readonly LogProxy[] | null)[] = Array.from({ length: NODES }, () => null);
  readonly #ports: number[] = [];

  constructor(root: string, nats: NatsCluster, env: Readonly<Record<string, string>>) {
    this.#root = root;
    this.nats = nats;
    this.#env = env;
  }

  async start(at: number): Promise<void> {
    this.#proxies[at] ??= await Promise.all(this.nats.urls.map((url) => LogProxy.to(url)));
    this.#ports[at] ??= await freePort();
    const port = String(this.#ports[at]);
    this.nodes[at] = await spawnServer(this.#folder(at), {
      REPLICATION_URL: this.#proxies[at].map(({ url }) => url).join(','),
      REPLICATION_NODE: `node-${at}`,
      REPLICATION_ADDRESS: `http://127.0.0.1:${port}`,
      PORT: port,
      ...this.#env,
    });
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
    for (const proxy of this.#proxies[at] ?? []) proxy.cut();
  }

  heal(at: number): void {
    for (const proxy of this.#proxies[at] ?? []) proxy.heal();
  }

  /** The last event that a leader has had the log forget. */
  async forgottenId(at: number): Promise<number> {
    return (await askServer(this.#folder(at), 'status'))?.archive?.forgottenId ?? 0;
  }

  /** Takes away the folder of a node that does not run. */
  wipe(at: number): void {
    rmSync(this.#folder(at), { recursive: true, force: true });
  }

  #folder(at: number): string {
    return join(this.#root, `node-${at}`);
  }

  /** The place of the leader among the nodes, of which one may not respond. */
  async leader(except?: number): Promise<number> {
    for (;;) {
      for (const [at, node] of this.nodes.entries()) {
        if (at === except) continue;
        const health = await fetch(`${node?.origin}/health`).then(
          (response) => response.json() as Promise<{ cluster: { role: string } }>,
          () => null,
        );
        if (health?.cluster.role === 'leading') return at;
      }
      await pause(LOOK_MS);
    }
  }

  async close(): Promise<void> {
    for (const node of this.nodes) await node?.kill().catch(() => undefined);
    for (const proxy of this.#proxies.flat()) proxy?.close();
  }
}

async function freePort(): Promise<number> {
  const holder = createServer();
  await new Promise<void>((resolve) => holder.listen(0, '127.0.0.1', resolve));
  const { port } = holder.address() as { port: number };
  await new Promise((resolve) => holder.close(resolve));
  return port;
}

export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
