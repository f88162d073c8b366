/** A caller who held the event loop for long waits for a turn, and nobody else does. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import '../../support/check-responses.ts';
import { callerName } from '../../../src/actors/loop-accounts.ts';
import { FEATURES, makeFlag } from '../../support/interface.ts';
import { describeInterface, type TestServer } from '../../support/server.ts';

async function addPerson({ call }: Pick<TestServer, 'call'>, username: string, rootRole = 2) {
  const { body: user } = await call('POST', '/user-admin', { username, rootRole });
  const tokens = `/user-admin/${user.id}/tokens`;
  const { body: token } = await call('POST', tokens, {
    description: username,
    expiresAt: '2999-01-01T00:00:00.000Z',
  });
  const name = callerName({ name: username, userId: user.id });
  return { name, secret: token.secret, token: `${tokens}/${token.id}` };
}

describeInterface('a caller whose requests took long', (server) => {
  it('gets its responses in turn, changes included, and others do not wait', async () => {
    const { call } = server();
    await makeFlag(call, 'f');
    const { secret } = await addPerson(server(), 'calm');
    const { body: page } = await call('GET', '/events');
    const { createdBy: name, createdByUserId: userId } = page.events[0];
    server().server.store.engine.loopAccounts.add(callerName({ name, userId }), 1_000_000);
    const responses = await Promise.all([
      call('GET', `${FEATURES}/f`),
      call('PUT', `${FEATURES}/f`, { description: 'changed in its turn' }),
      call('GET', '/projects', undefined, { token: secret }),
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

describeInterface('a caller who waits', (server) => {
  it('is refused in its turn when it has lost its rights while it waited', async () => {
    const { call } = server();
    const { name, secret, token } = await addPerson(server(), 'leaving');
    // Whoever has made these people may owe something for it, where all code runs for the first time.
    const admin = { token: (await addPerson(server(), 'calm-admin', 1)).secret };
    const { loopAccounts } = server().server.store.engine;
    loopAccounts.add(name, 1_000_000);
    // What a turn rests for afterwards: four times as long, as there are others.
    loopAccounts.add(name, 250);
    await call('GET', '/projects', undefined, admin);
    assert.equal((await call('GET', '/projects', undefined, { token: secret })).status, 200);
    const statuses: number[] = [];
    const note = ({ status }: { status: number }): number => statuses.push(status);
    const waiting = [
      call('GET', '/projects', undefined, { token: secret }).then(note),
      call('POST', '/projects/default/features', { name: 'late' }, { token: secret }).then(note),
    ];
    assert.equal((await call('DELETE', token, undefined, admin)).status, 200);
    assert.deepEqual(statuses, [], 'they were not waiting any more');
    await Promise.all(waiting);
    assert.deepEqual(statuses, [401, 401]);
    assert.equal((await call('GET', `${FEATURES}/late`)).status, 404);
  });
});
