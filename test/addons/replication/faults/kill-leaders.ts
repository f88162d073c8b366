/**
 * Kills the leader of a cluster under load, again and again, while random nodes are read.
 */
import { Readers } from './readers.ts';
import { type Cluster, withCluster } from './real-cluster.ts';
import { Writers } from './writers.ts';

/** Writes that have to succeed under each leader before it is killed. */
const WRITES_PER_ROUND = 200;

const READERS = 4;

export interface ClusterKillResult {
  readonly kills: number;
  readonly acknowledged: number;
  readonly repeated: number;
  readonly reads: number;
  /** From each kill to the next success of a write, in milliseconds, ascending. */
  readonly outagesMs: readonly number[];
}

export interface ClusterKillOptions {
  readonly rounds: number;
  readonly writers: number;
}

/** Throws when a change is lost, there twice, out of order or taken back, or the nodes differ. */
export const killLeaders = (options: ClusterKillOptions): Promise<ClusterKillResult> =>
  withCluster((cluster) => run(cluster, options));

async function run(
  cluster: Cluster,
  { rounds, writers: count }: ClusterKillOptions,
): Promise<ClusterKillResult> {
  const writers = new Writers(cluster, { writers: count });
  await writers.start();
  const readers = new Readers(cluster, { readers: READERS, flags: count });
  readers.start();
  const outagesMs: number[] = [];
  for (let round = 1; round <= rounds; round += 1) {
    await writers.successes(WRITES_PER_ROUND);
    const outageMs = await killLeader(cluster, writers);
    outagesMs.push(outageMs);
  }
  await writers.successes(WRITES_PER_ROUND);
  await readers.finish();
  await writers.finish((flag, change) => readers.note(flag, change));
  const { acknowledged, repeated } = writers;
  return {
    kills: rounds,
    acknowledged,
    repeated,
    reads: readers.reads,
    outagesMs: outagesMs.sort((a, b) => a - b),
  };
}

async function killLeader(cluster: Cluster, writers: Writers): Promise<number> {
  const at = await cluster.leader();
  await cluster.nodes[at]!.kill();
  const killedAt = performance.now();
  await writers.successes(1);
  const outageMs = performance.now() - killedAt;
  await cluster.start(at);
  return outageMs;
}

export const percentile = (ascending: readonly number[], share: number): number =>
  ascending[Math.min(ascending.length - 1, Math.floor(ascending.length * share))] ?? 0;
