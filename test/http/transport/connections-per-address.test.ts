/** A limit for each address, which only node:http can keep (uws-transport.ts says why). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createNodeTransport } from '../../../src/http/transport/node-transport.ts';
import { startTestServer } from '../../support/server.ts';
import { start, until } from './engines.ts';
import { RawConnection, request } from './raw-connection.ts';

const NODE = {
  name: 'node',
  create: async (options) => createNodeTransport(options),
} as const satisfies Parameters<typeof start>[1];

test('an address that has all its connections open gets no further one until one ends', async (t) => {
  const { port, transport, log } = await start(t, NODE, { limits: { connectionsPerAddressMax: 2 } });
  const first = await RawConnection.open(t, port);
  const second = await RawConnection.open(t, port);
  await until(() => transport.openConnections === 2);
  const third = await RawConnection.open(t, port);
  await third.closed();
  assert.deepEqual(
    log.map(({ message }) => message),
    ['Too many connections of one address: new ones are closed.'],
  );
  second.write(request('/still-served'));
  assert.equal((await second.nextResponse()).body, '/still-served');
  first.destroy();
  await until(() => transport.openConnections === 1);
  const fourth = await RawConnection.open(t, port);
  fourth.write(request('/fourth'));
  assert.equal((await fourth.nextResponse()).body, '/fourth');
});

test('the setting reaches the engine', async (t) => {
  const server = await startTestServer({ env: { CONNECTIONS_PER_ADDRESS: '1' } });
  t.after(() => server.stop());
  const first = await RawConnection.open(t, server.server.port);
  await until(() => server.server.transport.openConnections === 1);
  const second = await RawConnection.open(t, server.server.port);
  await second.closed();
  first.destroy();
});
