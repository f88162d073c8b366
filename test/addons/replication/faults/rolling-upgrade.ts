/**
 * Upgrades a cluster from an older release under load, one node at a time, as docs/cluster.md says, and has one node go back to that release
 * and forward again. `--from` names a checkout of the release whose packages are installed:
 * `node --import tsx test/addons/replication/faults/rolling-upgrade.ts --from ../flagstaff-0.2.0`.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { ROOT_FOLDER } from '../../../support/server.ts';
import { nodeArguments } from '../../../support/source.ts';
import { noNatsServer } from '../nats-servers.ts';
import { type Cluster, NODES, pause, withCluster } from './real-cluster.ts';
import { Writers } from './writers.ts';

const run = promisify(execFile);

/** Writes that have to succeed between two steps. */
const WRITES_PER_STEP = 500;

const LOOK_MS = 50;

/** Throws when a change is lost, there twice or out of order, or the nodes differ. Tells `say` of each step. */
async function upgrade(cluster: Cluster, older: string, say: (text: string) => void): Promise<void> {
  const writers = new Writers(cluster, { writers: 8 });
  await writers.start();
  const step = async (what: string, take: () => Promise<void>): Promise<void> => {
    await writers.successes(WRITES_PER_STEP);
    writers.beginGap();
    await take();
    await writers.successes(WRITES_PER_STEP);
    await cluster.startDeposed();
    say(`${what}: no write succeeded for ${Math.round(writers.longestGapMs)} ms at most`);
  };
  const leader = await cluster.leader();
  const followers = Array.from({ length: NODES }, (_, at) => at).filter((at) => at !== leader);
  for (const at of followers) await step('a follower upgraded', () => restart(cluster, at, ROOT_FOLDER));
  await step('the leader hands over', () => handOver(cluster, leader, older));
  await step('the last node upgraded', () => restart(cluster, leader, ROOT_FOLDER));
  await step('a new leader hands over to a new one', async () =>
    handOver(cluster, await cluster.leader(), ROOT_FOLDER),
  );
  const back = (await cluster.leader()) === leader ? followers[0]! : leader;
  await step('a follower back at the older release', () => restart(cluster, back, older));
  await step('and upgraded again', () => restart(cluster, back, ROOT_FOLDER));
  await writers.finish();
  const { acknowledged, repeated } = writers;
  say(
    `${acknowledged} changes acknowledged, none lost, twice or out of order; ${repeated} requests repeated`,
  );
}

async function restart(cluster: Cluster, at: number, checkout: string): Promise<void> {
  assert.equal(await cluster.nodes[at]!.terminate(), 0);
  await cluster.start(at, checkout);
  const { origin } = cluster.nodes[at]!;
  while (!(await fetch(`${origin}/ready`)).ok) await pause(LOOK_MS);
}

async function handOver(cluster: Cluster, at: number, checkout: string): Promise<void> {
  const command = nodeArguments('src/cli/bin.ts', 'cluster', 'handover', '-d', cluster.folder(at));
  await run(process.execPath, command, { cwd: checkout });
}

const { from } = parseArgs({ options: { from: { type: 'string' } } }).values;
const say = (text: string): void => void process.stdout.write(`${text}\n`);
if (noNatsServer !== null) say(`skipped: ${noNatsServer}`);
else if (from === undefined) {
  say('--from is missing: a checkout of an older release whose packages are installed');
  process.exitCode = 64;
} else {
  const older = resolve(from);
  await withCluster((cluster) => upgrade(cluster, older, say), { checkout: older });
}
