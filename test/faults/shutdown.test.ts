/** The short form of shutdown.ts, which the long fault tests run for 20 rounds. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { shutDown } from './shutdown.ts';

it('nothing answered is lost when the process is asked to stop under load, once or twice', async (t) => {
  const result = await shutDown({ rounds: 2 });
  t.diagnostic(JSON.stringify(result));
  assert(result.acknowledged >= 200);
});

it('the same where HTTP workers have the connections and it is asked twice', async () => {
  const { acknowledged } = await shutDown({ rounds: 1, env: { HTTP_WORKERS: '2' } });
  assert(acknowledged >= 100);
});
