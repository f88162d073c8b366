/**
 * Nothing that a client sends gets into a response's headers as it came: line breaks, NUL and bytes outside ASCII, in
 * paths, queries, headers and names, end as 4xx, or in a body where they do no harm.
 */
import assert from 'node:assert/strict';
import { STATUS_CODES } from 'node:http';
import { describe, it } from 'node:test';
import { post, RawConnection, request } from '../http/transport/raw-connection.ts';
import { ENGINES } from '../support/installed-engines.ts';
import { ADMIN_TOKEN, serverFor, type TestServer } from '../support/server.ts';

const AUTHORIZATION = `Authorization: ${ADMIN_TOKEN}`;

/** Spellings of a line break followed by a header, and of what else does not belong into one. */
const ENCODED = [
  '%0d%0aset-cookie:%20a=b',
  '%0aset-cookie:%20a=b',
  '%0d',
  '%00',
  '%e5%98%8a%e5%98%8dset-cookie:a',
  '%c3%a9',
  '%7f',
];
/** Raw line breaks are framing, and have tests of their own (test/http/transport/framing.test.ts). */
const RAW = ['\0', '\u00e9', '\x7f', '\x80'];

const PATHS: readonly ((value: string) => string)[] = [
  (value) => `/${value}`,
  (value) => `/docs/${value}`,
  (value) => `/api/admin/projects/${value}`,
  (value) => `/api/admin/projects/default/features/${value}`,
  (value) => `/api/admin/projects/default/features/f?x=${value}`,
  (value) => `/api/admin/events?type=${value}`,
];

/** Headers of a request that responses might be tempted to repeat. */
const HEADERS = [
  'Origin',
  'If-None-Match',
  'If-Match',
  'Idempotency-Key',
  'Accept',
  'X-Request-Id',
  'X-Forwarded-Host',
];

for (const http of ENGINES) {
  describe(`header injection (${http})`, () => {
    it('is not possible by paths, queries, headers or names', async (t) => {
      const server = await serverFor(t, { env: { HTTP_ENGINE: http } });
      const { port } = server.server;
      let requests = 0;
      const send = async (bytes: string): Promise<void> => {
        requests += 1;
        const connection = await RawConnection.open(t, port);
        connection.write(Buffer.from(bytes, 'latin1'));
        // What is no request may be answered by closing the connection, or not before the deadline of its head: when
        // others that came later have their responses, it has none.
        const responded = connection.nextResponse().catch(() => null);
        const response = await Promise.race([responded, passing(server, 3)]);
        connection.destroy();
        if (response === null) return;
        const what = JSON.stringify(bytes);
        assert(response.status in STATUS_CODES && response.status !== 500, `${response.status} for ${what}`);
        assert(!response.headers.has('set-cookie'), what);
        for (const [name, value] of response.headers)
          assert.match(`${name}: ${value}`, /^[\x20-\x7e]*$/, what);
      };
      for (const value of ENCODED)
        for (const path of PATHS) await send(request(path(value), { headers: [AUTHORIZATION] }));
      for (const value of RAW) {
        for (const path of PATHS) await send(request(path(value), { headers: [AUTHORIZATION] }));
        for (const name of HEADERS) {
          const headers = [AUTHORIZATION, `${name}: a${value}b`];
          await send(request('/api/admin/projects/default', { headers }));
        }
        await send(post('/api/admin/projects/default/features', JSON.stringify({ name: `flag${value}` })));
      }
      t.diagnostic(`${requests} requests`);
      assert.equal((await server.call('GET', '/projects')).status, 200, 'it is alive');
    });
  });
}

async function passing(server: TestServer, requests: number): Promise<null> {
  for (let count = 0; count < requests; count += 1) await server.call('GET', '/projects/default');
  return null;
}
