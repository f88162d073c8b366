/**
 * What clients may rely on with several HTTP workers as with none: who holds the response to a write finds it on every worker, nobody goes back in
 * time, and a token that is gone is refused everywhere.
 */
// Own process: it counts all requests that were made.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { brotliDecompressSync } from 'node:zlib';
import { ListenError } from '../../../src/http/transport/listen-failure.ts';
import { createLog } from '../../../src/log.ts';
import { startServer } from '../../../src/server.ts';
import { startTestServer, type TestServer, temporaryFolder, testConfig } from '../../support/server.ts';
import { Connection, tally } from './connections.ts';
import { READS, Registers } from './registers.ts';

const FLAGS = '/admin/projects/default/features';
const WORKERS = 2;

describe('a server with two HTTP workers', () => {
  let server: TestServer;
  /** Two for each worker. */
  let connections: Connection[];
  before(async () => {
    server = await startTestServer({ env: { HTTP_WORKERS: String(WORKERS) } });
    connections = Array.from({ length: 2 * WORKERS }, () => new Connection(server.origin));
  });
  after(async () => {
    for (const connection of connections) connection.close();
    await server.stop();
  });

  const at = (index: number): Connection => connections[index % connections.length] as Connection;
  const create = async (name: string): Promise<void> => {
    const { status } = await at(0).ask(FLAGS, { method: 'POST', body: { name } });
    assert.equal(status, 201);
  };
  it('shows a change on every worker once it is acknowledged, and no worker anything older than another did', async () => {
    // Enough for some to be sent to workers beside others.
    const registers = new Registers(Array.from({ length: 6 }, (_, number) => `register-${number}`));
    await registers.create(at(0));
    let isOver = false;
    const write = async (name: string, by: Connection): Promise<void> => {
      for (let value = 1; value <= 40; value += 1) await registers.write(by, name, value);
    };
    const read = async (index: number): Promise<void> => {
      while (!isOver) for (const what of READS) await registers.read(at(index), what);
    };
    const writers = registers.names.map(() => new Connection(server.origin));
    const reading = Promise.all(connections.map((_, index) => read(index)));
    await Promise.all(registers.names.map((name, index) => write(name, writers[index] as Connection)));
    isOver = true;
    await reading;
    for (const writer of writers) writer.close();
    assert.ok(registers.readCount > READS.length * connections.length);
  });

  it('gives what it keeps, and 304 to who has it', async () => {
    await create('kept');
    const answers = await Promise.all(connections.map((connection) => connection.ask(`${FLAGS}/kept`)));
    const { etag } = await at(0).ask(`${FLAGS}/kept`);
    for (const answer of answers) assert.deepEqual([answer.status, answer.etag], [200, etag]);
    for (const connection of connections) {
      const again = await connection.ask(`${FLAGS}/kept`, { headers: { 'if-none-match': etag } });
      assert.deepEqual([again.status, again.etag, again.body.length], [304, etag, 0]);
    }
  });

  it('refuses a token everywhere from the moment that its deletion is acknowledged', async () => {
    await create('guarded');
    const { body: token } = await at(0).ask('/admin/api-tokens', {
      method: 'POST',
      body: { tokenName: 'short-lived', type: 'admin' },
    });
    const asking = { token: token.secret };
    for (let round = 0; round < 2; round += 1) {
      for (const connection of connections)
        assert.equal((await connection.ask(`${FLAGS}/guarded`, asking)).status, 200);
    }
    await at(1).ask(`/admin/api-tokens/${token.secret}`, { method: 'DELETE' });
    for (const connection of connections)
      assert.equal((await connection.ask(`${FLAGS}/guarded`, asking)).status, 401);
  });

  it('shows favorites to those alone whose they are', async () => {
    await create('liked');
    const tokens = await Promise.all(
      ['likes', 'does-not'].map(async (username) => {
        const { body: user } = await at(0).ask('/admin/user-admin', {
          method: 'POST',
          body: { username, rootRole: 3 },
        });
        const { status, body } = await at(0).ask(`/admin/user-admin/${user.id}/tokens`, {
          method: 'POST',
          body: { description: 'for tests', expiresAt: '2100-01-01T00:00:00.000Z' },
        });
        assert.equal(status, 201);
        return String(body.secret);
      }),
    );
    const seenBy = async (): Promise<unknown[]> => {
      const seen = [];
      for (const connection of [...connections, ...connections])
        for (const token of tokens)
          seen.push((await connection.ask(`${FLAGS}/liked`, { token })).body.favorite);
      return [...new Set(seen)];
    };
    assert.deepEqual(await seenBy(), [false]);
    const { status } = await at(0).ask(`${FLAGS}/liked/favorites`, {
      method: 'POST',
      token: tokens[0] ?? '',
    });
    assert.equal(status, 200);
    assert.deepEqual(await seenBy(), [true, false]);
  });

  it('gives documents to SDKs in the coding that they ask for, and a change at once', async () => {
    await create('for-sdks');
    const { body: token } = await at(0).ask('/admin/api-tokens', {
      method: 'POST',
      body: { tokenName: 'sdk', type: 'client', environment: 'development', projects: ['*'] },
    });
    const plain = { token: token.secret };
    const coded = { ...plain, headers: { 'accept-encoding': 'br' } };
    const described = async (): Promise<void> => {
      for (const connection of connections) {
        for (let round = 0; round < 2; round += 1) {
          const { body, etag } = await connection.ask('/client/features', plain);
          const found = body.features.find(({ name }: { name: string }) => name === 'for-sdks');
          assert.equal(found.description, expected);
          const packed = await connection.ask('/client/features', coded);
          assert.equal(packed.headers['content-encoding'], 'br');
          assert.deepEqual(JSON.parse(brotliDecompressSync(packed.body).toString()).features, body.features);
          const known = await connection.ask('/client/features', {
            ...plain,
            headers: { 'if-none-match': etag },
          });
          assert.equal(known.status, 304);
        }
      }
    };
    let expected: string | null = null;
    // Enough for a compressed body.
    for (let number = 0; number < 10; number += 1) await create(`filler-${number}`);
    expected = (await at(0).ask(`${FLAGS}/for-sdks`)).body.description;
    await described();
    expected = 'changed';
    const body = { name: 'for-sdks', description: expected };
    await at(3).ask(`${FLAGS}/for-sdks`, { method: 'PUT', body });
    await described();
    const strangers = { token: token.secret };
    assert.equal(
      (await at(0).ask(`${FLAGS}/for-sdks`, strangers)).status,
      403,
      'what is kept for others is not theirs',
    );
  });

  it('shows a flag that was evaluated, and one that moved', async () => {
    await create('evaluated');
    const { body: token } = await at(0).ask('/admin/api-tokens', {
      method: 'POST',
      body: { tokenName: 'reporter', type: 'client', environment: 'development', projects: ['*'] },
    });
    for (const connection of connections)
      assert.equal((await connection.ask(`${FLAGS}/evaluated`)).body.lastSeenAt, null);
    const now = new Date().toISOString();
    const bucket = { start: now, stop: now, toggles: { evaluated: { yes: 1, no: 0 } } };
    const report = { appName: 'app', instanceId: 'one', bucket };
    const told = await at(0).ask('/client/metrics', { method: 'POST', token: token.secret, body: report });
    assert.equal(told.status, 202);
    for (const connection of connections)
      assert.notEqual((await connection.ask(`${FLAGS}/evaluated`)).body.lastSeenAt, null);
    await at(0).ask('/admin/projects', { method: 'POST', body: { id: 'other', name: 'other' } });
    const moved = await at(1).ask(`${FLAGS}/evaluated/changeProject`, {
      method: 'POST',
      body: { newProjectId: 'other' },
    });
    assert.equal(moved.status, 200);
    for (const connection of connections) {
      assert.equal((await connection.ask(`${FLAGS}/evaluated`)).status, 404);
      assert.equal((await connection.ask('/admin/projects/other/features/evaluated')).status, 200);
    }
  });

  it('counts on its page what the workers did by themselves', async () => {
    const { transport } = server.server;
    assert.ok(transport.openConnections >= connections.length, 'each worker tells of its own');
    const page = await (await fetch(`${server.origin}/internal-backstage/prometheus`)).text();
    assert.match(page, /^flagstaff_requests_in_flight 1$/m);
    const route = '/api/admin/projects/:projectId/features/:featureName';
    for (const status of [200, 304]) {
      const line = `flagstaff_http_requests_total{method="GET",route="${route}",status="${status}"} `;
      const counted = page
        .split('\n')
        .find((one) => one.startsWith(line))
        ?.slice(line.length);
      const pattern = new RegExp(`^GET /admin/projects/[^/]+/features/[^/]+ ${status}$`);
      const asked = [...tally].reduce((sum, [what, count]) => sum + (pattern.test(what) ? count : 0), 0);
      assert.equal(Number(counted), asked, `reads with ${status}`);
    }
    assert.match(
      page,
      new RegExp(`^flagstaff_http_request_duration_seconds_count\\{method="GET",route="${route}"\\} `, 'm'),
    );
  });

  it('refuses a second server on its port', async () => {
    const folder = temporaryFolder();
    const config = testConfig(folder, { HTTP_WORKERS: '2', PORT: String(server.server.port) });
    const log = createLog('silent');
    const second = startServer({ config, log, stop: assert.fail, announceToken: () => undefined });
    await assert.rejects(second, (error) => error instanceof ListenError && error.isBusy);
  });
});
