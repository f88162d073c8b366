/** Refusals of requests of SDKs before a route sees them: pages and OpenFeature clients can read them. */
import assert from 'node:assert/strict';
import { request } from 'node:http';
import { it } from 'node:test';
import { describeEngines, serverFor } from '../../support/server.ts';

const TOO_LARGE = JSON.stringify({ context: { userId: 'x'.repeat(2 ** 20) } });

describeEngines('refusals of the transport for SDKs', (server) => {
  const post = (prefix: string, path: string) =>
    server().callBelow(prefix)('POST', path, TOO_LARGE, { headers: { origin: 'https://shop.example' } });

  it('can be read by OpenFeature clients', async () => {
    const { status, headers, body } = await post('/ofrep/v1', '/evaluate/flags');
    assert.equal(status, 413);
    assert.deepEqual(body, {
      errorCode: 'GENERAL',
      errorDetails: 'The request body is larger than 1 MiB.',
    });
    assert.equal(headers.get('access-control-allow-origin'), '*');
  });

  it('can be read by pages of other origins', async () => {
    const { status, headers, body } = await post('/api/frontend', '');
    assert.deepEqual([status, body.name], [413, 'PayloadTooLargeError']);
    assert.equal(headers.get('access-control-allow-origin'), '*');
  });
});

it('SDKs of a server without authentication are answered under no name that a stranger may own', async (t) => {
  const server = await serverFor(t, { env: { AUTH_TYPE: 'none' } });
  const statusAt = (host: string, path: string) =>
    new Promise<number | undefined>((resolve, reject) => {
      const sent = request(`${server.origin}${path}`, { headers: { host } }, (response) => {
        response.resume().on('end', () => resolve(response.statusCode));
      });
      sent.on('error', reject).end();
    });
  for (const path of ['/api/client/features', '/api/frontend']) {
    assert.equal(await statusAt('localhost', path), 200, path);
    assert.equal(await statusAt('evil.example', path), 403, path);
  }
});
