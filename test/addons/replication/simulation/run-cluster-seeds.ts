/** Seeds of clusters, one after the other: `node --import tsx test/addons/replication/simulation/run-cluster-seeds.ts --first 1 --count 100`. */
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { type ClusterTally, COUNTED, simulateCluster } from './cluster-scenario.ts';

export interface ClusterRun {
  /** The tally of all seeds together. */
  readonly counts: ClusterTally;
  readonly failure: Error | null;
}

/** Up to the first seed that fails; each `step`th one. */
export async function runClusterSeeds(first: number, count: number, step = 1): Promise<ClusterRun> {
  const counts: Record<string, number> = Object.fromEntries(COUNTED.map((what) => [what, 0]));
  for (let seed = first; seed < first + count; seed += step) {
    try {
      const tally = await simulateCluster(seed);
      for (const [what, count] of Object.entries(tally)) counts[what] = (counts[what] ?? 0) + count;
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
