/** Clusters on simulated machines and a simulated log, and a broken build that has to be found out. */
// Own process: it takes long.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runs } from '../../../support/runs.ts';
import { testBroken } from './broken-clusters.ts';
import { FINAL_ACTS } from './final-acts.ts';
import { runClusterSeeds } from './run-cluster-seeds.ts';

const FIRST_SEED = Number(process.env.SEED ?? 1);
/** At least as many as there are final acts, so that each of them happens. */
const SEEDS = runs(FINAL_ACTS.length, 30);

test(`${SEEDS} seeds from ${FIRST_SEED} on show one history on all nodes, and meet every trouble`, async (t) => {
  const { counts, failure } = await runClusterSeeds(FIRST_SEED, SEEDS);
  assert.ifError(failure);
  t.diagnostic(JSON.stringify(counts));
  for (const [trouble, count] of Object.entries(counts))
    assert(count > 0, `${trouble} never happened, so it is not tested`);
});

/** Among thousands, the seeds in which a node whose disk had hung showed what was old: after a long start, and as a leader long deposed. */
for (const seed of [636, 729]) {
  test(`a node whose disk hung shows nothing old as if it were new, by seed ${seed}`, async () => {
    const { failure } = await runClusterSeeds(seed, 1);
    assert.ifError(failure);
  });
}

testBroken([
  {
    name: 'acknowledges before the log has the change',
    file: 'persistence/journal/file-journal.ts',
    find: 'this.#commitLog.append(batch)]',
    replace: 'batch.lastId] as const',
  },
]);
