/** The short form of what long-forms.ts does beside real Unleash servers: the source is a Flagstaff, whose interface is the same. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { ADMIN_TOKEN, serverFor } from '../../support/server.ts';
import { CLIENT_TOKENS, migrateAtRandom } from './random-runs.ts';
import { migrateBesideStreams } from './streamed-runs.ts';

it('a migration of random contents that is killed, repeated, and run while the source changes makes nothing less on, and ends equal', async (t) => {
  const source = await serverFor(t, { env: { INIT_CLIENT_API_TOKENS: CLIENT_TOKENS } });

  const { steps, evaluationsCompared } = await migrateAtRandom({
    source: { origin: source.origin, token: ADMIN_TOKEN },
    ...{ seed: 25, flags: 12, kills: 2, changingRuns: 3, contexts: 50 },
  });
  assert(steps > 5 && evaluationsCompared > 500, `${steps} steps, ${evaluationsCompared} evaluations`);
});

it('runs one after the other beside a source that changes switch a flag in streams only where the source did, once, and end equal', async (t) => {
  const source = await serverFor(t, { env: { INIT_CLIENT_API_TOKENS: CLIENT_TOKENS } });

  const { changesInStreams, changesInPolls } = await migrateBesideStreams({
    source: { origin: source.origin, token: ADMIN_TOKEN },
    ...{ seed: 25, flags: 12, runs: 5, changesEachRun: 6, pauseMs: 0, contexts: 50 },
  });
  assert(changesInStreams > 10 && changesInPolls > 10, `${changesInStreams}, ${changesInPolls}`);
});
