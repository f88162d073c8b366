/** A client of a migration when a connection ends without a response. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { it } from 'node:test';
import { AdminClient } from '../../src/host/admin-client.ts';

it('what a server has put off is sent again when it said, changes too, and its refusal is told where it goes on', async () => {
  let busy = 3;
  let received = 0;
  const server = createServer((request, response) => {
    received += 1;
    busy -= 1;
    request.resume();
    response.writeHead(busy >= 0 ? 429 : 200, { 'retry-after': '0' }).end('{}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    const { port } = server.address() as AddressInfo;
    const client = new AdminClient({ url: `http://127.0.0.1:${port}`, token: 'any' });
    assert.deepEqual(await client.get('/search/features'), {});
    busy = 1;
    assert.deepEqual(await client.call('POST', '/projects', {}), {});
    assert.equal(received, 6);
    busy = Number.POSITIVE_INFINITY;
    await assert.rejects(client.get('/search/features'), /429/);
    assert.equal(received, 17);
  } finally {
    server.close();
    server.closeAllConnections();
  }
});

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
