/**
 * The whole engine on a simulated machine: crashes, power cuts, failing calls, full disks and jumping clocks, chosen
 * by a seed, and after each of them everything that was promised. The long form runs far more seeds; a seed that
 * fails is run again, alone, by `node --import tsx test/simulation/simulate.ts --seed N`.
 */
// Own process: it takes long.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { COMMAND_TYPES } from '../support/random-commands.ts';
import { runs } from '../support/runs.ts';
import { changedSource, MORE_MUTANTS, MUTANTS, runMutant } from './mutants.ts';
import { runSeeds } from './run-seeds.ts';
import { simulate } from './scenario.ts';
import { countsOf, emptyTally } from './tally.ts';

const FIRST_SEED = Number(process.env.SEED ?? 1);
const SEEDS = runs(100, 300);

/** Each of the builds below shows within far fewer. */
const SEEDS_PER_MUTANT = 300;

test(`${SEEDS} seeds from ${FIRST_SEED} on lose nothing that was acknowledged or read, and meet every trouble`, async (t) => {
  const { tally, failure } = await runSeeds({ first: FIRST_SEED, count: SEEDS });
  assert.ifError(failure);
  t.diagnostic(JSON.stringify(countsOf(tally)));
  for (const [trouble, count] of Object.entries(countsOf(tally))) {
    assert(count > 0, `${trouble} never happened, so it is not tested`);
  }
  // Some types of command share a type of event, and 100 seeds have only some 1,500 changes for 100 types.
  assert(tally.eventTypes.size > COMMAND_TYPES.length * 0.5, `only ${[...tally.eventTypes.keys()]}`);
});

test('the same seed ends with the same disk, to the last byte', async () => {
  for (const seed of [1, 2, 3]) {
    const [first, again] = [emptyTally(), emptyTally()];
    assert.equal(await simulate(seed, first), await simulate(seed, again), `seed ${seed}`);
    assert.deepEqual(first, again, `seed ${seed}`);
  }
});

test('every broken build of the long form changes a line that there is', () => {
  for (const mutant of MORE_MUTANTS) changedSource(mutant);
});

for (const mutant of MUTANTS) {
  test(`a build that ${mutant.name} is found out`, async (t) => {
    const { failure } = await runMutant(mutant, { first: 1, count: SEEDS_PER_MUTANT });
    assert(failure !== null, `${SEEDS_PER_MUTANT} seeds found nothing wrong with it`);
    t.diagnostic(`by seed ${failure.seed}`);
  });
}
