/**
 * Machines and links that are away for long, on real servers under writes and with reports of an application:
 *
 *   node --import tsx test/addons/replication/faults/lost-machines.ts --only log-leader --rounds 15
 *
 * - `log-leader`: the leader and the NATS server that leads the log are killed together, and both are away for a minute.
 * - `machine`: the same with a NATS server that is chosen by chance.
 * - `silent-log`: a follower is cut off from the log, and hears nothing of it.
 * - `flipped-bit`: a NATS server is killed, and starts again with one bit of its copy of the log flipped.
 * - `cut-nats`: a NATS server is cut off from the others and from the nodes for 35 seconds.
 *
 * Nodes that end with 77 are started again at once, as by a supervisor. At the end every acknowledged change is on every node once.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { AGE_HEADER } from '../../../../src/http/serving/cluster.ts';
import { EXIT } from '../../../../src/process/exit-codes.ts';
import { noNatsServer } from '../nats-servers.ts';
import { type Cluster, NODES, pause, withCluster } from './real-cluster.ts';
import { Writers } from './writers.ts';

const AWAY_MS = 60_000;
const CUT_MS = 35_000;
const SILENT_MS = 12_000;

/** Between two looks at a node. */
const LOOK_MS = 50;

/** Writes that have to succeed before and after each round. */
const WRITES_BETWEEN = 50;

const WRITERS = 4;
const TOKEN = '*:development.lost-machines';
const FLAG = 'flag-0';

/** Milliseconds, by what was measured. */
export type Figures = Readonly<Record<string, number>>;

type Round = (cluster: Cluster, writers: Writers, awayMs: number) => Promise<Figures>;

const anyOf = (count: number): number => Math.floor(Math.random() * count);

async function loseMachine(
  cluster: Cluster,
  writers: Writers,
  server: number,
  awayMs: number,
): Promise<Figures> {
  const at = await cluster.leader();
  const nats = cluster.nats.servers[server]!;
  const living = [...cluster.nodes.keys()].filter((node) => node !== at);
  await Promise.all([cluster.nodes[at]!.kill(), nats.kill()]);
  const killedAt = performance.now();
  const written = writers.successes(1).then(() => performance.now() - killedAt);
  const counted = report(cluster, living).then(() => performance.now() - killedAt);
  const figures = { writes: await written, reports: await counted };
  await pause(awayMs - (performance.now() - killedAt));
  await nats.restart();
  await cluster.start(at);
  return figures;
}

export const ROUNDS: Readonly<Record<string, Round>> = {
  'log-leader': async (cluster, writers, awayMs) =>
    loseMachine(cluster, writers, await cluster.logLeader(), awayMs),
  machine: (cluster, writers, awayMs) => loseMachine(cluster, writers, anyOf(NODES), awayMs),

  async 'silent-log'(cluster) {
    const at = ((await cluster.leader()) + 1 + anyOf(NODES - 1)) % NODES;
    const { origin } = cluster.nodes[at]!;
    await until(async () => (await fetch(`${origin}/ready`)).ok);
    cluster.cut(at);
    const cutAt = performance.now();
    await until(async () => !(await fetch(`${origin}/ready`)).ok);
    const unready = performance.now() - cutAt;
    const { warning } = (await (await fetch(`${origin}/health`)).json()) as { warning?: string };
    assert.match(warning ?? '', /The replicated log does not answer/);
    await pause(SILENT_MS - (performance.now() - cutAt));
    const headers = { authorization: TOKEN };
    const { status, headers: said } = await fetch(`${origin}/api/client/features`, { headers });
    assert.equal(status, 200);
    assert(Number(said.get(AGE_HEADER)) >= 10_000, `an answer that is 12 s old says ${said.get(AGE_HEADER)}`);
    cluster.heal(at);
    const healedAt = performance.now();
    await until(async () => (await fetch(`${origin}/ready`)).ok);
    return { unready, readyAgain: performance.now() - healedAt };
  },

  async 'flipped-bit'({ nats }, writers) {
    const server = nats.servers[anyOf(NODES)]!;
    await server.kill();
    await writers.successes(WRITES_BETWEEN);
    flipBit(join(server.folder, 'jetstream/$G/streams/FLAGSTAFF_test/msgs'));
    writers.beginGap();
    await server.restart();
    await pause(SILENT_MS);
    await writers.successes(WRITES_BETWEEN);
    return { gap: writers.longestGapMs };
  },

  async 'cut-nats'(cluster, writers) {
    const server = anyOf(NODES);
    cluster.cutServer(server);
    writers.beginGap();
    await pause(CUT_MS);
    cluster.healServer(server);
    await writers.successes(WRITES_BETWEEN);
    return { gap: writers.longestGapMs };
  },
};

/** Changes one of the files of messages. */
function flipBit(folder: string): void {
  const files = readdirSync(folder).filter((name) => name.endsWith('.blk'));
  const file = join(folder, files[anyOf(files.length)]!);
  const bytes = readFileSync(file);
  bytes[anyOf(bytes.length)]! ^= 1 << anyOf(8);
  writeFileSync(file, bytes);
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await pause(LOOK_MS);
}

/** Reports one evaluation to each of these nodes, and waits until each of them has counted all. */
async function report(cluster: Cluster, nodes: readonly number[]): Promise<void> {
  const before = await Promise.all(nodes.map((at) => countedBy(cluster, at)));
  const target = Math.max(...before) + nodes.length;
  for (const at of nodes) {
    const now = new Date().toISOString();
    const bucket = { start: now, stop: now, toggles: { [FLAG]: { yes: 1, no: 0, variants: {} } } };
    const response = await fetch(`${cluster.nodes[at]!.origin}/api/client/metrics`, {
      method: 'POST',
      headers: { authorization: TOKEN, 'content-type': 'application/json' },
      body: JSON.stringify({ appName: 'reporter', instanceId: `i-${at}`, bucket }),
    });
    assert.equal(response.status, 202);
  }
  for (const at of nodes) await until(async () => (await countedBy(cluster, at)) >= target);
}

async function countedBy(cluster: Cluster, at: number): Promise<number> {
  const { body } = await cluster.nodes[at]!.call('GET', `/client-metrics/features/${FLAG}`);
  return (body.lastHourUsage as { yes: number }[]).reduce((sum, { yes }) => sum + yes, 0);
}

interface LossOptions {
  /** Milliseconds for which a machine is away. */
  readonly awayMs?: number;
  onRound?(figures: Figures): void;
}

export interface LossResult {
  readonly acknowledged: number;
  /** How often a node ended, by its exit code. */
  readonly ends: Readonly<Record<number, number>>;
  readonly figures: readonly Figures[];
}

/** Throws when a change is lost or there twice, or the nodes differ. */
export function loseMachines(
  name: string,
  rounds: number,
  { awayMs = AWAY_MS, onRound = () => undefined }: LossOptions = {},
): Promise<LossResult> {
  const round = ROUNDS[name];
  assert(round !== undefined, `the rounds are ${Object.keys(ROUNDS).join(', ')}`);
  const run = async (cluster: Cluster): Promise<LossResult> => {
    const writers = new Writers(cluster, { writers: WRITERS });
    await writers.start();
    const supervisor = new Supervisor(cluster);
    const figures: Figures[] = [];
    for (let at = 0; at < rounds; at += 1) {
      await writers.successes(WRITES_BETWEEN);
      figures.push(await round(cluster, writers, awayMs));
      onRound(figures.at(-1)!);
      await writers.successes(WRITES_BETWEEN);
    }
    await supervisor.stop();
    await writers.finish();
    return { acknowledged: writers.acknowledged, ends: supervisor.ends, figures };
  };
  return withCluster(run, { env: { INIT_CLIENT_API_TOKENS: TOKEN }, hasRouteLinks: name === 'cut-nats' });
}

/** Starts nodes again that have ended by themselves. */
class Supervisor {
  readonly ends: Record<number, number> = {};
  readonly #cluster: Cluster;
  readonly #running: Promise<void>;
  #isOver = false;

  constructor(cluster: Cluster) {
    this.#cluster = cluster;
    this.#running = this.#run();
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#running;
  }

  async #run(): Promise<void> {
    while (!this.#isOver) {
      for (const [at, node] of this.#cluster.nodes.entries()) {
        const code = node?.child.exitCode ?? null;
        // One that was killed has none.
        if (code === null) continue;
        this.ends[code] = (this.ends[code] ?? 0) + 1;
        if (code !== EXIT.deposed) process.stderr.write(`node ${at} ended with ${code}: ${node!.output()}\n`);
        await this.#cluster.start(at);
      }
      await pause(LOOK_MS);
    }
  }
}

async function main(): Promise<void> {
  if (noNatsServer !== null) return void process.stdout.write(`skipped: ${noNatsServer}\n`);
  const { values } = parseArgs({
    options: { only: { type: 'string' }, rounds: { type: 'string', default: '3' } },
  });
  const textOf = (figures: Figures): string =>
    Object.entries(figures)
      .map(([what, ms]) => `${what} ${Math.round(ms)} ms`)
      .join(', ');
  for (const name of values.only?.split(',') ?? Object.keys(ROUNDS)) {
    const { acknowledged, ends, figures } = await loseMachines(name, Number(values.rounds), {
      onRound: (round) => void process.stdout.write(`${name}: ${textOf(round)}\n`),
    });
    const worst = Object.fromEntries(
      Object.keys(figures[0] ?? {}).map((what) => [what, Math.max(...figures.map((one) => one[what] ?? 0))]),
    );
    process.stdout.write(
      `${name}: ${figures.length} rounds, at worst ${textOf(worst)}; ${acknowledged} changes acknowledged, none lost and none twice; nodes ended by code: ${JSON.stringify(ends)}\n`,
    );
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await main();
