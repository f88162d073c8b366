/** Commands that had to wait, and what became of their client, its rights and its patience meanwhile. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import '../../support/check-responses.ts';
import { Gate } from '../../support/engine.ts';
import { addStrategy, addUser, FEATURES, makeFlag } from '../../support/interface.ts';
import { ADMIN_TOKEN, describeInterface, type TestServer } from '../../support/server.ts';
import { post, RawConnection } from '../transport/raw-connection.ts';

const EDITOR = 2;

/** Holds back what rollbacks read while the gate is closed. */
function gateBefore({ server }: TestServer): Gate {
  const { reads } = server.store;
  const gate = new Gate();
  const flagAt = reads.flagAt.bind(reads);
  // The reading itself ends with its requester; what is held back is the time after it.
  reads.flagAt = async (...query) => {
    const past = await flagAt(...query);
    await gate.pass();
    return past;
  };
  return gate;
}

async function heldBack(gate: Gate): Promise<void> {
  while (gate.waitingCount === 0) await new Promise((resolve) => setImmediate(resolve));
}

/** A flag that was changed after the event that is returned. */
async function changedFlag({ call, server }: TestServer, name: string): Promise<number> {
  await makeFlag(call, name);
  const { lastId } = server.store.engine;
  await addStrategy(call, name);
  return lastId;
}

describeInterface('a command that had to wait', (server) => {
  it('is refused when its user was deleted meanwhile, and changes nothing', async () => {
    const { call } = server();
    const eventId = await changedFlag(server(), 'of-a-user');
    const user = await addUser(server(), EDITOR);
    const gate = gateBefore(server());
    gate.close();
    const path = `${FEATURES}/of-a-user/rollback`;
    const rollback = call('POST', path, { eventId }, { token: user.token });
    await heldBack(gate);
    assert.equal((await call('DELETE', `/user-admin/${user.id}`)).status, 200);
    const { lastId } = server().server.store.engine;
    gate.open();
    assert.equal((await rollback).status, 401);
    assert.equal(server().server.store.engine.lastId, lastId);
  });

  it('is not carried out when its client has gone', async (t) => {
    const { server: running } = server();
    const eventId = await changedFlag(server(), 'abandoned');
    const { engine } = running.store;
    const { lastId } = engine;
    const gate = gateBefore(server());
    gate.close();
    const client = await RawConnection.open(t, running.port);
    client.write(
      post(`/api/admin${FEATURES}/abandoned/rollback`, JSON.stringify({ eventId }), [
        `Authorization: ${ADMIN_TOKEN}`,
        'Content-Type: application/json',
      ]),
    );
    await heldBack(gate);
    client.reset();
    while (running.transport.openRequests > 0) await new Promise((resolve) => setImmediate(resolve));
    gate.open();
    // Handled after it: the mailbox is the same.
    await makeFlag(server().call, 'after-the-abandoned');
    assert.equal(engine.lastId, lastId + 1);
  });
});

describeInterface('data that looks like code', (server) => {
  it('is kept as data', async () => {
    const { call } = server();
    await makeFlag(call, 'hostile');
    const parameters = { constructor: '1', toJSON: '1' };
    const strategy = await addStrategy(call, 'hostile', { parameters });
    assert.deepEqual(strategy.parameters, parameters);
    await server().restart();
    const { body } = await server().call('GET', `${FEATURES}/hostile`);
    assert.deepEqual(body.environments[0].strategies[0].parameters, parameters);
  });
});

describeInterface('a retry whose response was too large to keep', (server) => {
  it('is answered with 204, and changes nothing', async () => {
    const { call, server: running } = server();
    await makeFlag(call, 'large');
    const headers = { 'idempotency-key': 'large-one' };
    const { id } = await addStrategy(call, 'large');
    const path = `${FEATURES}/large/environments/development/strategies/${id}`;
    const parameters = Object.fromEntries(
      Array.from({ length: 45 }, (_, index) => [`p${index}`, 'x'.repeat(1300)]),
    );
    const constraints = [{ contextName: 'userId', operator: 'IN', values: ['x'.repeat(10_000)] }];
    const body = { name: 'default', constraints, parameters };
    const first = await call('PUT', path, body, { headers });
    assert.equal(first.status, 200);
    const { lastId } = running.store.engine;
    const retry = await fetch(`${server().origin}/api/admin${path}`, {
      method: 'PUT',
      headers: { ...headers, authorization: ADMIN_TOKEN, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    assert.deepEqual([retry.status, await retry.text()], [204, '']);
    assert.equal(running.store.engine.lastId, lastId);
  });
});
