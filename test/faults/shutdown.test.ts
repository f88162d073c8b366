/** The short form of shutdown.ts, which the long fault tests run for 20 rounds. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { shutDown } from './shutdown.ts';

it('nothing answered is lost when the process is asked to stop under load, once or twice', async (t) => {
  const result = await shutDown({ rounds: 2 });
  t.diagnostic(JSON.stringify(result));
  assert(result.acknowledged >= 200);
});
