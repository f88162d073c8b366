/** GET a flag, each time another of many: each has been read before. 100,000 are more than the processor's caches hold. */
import { type HttpScenario, httpScenario } from '../lib/http-scenario.ts';
import { flagPath } from '../lib/paths.ts';
import { shuffled } from '../lib/shuffled.ts';

const READS: Pick<HttpScenario, 'limit' | 'goalConnections' | 'prepare'> = {
  limit: 'bare',
  goalConnections: [64],
  prepare: async (_, { flags }) => ({
    requests: shuffled(flags).map((number) => ({ method: 'GET', path: flagPath(number) })),
  }),
};

export const flagReadShuffled = httpScenario({
  ...READS,
  name: 'flag-read-shuffled',
  title: 'Read a flag, at random of 1,000',
});

export const flagReadRandom = httpScenario({
  ...READS,
  name: 'flag-read-random',
  title: 'Read a flag, at random of all',
  dataSet: ({ flagSizes }) => ({ flags: Math.max(...flagSizes), projects: 1, events: 0 }),
});
