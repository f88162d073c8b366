/** A limit for each address, which only node:http can keep (uws-transport.ts says why). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { engineOf } from '../../../src/addons/node-http/settings.ts';
import { start, until } from '../../http/transport/engines.ts';
import { RawConnection, request } from '../../http/transport/raw-connection.ts';
import { serverFor } from '../../support/server.ts';

const NODE = {
  name: 'node',
  create: (options) => engineOf({ CONNECTIONS_PER_ADDRESS: '2' })!.open(options),
} as const satisfies Parameters<typeof start>[1];

test('the settings take the engine that can count connections by address where that is wanted, and refuse another', () => {
  assert.equal(engineOf({ CONNECTIONS_PER_ADDRESS: '2' })?.isPreferred, true);
  for (const env of [
    { CONNECTIONS_PER_ADDRESS: '50', HTTP_ENGINE: 'uws' },
    { CONNECTIONS_PER_ADDRESS: '0' },
    { CONNECTIONS_PER_ADDRESS: 'many' },
    { HTTP_ENGINE: 'apache' },
  ])
    assert.throws(
      () => engineOf(env),
      /^ConfigError: (CONNECTIONS_PER_ADDRESS|HTTP_ENGINE) (cannot|must) be/,
    );
});

test('an address that has all its connections open gets no further one until one ends', async (t) => {
  const { port, transport, log } = await start(t, NODE);
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
  const server = await serverFor(t, { env: { CONNECTIONS_PER_ADDRESS: '1' } });
  const first = await RawConnection.open(t, server.server.port);
  await until(() => server.server.transport.openConnections === 1);
  const second = await RawConnection.open(t, server.server.port);
  await second.closed();
  first.destroy();
});
