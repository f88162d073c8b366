/** Seeds of clusters, one after the other: `node --import tsx test/simulation/cluster/run-cluster-seeds.ts --first 1 --count 100`. */
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { type ClusterTally, simulateCluster } from './cluster-scenario.ts';

export interface ClusterRun {
  /** What happened in all seeds together. */
  readonly counts: ClusterTally;
  readonly failure: Error | null;
}

/** Up to the first seed that fails. */
export async function runClusterSeeds(first: number, count: number): Promise<ClusterRun> {
  const counts = {
    ...{ seeds: 0, acknowledged: 0, takeOvers: 0, deposed: 0, cutTails: 0, wipedDisks: 0 },
    ...{ fetches: 0, forgotten: 0, readsElsewhere: 0, hungDisks: 0, lostTails: 0 },
    ...{ fullDisks: 0, rottenFiles: 0, mendedFiles: 0 },
  };
  for (let seed = first; seed < first + count; seed += 1) {
    try {
      const tally = await simulateCluster(seed);
      for (const key of Object.keys(counts) as (keyof ClusterTally)[]) counts[key] += tally[key];
    } catch (failure) {
      return { counts, failure: failure as Error };
    }
  }
  return { counts, failure: null };
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { first: { type: 'string', default: '1' }, count: { type: 'string', default: '100' } },
  });
  const { counts, failure } = await runClusterSeeds(Number(values.first), Number(values.count));
  process.stdout.write(`${JSON.stringify(counts)}\n`);
  if (failure !== null) throw failure;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await main();
