/**
 * Runs seeds of the simulation.
 *
 *   node --import tsx test/simulation/simulate.ts --seed 4711                       one seed, again
 *   node --import tsx test/simulation/simulate.ts --seeds 10000 --first 1           many
 *   node --import tsx test/simulation/simulate.ts --seeds 10000 --budget-seconds 60 as many as that takes
 *
 * Ends with 1 when a seed fails, and says how to see it again.
 */
import { parseArgs } from 'node:util';
import { runSeeds } from './run-seeds.ts';
import { countsOf } from './tally.ts';

/** A line of progress each so many seeds. */
const SEEDS_PER_LINE = 500;

const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    seeds: { type: 'string', default: '1' },
    first: { type: 'string', default: '1' },
    'budget-seconds': { type: 'string' },
  },
});

const budget = values['budget-seconds'];
const { tally, failure, seconds } = await runSeeds({
  first: Number(values.seed ?? values.first),
  count: values.seed === undefined ? Number(values.seeds) : 1,
  ...(budget === undefined ? {} : { budgetSeconds: Number(budget) }),
  onSeed: (done) => {
    if (done % SEEDS_PER_LINE === 0) process.stderr.write(`${done} seeds\n`);
  },
});

if (failure !== null) {
  console.error(failure);
  process.exitCode = 1;
}
console.log(JSON.stringify({ seconds: Math.round(seconds * 10) / 10, ...countsOf(tally) }, null, 2));
