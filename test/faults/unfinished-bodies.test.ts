/** Clients that begin requests with large bodies and never finish them keep nobody else from writing. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import '../support/check-responses.ts';
import { RawConnection, request } from '../http/transport/raw-connection.ts';
import { ENGINES } from '../support/installed-engines.ts';
import { ADMIN_TOKEN, startTestServer, type TestServer } from '../support/server.ts';

/** More than the 32 MiB that all unfinished bodies together may take. */
const CLIENTS = 80;
const BODY_BYTES = 1024 * 1024;
const PATH = '/api/admin/projects/default/features';

for (const http of ENGINES) {
  describe(`unfinished bodies (${http})`, { timeout: 60_000 }, () => {
    let server: TestServer;
    before(async () => {
      server = await startTestServer({ env: { HTTP_ENGINE: http } });
    });
    after(() => server.stop());

    it('of callers without a token are refused by their heads in the order of checks, and writes go on', async (t) => {
      const { port } = server.server;
      const expected = [
        { method: 'POST', path: PATH, status: 401 },
        { method: 'POST', path: '/api/admin/nothing', status: 404 },
        { method: 'PUT', path: PATH, status: 405 },
      ];
      for (let i = 0; i < CLIENTS; i += 1) {
        const { method, path, status } = expected[i % expected.length]!;
        const connection = await RawConnection.open(t, port);
        const headers = [`Content-Length: ${BODY_BYTES}`, 'Content-Type: application/json'];
        connection.write(request(path, { method, headers, body: ' '.repeat(BODY_BYTES - 1) }));
        assert.equal((await connection.nextResponse()).status, status);
      }
      const response = await server.call('POST', '/projects/default/features', {
        name: `made-${http}`,
        description: 'x'.repeat(900),
      });
      assert.equal(response.status, 201);
    });

    it('of sign-ins give way before the one of a caller with a token', async (t) => {
      const { port } = server.server;
      const headers = [`Content-Length: ${BODY_BYTES}`, 'Content-Type: application/json'];
      const begin = async (path: string, token: readonly string[]): Promise<RawConnection> => {
        const connection = await RawConnection.open(t, port);
        const body = ' '.repeat(BODY_BYTES - 1);
        connection.write(request(path, { method: 'POST', headers: [...headers, ...token], body }));
        return connection;
      };
      const known = await begin(PATH, [`Authorization: ${ADMIN_TOKEN}`]);
      const strangers: RawConnection[] = [];
      for (let i = 0; i < CLIENTS; i += 1) strangers.push(await begin('/auth/simple/login', []));
      const [first] = strangers;
      assert.equal((await first!.nextResponse()).status, 503);
      known.write(' ');
      assert.equal((await known.nextResponse()).status, 400);
    });
  });
}
