/**
 * Everything but the death of a leader that the table of failures in docs/cluster.md names, on real servers under load:
 *
 *   node --import tsx test/addons/replication/faults/troubles.ts --only rolling-restart --rounds 3
 *
 * After each trouble writes have to succeed again, and at the end every acknowledged change is on every node once.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { EXIT } from '../../../../src/process/exit-codes.ts';
import { noNatsServer } from '../nats-servers.ts';
import { type Cluster, NODES, pause, withCluster } from './real-cluster.ts';
import { type WriterOptions, Writers } from './writers.ts';

/** Writes that have to succeed before and after each trouble. */
const WRITES_BETWEEN = 100;

/** Longer than NATS takes to elect, and than a follower waits for its leader. */
const PAUSE_MS = 12_000;

interface Trouble {
  readonly writers?: Partial<WriterOptions>;
  readonly env?: Readonly<Record<string, string>>;
  /** `round` counts from 0. */
  run(cluster: Cluster, writers: Writers, round: number): Promise<void>;
}

/** Starts a node again that has ended because another one leads. */
async function startDeposed(cluster: Cluster, at: number, ended: Promise<unknown[]>): Promise<void> {
  assert.deepEqual(await ended, [EXIT.deposed, null], 'a deposed leader ends with its own exit code');
  await cluster.start(at);
}

/** Changes are large, so that there are archived files and the log forgets some. */
const FORGETFUL = {
  writers: { padding: 'x'.repeat(9_000) },
  env: { REPLICATION_LOG_BYTES: '1000000' },
} as const;

/** A follower is away until the log has forgotten what it lacks; it may lose its folder meanwhile. */
async function leaveOut(cluster: Cluster, writers: Writers, isWiped: boolean): Promise<void> {
  const at = ((await cluster.leader()) + 1) % NODES;
  const { body } = await cluster.nodes[at]!.call('GET', '/events?limit=1');
  const lackedFrom = body.events[0].id + 1;
  await cluster.nodes[at]!.kill();
  if (isWiped) cluster.wipe(at);
  await writers.successes(4_500);
  const leader = await cluster.leader(at);
  while ((await cluster.forgottenId(leader)) < lackedFrom) await pause(1_000);
  await cluster.start(at);
  assert.match(cluster.nodes[at]!.output(), /came from the archive/);
}

export const TROUBLES: Readonly<Record<string, Trouble>> = {
  /** Each server of the log in turn. */
  'kill-nats': {
    async run({ nats }, writers, round) {
      const server = nats.servers[round % NODES]!;
      await server.kill();
      await writers.successes(WRITES_BETWEEN);
      await server.restart();
    },
  },
  'kill-all-nats': {
    async run({ nats }) {
      await Promise.all(nats.servers.map((server) => server.kill()));
      await Promise.all(nats.servers.map((server) => server.restart()));
    },
  },
  'pause-leader': {
    async run(cluster) {
      const at = await cluster.leader();
      const { child } = cluster.nodes[at]!;
      const ended = once(child, 'exit');
      child.kill('SIGSTOP');
      await pause(PAUSE_MS);
      child.kill('SIGCONT');
      await startDeposed(cluster, at, ended);
    },
  },
  'pause-nats': {
    async run({ nats }, _writers, round) {
      const { process } = nats.servers[round % NODES]!;
      process.kill('SIGSTOP');
      await pause(PAUSE_MS);
      process.kill('SIGCONT');
    },
  },
  /** Clients reach the leader all the while, and so do its followers: only the log does not. */
  'cut-off-leader': {
    async run(cluster, writers) {
      const at = await cluster.leader();
      const ended = once(cluster.nodes[at]!.child, 'exit');
      cluster.cut(at);
      await cluster.leader(at);
      await writers.successes(WRITES_BETWEEN);
      cluster.heal(at);
      await startDeposed(cluster, at, ended);
    },
  },
  /** The leader hands over to a node that the others reach; until then who asks a follower is told to come back. */
  'cut-off-followers': {
    async run(cluster, writers) {
      const at = await cluster.leader();
      cluster.cutFromNodes(at);
      await cluster.leader(at);
      await pause(PAUSE_MS);
      await writers.successes(WRITES_BETWEEN);
      assert.notEqual(await cluster.leader(), at, 'a node leads that the others reach');
      cluster.healFromNodes(at);
    },
  },
  'rolling-restart': {
    writers: { patient: true },
    async run(cluster, writers) {
      for (let at = 0; at < NODES; at += 1) {
        assert.equal(await cluster.nodes[at]!.terminate(), EXIT.ok);
        await cluster.start(at);
        await writers.successes(WRITES_BETWEEN);
      }
    },
  },
  'wipe-follower': { ...FORGETFUL, run: (cluster, writers) => leaveOut(cluster, writers, true) },
  'away-follower': { ...FORGETFUL, run: (cluster, writers) => leaveOut(cluster, writers, false) },
};

export interface TroubleResult {
  readonly rounds: number;
  readonly acknowledged: number;
  readonly repeated: number;
  /** The gaps of the rounds, in milliseconds, ascending: the longest time without a success of any writer. */
  readonly gapsMs: readonly number[];
  /** The longest turn of the event loop of whoever leads at the end, in milliseconds of processor time. */
  readonly loopBusyMostMs: number;
}

/** Throws when a change is lost or there twice, or the nodes differ. */
export function makeTrouble(name: string, rounds: number, count: number): Promise<TroubleResult> {
  const trouble = TROUBLES[name];
  assert(trouble !== undefined, `the troubles are ${Object.keys(TROUBLES).join(', ')}`);
  return withCluster(
    async (cluster) => {
      const writers = new Writers(cluster, { writers: count, ...trouble.writers });
      await writers.start();
      const gapsMs: number[] = [];
      for (let round = 0; round < rounds; round += 1) {
        await writers.successes(WRITES_BETWEEN);
        writers.beginGap();
        await trouble.run(cluster, writers, round);
        await writers.successes(WRITES_BETWEEN);
        gapsMs.push(writers.longestGapMs);
        await cluster.startDeposed();
      }
      const loopBusyMostMs = cluster.loopBusyMostMs(await cluster.leader()) ?? 0;
      await writers.finish();
      const { acknowledged, repeated } = writers;
      return { rounds, acknowledged, repeated, gapsMs: gapsMs.sort((a, b) => a - b), loopBusyMostMs };
    },
    { env: trouble.env ?? {} },
  );
}

async function main(): Promise<void> {
  if (noNatsServer !== null) return void process.stdout.write(`skipped: ${noNatsServer}\n`);
  const { values } = parseArgs({
    options: {
      only: { type: 'string' },
      rounds: { type: 'string', default: '3' },
      writers: { type: 'string', default: '16' },
    },
  });
  for (const name of values.only?.split(',') ?? Object.keys(TROUBLES)) {
    const result = await makeTrouble(name, Number(values.rounds), Number(values.writers));
    const { rounds, acknowledged, repeated, gapsMs, loopBusyMostMs } = result;
    const median = gapsMs[Math.floor(gapsMs.length / 2)] ?? 0;
    process.stdout.write(
      `${name}: ${rounds} rounds, ${acknowledged} changes acknowledged, none lost and none twice, ${repeated} requests repeated; longest time without a success ${Math.round(median)} ms (median), ${Math.round(gapsMs.at(-1) ?? 0)} ms (worst); longest turn of the leader's event loop ${loopBusyMostMs.toFixed(1)} ms of processor time\n`,
    );
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await main();
