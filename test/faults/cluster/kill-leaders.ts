/**
 * Kills the leader of a cluster under load, again and again: `node --import tsx test/faults/cluster/kill-leaders.ts --rounds 50`.
 * Three servers on three NATS servers, all of them processes of this machine. Writers send numbered changes, each under
 * an Idempotency-Key of its own, and repeat a request at the next node until it succeeds. At the end every number has
 * to be in the events of every node exactly once, in order.
 */
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { noNatsServer, startNats } from '../../support/replication/nats-servers.ts';
import { type ServerProcess, spawnServer, temporaryFolder } from '../../support/server.ts';

const NODES = 3;
const FLAGS = '/projects/default/features';

/** Writes that have to succeed under each leader before it is killed. */
const WRITES_PER_ROUND = 200;

/** Between two attempts of one writer; a response of 503 asks for a second. */
const RETRY_MS = 50;

export interface ClusterKillResult {
  readonly kills: number;
  readonly acknowledged: number;
  readonly repeated: number;
  /** From each kill to the next success of a write, in milliseconds, ascending. */
  readonly outagesMs: readonly number[];
}

export interface ClusterKillOptions {
  readonly rounds: number;
  readonly writers: number;
  onRound?(round: number, outageMs: number): void;
}

/** Throws when a change is lost or there twice, or the nodes differ. */
export const killLeaders = (options: ClusterKillOptions): Promise<ClusterKillResult> =>
  withCluster((cluster) => new Kills(cluster, options).run());

/** Three nodes on three NATS servers. Their folders are kept when something fails. */
export async function withCluster<T>(use: (cluster: Cluster) => Promise<T>): Promise<T> {
  const root = temporaryFolder();
  const nats = await startNats(NODES);
  const cluster = new Cluster(root, nats.urls.join(','));
  try {
    await Promise.all(Array.from({ length: NODES }, (_, at) => cluster.start(at)));
    const result = await use(cluster);
    rmSync(root, { recursive: true, force: true });
    return result;
  } finally {
    await cluster.kill();
    await nats.close();
  }
}

export class Cluster {
  readonly nodes: (ServerProcess | null)[] = Array.from({ length: NODES }, () => null);
  readonly #root: string;
  readonly #url: string;

  constructor(root: string, url: string) {
    this.#root = root;
    this.#url = url;
  }

  async start(at: number): Promise<void> {
    const env = { REPLICATION_URL: this.#url, REPLICATION_NODE: `node-${at}` };
    this.nodes[at] = await spawnServer(join(this.#root, `node-${at}`), env);
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
      await pause(RETRY_MS);
    }
  }

  async kill(): Promise<void> {
    for (const node of this.nodes) await node?.kill().catch(() => undefined);
  }
}

class Kills {
  readonly #cluster: Cluster;
  readonly #options: ClusterKillOptions;
  readonly #sent: number[];
  #acknowledged = 0;
  #repeated = 0;
  #isOver = false;
  /** Called at each success. */
  #onSuccess: () => void = () => undefined;

  constructor(cluster: Cluster, options: ClusterKillOptions) {
    this.#cluster = cluster;
    this.#options = options;
    this.#sent = Array.from({ length: options.writers }, () => 0);
  }

  async run(): Promise<ClusterKillResult> {
    const { rounds, onRound } = this.#options;
    for (const writer of this.#sent.keys()) await this.#create(writer);
    const writing = Promise.all(this.#sent.map((_, writer) => this.#write(writer)));
    const outagesMs: number[] = [];
    for (let round = 1; round <= rounds; round += 1) {
      await this.#successes(WRITES_PER_ROUND);
      const outageMs = await this.#killLeader();
      outagesMs.push(outageMs);
      onRound?.(round, outageMs);
    }
    await this.#successes(WRITES_PER_ROUND);
    this.#isOver = true;
    await writing;
    await this.#check();
    const [acknowledged, repeated] = [this.#acknowledged, this.#repeated];
    return { kills: rounds, acknowledged, repeated, outagesMs: outagesMs.sort((a, b) => a - b) };
  }

  async #killLeader(): Promise<number> {
    const at = await this.#cluster.leader();
    await this.#cluster.nodes[at]!.kill();
    const killedAt = performance.now();
    await this.#successes(1);
    const outageMs = performance.now() - killedAt;
    await this.#cluster.start(at);
    return outageMs;
  }

  /** Resolves after so many more. */
  #successes(count: number): Promise<void> {
    const target = this.#acknowledged + count;
    return new Promise((resolve) => {
      this.#onSuccess = () => {
        if (this.#acknowledged >= target) resolve();
      };
    });
  }

  async #create(writer: number): Promise<void> {
    await this.#untilDone(
      writer,
      'POST',
      FLAGS,
      { name: `flag-${writer}`, description: '0' },
      `create-${writer}`,
    );
  }

  async #write(writer: number): Promise<void> {
    while (!this.#isOver) {
      this.#sent[writer]! += 1;
      const number = this.#sent[writer]!;
      const body = { description: String(number) };
      await this.#untilDone(writer, 'PUT', `${FLAGS}/flag-${writer}`, body, `${writer}-${number}`);
      this.#acknowledged += 1;
      this.#onSuccess();
    }
  }

  /** The same request at one node after the other, until it succeeds. */
  async #untilDone(writer: number, method: string, path: string, body: object, key: string): Promise<void> {
    for (let attempt = 0; ; attempt += 1) {
      const node = this.#cluster.nodes[(writer + attempt) % NODES]!;
      const headers = { 'idempotency-key': key };
      const response = await node.call(method, path, body, { headers }).catch(() => null);
      if (response !== null && response.status < 300) return;
      assert(response === null || response.status === 503, `${method} ${path}: ${JSON.stringify(response)}`);
      this.#repeated += 1;
      await pause(RETRY_MS);
    }
  }

  async #check(): Promise<void> {
    const newest = await this.#cluster.nodes[0]!.call('GET', `${FLAGS}/flag-0`);
    assert.equal(newest.status, 200);
    const histories: string[] = [];
    for (const [at, node] of this.#cluster.nodes.entries()) {
      for (const [writer, sent] of this.#sent.entries()) {
        const numbers = await numbersOf(node!, `flag-${writer}`, sent);
        const expected = Array.from({ length: sent }, (_, index) => index + 1);
        assert.deepEqual(numbers, expected, `flag-${writer} on node ${at}: each change once, in order`);
      }
      histories.push(JSON.stringify((await node!.call('GET', '/events?limit=100')).body.events));
    }
    assert.equal(new Set(histories).size, 1, 'every node has the same events');
  }
}

/** What was written to a flag, oldest first. */
async function numbersOf(node: ServerProcess, flag: string, count: number): Promise<readonly number[]> {
  for (let attempt = 0; ; attempt += 1) {
    const numbers: number[] = [];
    for (let offset = 0, more = true; more; ) {
      const search = { limit: 100, offset, feature: flag, type: 'feature-metadata-updated' };
      const { body } = await node.call('POST', '/events/search', search);
      for (const { data } of body.events) numbers.push(Number(data.description));
      more = body.events.length === 100;
      offset = (body.events.at(-1)?.id ?? 1) - 1;
    }
    // A follower may be a moment behind.
    if (numbers.length >= count || attempt === 100) return numbers.reverse();
    await pause(RETRY_MS);
  }
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

export const percentile = (ascending: readonly number[], share: number): number =>
  ascending[Math.min(ascending.length - 1, Math.floor(ascending.length * share))] ?? 0;

async function main(): Promise<void> {
  if (noNatsServer !== null) return void process.stdout.write(`skipped: ${noNatsServer}\n`);
  const { values } = parseArgs({
    options: { rounds: { type: 'string', default: '50' }, writers: { type: 'string', default: '32' } },
  });
  const { kills, acknowledged, repeated, outagesMs } = await killLeaders({
    rounds: Number(values.rounds),
    writers: Number(values.writers),
    onRound: (round, outageMs) =>
      process.stdout.write(`kill ${round}: writes again after ${Math.round(outageMs)} ms\n`),
  });
  const [median, worst] = [percentile(outagesMs, 0.5), outagesMs.at(-1) ?? 0];
  process.stdout.write(
    `${kills} kills, ${acknowledged} changes acknowledged, none lost and none twice, ${repeated} requests repeated; writes again after ${Math.round(median)} ms (median), ${Math.round(worst)} ms (worst)\n`,
  );
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await main();
