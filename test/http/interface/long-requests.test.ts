/** Whoever held the event loop for long waits for a turn, and nobody else does. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import '../../support/check-responses.ts';
import { callerName } from '../../../src/actors/loop-accounts.ts';
import { FEATURES, makeFlag } from '../../support/interface.ts';
import { describeInterface } from '../../support/server.ts';

describeInterface('a caller whose requests took long', (server) => {
  it('gets its responses in turn, changes included, and others do not wait', async () => {
    const { call } = server();
    await makeFlag(call, 'f');
    const { body: user } = await call('POST', '/user-admin', { username: 'calm', rootRole: 3 });
    const { body: token } = await call('POST', `/user-admin/${user.id}/tokens`, {
      description: 'calm',
      expiresAt: '2999-01-01T00:00:00.000Z',
    });
    const { body: page } = await call('GET', '/events');
    const { createdBy: name, createdByUserId: userId } = page.events[0];
    server().server.store.engine.loopAccounts.chargeCaller(callerName({ name, userId }), 1_000_000);
    const responses = await Promise.all([
      call('GET', `${FEATURES}/f`),
      call('PUT', `${FEATURES}/f`, { description: 'changed in its turn' }),
      call('GET', '/projects', undefined, { token: token.secret }),
      call('GET', `${FEATURES}/absent`),
    ]);
    assert.deepEqual(
      responses.map(({ status }) => status),
      [200, 200, 200, 404],
    );
    assert.equal((await call('GET', `${FEATURES}/f`)).body.description, 'changed in its turn');
    const metrics = await (await fetch(`${server().origin}/internal-backstage/prometheus`)).text();
    assert.match(metrics, /^flagstaff_long_requests_waited_total 4$/m);
    assert.match(metrics, /^flagstaff_long_requests_waiting 0$/m);
  });
});
