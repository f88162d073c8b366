/** What a client of a migration does when a connection ends without a response. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { it } from 'node:test';
import { AdminClient } from '../../src/migration/admin-client.ts';

it('a read is sent again once when its connection ends without a response, and a change never is', async () => {
  const received: string[] = [];
  let left = 0;
  const server = createServer((request, response) => {
    received.push(request.method ?? '');
    left -= 1;
    if (left >= 0) request.socket.destroy();
    else response.end('{}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    const { port } = server.address() as AddressInfo;
    const client = new AdminClient({ url: `http://127.0.0.1:${port}`, token: 'any' });
    left = 1;
    assert.deepEqual(await client.get('/projects'), {});
    left = 2;
    await assert.rejects(client.get('/projects'), /got no response/);
    left = 1;
    await assert.rejects(client.call('POST', '/projects', {}), /got no response/);
    assert.deepEqual(received, ['GET', 'GET', 'GET', 'GET', 'POST']);
  } finally {
    server.close();
    server.closeAllConnections();
  }
});
