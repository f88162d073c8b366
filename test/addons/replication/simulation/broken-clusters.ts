/** Broken builds of clusters, each of which the simulation has to find out. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Mutant, onChangedBuild } from '../../../simulation/mutants.ts';
import { FINAL_ACTS } from './final-acts.ts';
import type { ClusterRun } from './run-cluster-seeds.ts';

/** Each of the builds shows within far fewer. */
const SEEDS_PER_MUTANT = 100;

/** Runs of one act: chance decides whether a broken node is the one that counts in it. */
const RUNS_OF_AN_ACT = 20;

/** The acts take turns. */
const firstWith = (act: string): number =>
  FINAL_ACTS.findIndex(({ name }) => name === act) + FINAL_ACTS.length;

interface BrokenCluster extends Mutant {
  /** The final act that finds it, where seeds without that are run in vain. */
  readonly act?: string;
}

export function testBroken(builds: readonly BrokenCluster[]): void {
  for (const mutant of builds) {
    test(`a build that ${mutant.name} is found out`, async (t) => {
      const { counts, failure } = await onChangedBuild<typeof import('./run-cluster-seeds.ts'), ClusterRun>(
        [mutant],
        'test/addons/replication/simulation/run-cluster-seeds.ts',
        ({ runClusterSeeds: run }) =>
          mutant.act === undefined
            ? run(1, SEEDS_PER_MUTANT)
            : run(firstWith(mutant.act), RUNS_OF_AN_ACT * FINAL_ACTS.length, FINAL_ACTS.length),
      );
      assert(failure !== null, 'no seed found anything wrong with it');
      t.diagnostic(`after ${counts.seeds} seeds: ${failure.message.split('\n')[0]}`);
    });
  }
}
