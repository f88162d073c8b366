/** The short form of soak.ts, which the long fault tests run for 30 minutes. */
// Own process: it takes long.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { it } from 'node:test';
import { FRIENDLY_CLIENTS, soak } from './soak.ts';

const skip = existsSync('/proc/self/status') ? false : 'memory is read from /proc';

it('friendly clients among hostile ones lose nothing that was acknowledged, and every start succeeds', {
  skip,
}, async (t) => {
  const { hostile, ...result } = await soak({ seconds: 12, kills: 2, seed: 1 });
  t.diagnostic(JSON.stringify(result));
  assert.equal(result.kills, 2);
  assert(
    result.acknowledged >= 3 * FRIENDLY_CLIENTS,
    'each friendly client is served in each life of the server',
  );
  for (const [attack, outcomes] of Object.entries(hostile)) {
    assert(!('500' in outcomes), `${attack}: nothing is an internal error`);
  }
});
