/** A disk that hangs: reads of what is settled go on, writes wait within bounds, and nobody is told what is not so. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import '../support/check-responses.ts';
import { QUEUE_DEADLINE_MS } from '../../src/actors/command-decider.ts';
import { gatedDisk, ManualClock, settle } from '../support/engine.ts';
import { inlineLogReader } from '../support/inline-log-reader.ts';
import { FEATURES, makeFlag } from '../support/interface.ts';
import { type ReceivedResponse, serverFor } from '../support/server.ts';
import { flood } from './stalled-sync.ts';

const WRITES = 20_000;

it(`of ${WRITES} writes offered while the disk hangs some wait, the rest is refused, and all that waited are answered`, async (t) => {
  const result = await flood({ writes: WRITES });
  t.diagnostic(JSON.stringify(result));
  assert(result.refused > 0 && result.responded > 0);
});

describe('a disk that hangs', () => {
  it('answers settled reads at once, and 503 with Retry-After to writes that waited too long', async (t) => {
    const { disk, gate } = gatedDisk();
    const manual = new ManualClock();
    manual.runFreely();
    const server = await serverFor(t, {
      store: { fs: disk, clock: manual.clock, logReader: inlineLogReader(disk), mailboxLengthMax: 3 },
    });
    t.after(() => {
      gate.open();
      manual.runFreely();
      return server.stop();
    });
    await makeFlag(server.call, 'settled');
    gate.close();
    const begun = server.call('POST', FEATURES, { name: 'begun' });
    while (gate.waitingCount === 0) await settle();
    manual.holdTurns();
    const { engine } = server.server.store;
    const waiting = ['one', 'two', 'three'].map((name) => server.call('POST', FEATURES, { name }));
    while (engine.queuedCount < waiting.length) await settle();
    assertUnavailable(await server.call('POST', FEATURES, { name: 'fourth' }));
    assert.equal((await server.call('GET', `${FEATURES}/settled`)).status, 200);
    manual.monotonicMs += QUEUE_DEADLINE_MS + 1;
    manual.runFreely();
    for (const response of await Promise.all(waiting)) assertUnavailable(response);
    gate.open();
    assert.equal((await begun).status, 201, 'what was begun is answered when it is on disk');
    assert.equal((await server.call('POST', FEATURES, { name: 'one' })).status, 201, 'it had not been begun');
  });
});

function assertUnavailable({ status, headers, body }: ReceivedResponse): void {
  assert.deepEqual([status, body.name], [503, 'ServiceUnavailableError']);
  assert.equal(headers.get('retry-after'), '1');
}
