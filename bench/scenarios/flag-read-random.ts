/** GET a flag, each time another of many: each has been read before, and none is in the processor's caches. */
import { httpScenario } from '../lib/http-scenario.ts';
import { flagPath } from '../lib/paths.ts';
import { shuffled } from '../lib/shuffled.ts';

export const flagReadRandom = httpScenario({
  name: 'flag-read-random',
  title: 'Read a flag, at random of all',
  limit: 'bare',
  goalConnections: [64],
  dataSet: ({ flagSizes }) => ({ flags: Math.max(...flagSizes), projects: 1, events: 0 }),
  prepare: async (_, { flags }) => ({
    requests: shuffled(flags).map((number) => ({ method: 'GET', path: flagPath(number) })),
  }),
});
