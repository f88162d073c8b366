/** The short form of restart-races.ts, which the long fault tests run for 50 rounds. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { raceRestarts } from './restart-races.ts';

it('of two servers that race for the folder of a killed one, one gets it, and the other ends with 75', async () => {
  assert.deepEqual(await raceRestarts({ rounds: 2 }), { rounds: 2, refused: 2 });
});
