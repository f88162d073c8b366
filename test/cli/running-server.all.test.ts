/** Commands of operators beside a server that goes on working. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { stateHash } from '../../src/actors/state/world-snapshot.ts';
import { askServer, ControlError } from '../../src/control/control-client.ts';
import { socketPath } from '../../src/control/control-protocol.ts';
import { openControl } from '../../src/control/control-server.ts';
import { flagstaff, outputOf, startsOn } from '../support/operator.ts';
import {
  closedAfter,
  serverFor,
  startTestServer,
  type TestServer,
  temporaryFolder,
} from '../support/server.ts';

const FEATURES = '/projects/default/features';

const bodyOf = (received: string): string => received.slice(received.indexOf('\r\n\r\n'));

describe('beside a running server', () => {
  let server: TestServer;
  before(async () => {
    // A small segment: backups have to meet files that come to be meanwhile.
    server = await startTestServer({ store: { segmentBytes: 8_192 } });
    await server.call('POST', FEATURES, { name: 'first' });
  });
  after(() => server.stop());
  const target = (): string => join(temporaryFolder(), 'copy');

  it('status says that it runs, and how far its disk is', async () => {
    const status = await outputOf(['status', '-d', server.folder]);
    const { durableId } = server.server.store.engine;
    assert.deepEqual(status.server, { pid: process.pid, durableId });
    assert.deepEqual(status.lastStop, { kind: 'running' });
    assert.equal(status.journal.lastEvent.id, durableId);
    assert.match((await flagstaff(['status', '-d', server.folder])).out, /running, process \d+/);
  });

  it('snapshot has it write one, once for each state', async () => {
    const { engine } = server.server.store;
    const taken = await outputOf(['snapshot', '-d', server.folder]);
    assert.deepEqual([taken.taken, taken.id], [true, engine.lastId]);
    assert.equal(statSync(taken.path).size, taken.bytes);
    const again = await outputOf(['snapshot', '-d', server.folder]);
    assert.deepEqual([again.taken, again.id, again.path], [false, taken.id, taken.path]);
    await server.call('POST', FEATURES, { name: 'second' });
    assert.match((await flagstaff(['snapshot', '-d', server.folder])).out, /^Snapshot of event \d+: /);
  });

  it('token create makes an admin token that works, is shown once and is recorded with who made it', async () => {
    const { code, out, err } = await flagstaff(['token', 'create', '--admin', '-d', server.folder]);
    assert.deepEqual([code, err], [0, '']);
    assert.match(out, /^\*:\*\.[0-9a-f]{64}$/);
    assert.equal((await server.call('GET', '/user-admin', undefined, { token: out })).status, 200);
    const { body } = await server.call('POST', '/events/search', { type: 'api-token-created', limit: 1 });
    const [{ createdBy, data }] = body.events;
    assert.deepEqual(
      [createdBy, data.tokenName, data.type],
      ['flagstaff token create', 'flagstaff token create', 'admin'],
    );
    const second = await outputOf(['token', 'create', '--admin', '-d', server.folder]);
    assert.notEqual(second.secret, out);
    for (const name of readdirSync(server.folder, { recursive: true, encoding: 'utf8' })) {
      const path = join(server.folder, name);
      if (statSync(path).isFile()) assert(!readFileSync(path, 'latin1').includes(out.slice(4)), name);
    }
  });

  it('token create makes no other kind of token, and needs a running server', async () => {
    const { lastId } = server.server.store.engine;
    const { code, err } = await flagstaff(['token', 'create', '-d', server.folder]);
    assert.equal(code, 64);
    assert(err.includes('--admin'), err);
    assert.equal(server.server.store.engine.lastId, lastId);
    assert.equal((await flagstaff(['token', 'create', '--admin', '-d', temporaryFolder()])).code, 69);
  });

  it('backup under a load of writes holds all that was acknowledged before it, verifies and starts', async () => {
    const acknowledged: string[] = [];
    let goesOn = true;
    const writers = Array.from({ length: 4 }, async (_, writer) => {
      for (let index = 0; goesOn; index += 1) {
        const name = `load-${writer}-${index}`;
        if ((await server.call('POST', FEATURES, { name })).status === 201) acknowledged.push(name);
      }
    });
    const copies: { readonly to: string; readonly before: readonly string[]; readonly lastId: number }[] = [];
    for (let round = 0; round < 4; round += 1) {
      // Some of the load comes before each, and some while it is written.
      const enough = acknowledged.length + 20;
      while (acknowledged.length < enough) await new Promise((resolve) => setImmediate(resolve));
      const earlier = [...acknowledged];
      const to = target();
      const { lastId } = await outputOf(['backup', '-d', server.folder, '--to', to]);
      copies.push({ to, before: earlier, lastId });
    }
    goesOn = false;
    await Promise.all(writers);
    for (const { to, before: earlier, lastId } of copies) {
      const { deep } = await outputOf(['verify', '--deep', '-d', to]);
      assert.equal(deep.eventId, lastId);
      const restored = await outputOf(['restore', server.folder, '--to', target(), '--at', String(lastId)]);
      assert.equal(restored.stateHash, deep.stateHash, 'the copy is the state of that event');
      await startsOn(to, async (call) => {
        const { body } = await call('GET', FEATURES);
        const names = new Set(body.features.map(({ name }: { name: string }) => name));
        assert.deepEqual(
          earlier.filter((name) => !names.has(name)),
          [],
        );
      });
    }
  });

  it('verify finds no damage while the journal grows under it', async () => {
    let goesOn = true;
    const writer = (async () => {
      for (let index = 0; goesOn; index += 1) await server.call('POST', FEATURES, { name: `grow-${index}` });
    })();
    for (let round = 0; round < 5; round += 1) {
      assert.equal((await flagstaff(['verify', '--deep', '-d', server.folder])).code, 0);
    }
    goesOn = false;
    await writer;
  });

  it('restore reads the state as it is', async () => {
    const { engine } = server.server.store;
    const restored = await outputOf(['restore', server.folder, '--to', target()]);
    assert.deepEqual([restored.lastId, restored.stateHash], [engine.lastId, stateHash(engine.world)]);
  });
});

describe('without a running server', () => {
  it('snapshot says so, also where a killed one has left its socket', async () => {
    const folder = temporaryFolder();
    assert.equal((await flagstaff(['snapshot', '-d', folder])).code, 69);
    writeFileSync(join(folder, 'flagstaff.sock'), '');
    assert.equal((await flagstaff(['snapshot', '-d', folder])).code, 69);
  });

  it('a start takes the place of a socket that was left behind, and a stop removes its own', async (t) => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'flagstaff.sock'), '');
    const server = await serverFor(t, { folder });
    assert.equal(statSync(join(folder, 'flagstaff.sock')).mode & 0o777, 0o600);
    assert.equal((await outputOf(['status', '-d', folder])).server.pid, process.pid);
    await server.stop();
    assert(!readdirSync(folder).includes('flagstaff.sock'));
  });
});

describe('the control channel', () => {
  const folder = temporaryFolder();
  const warnings: string[] = [];
  const handlers = {
    status: async () => ({ pid: 1, lastId: 2, durableId: 2, addons: [] }),
    flush: async () => ({ durableId: 2 }),
    snapshot: async () => {
      throw new Error('the disk is full');
    },
    'create-admin-token': async () => ({ secret: '*:*.x' }),
  };
  const log = { warn: (_: object, message: string) => warnings.push(message) };

  /** Resolves with what comes back for these bytes. */
  async function exchange(sent: string): Promise<string> {
    const control = await openControl({ folder, handlers, log });
    const response = await new Promise<string>((resolve, reject) => {
      let received = '';
      const socket = connect(socketPath(folder) ?? '', () => socket.end(sent));
      socket.on('data', (chunk) => {
        received += chunk;
      });
      socket.on('error', reject);
      socket.on('close', () => resolve(received));
    });
    await control.close();
    return response;
  }

  it('carries out the command that a POST names, with a body or without', async () => {
    for (const rest of ['\r\n', 'Content-Length: 3\r\n\r\n{}\n']) {
      const received = await exchange(`POST /flush HTTP/1.1\r\nHost: x\r\n${rest}`);
      assert.match(received, /^HTTP\/1\.1 200 OK\r\n/);
      assert.deepEqual(JSON.parse(bodyOf(received)), { durableId: 2 });
    }
  });

  it('refuses with a sentence what names no command, and stays', async () => {
    const unknown = ['POST /rm', 'POST /', 'POST /toString', 'POST /__proto__', 'POST /flush/', 'GET /flush'];
    for (const line of unknown) {
      const received = await exchange(`${line} HTTP/1.1\r\nHost: x\r\n\r\n`);
      assert.match(received, line.startsWith('GET') ? /^HTTP\/1\.1 405 / : /^HTTP\/1\.1 404 /, line);
      const { message } = JSON.parse(bodyOf(received)) as { message: string };
      assert(message.endsWith('.'), line);
    }
  });

  it('closes the connection of what is not HTTP, or has too large a head', async () => {
    assert.match(await exchange('{"command":"flush"}\n'), /^HTTP\/1\.1 400 /);
    const large = `POST /flush HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(16 * 1024)}\r\n\r\n`;
    assert.match(await exchange(large), /^HTTP\/1\.1 431 /);
    assert.match(await exchange('POST /flush HTTP/1.1\r\n'), /^HTTP\/1\.1 400 /, 'half a request');
  });

  it('can be used by curl, as the handbook says', async (t) => {
    closedAfter(t, await openControl({ folder, handlers, log }));
    const path = socketPath(folder) ?? '';
    const args = ['--silent', '--unix-socket', path, '-X', 'POST', 'http://localhost/status'];
    const { stdout } = await promisify(execFile)('curl', args);
    assert.deepEqual(JSON.parse(stdout), { pid: 1, lastId: 2, durableId: 2, addons: [] });
  });

  it("tells the client of a failure in the server's words", async (t) => {
    const control = closedAfter(t, await openControl({ folder, handlers, log }));
    await assert.rejects(askServer(folder, 'snapshot'), new ControlError('the disk is full'));
    await control.close();
    assert(warnings.includes('A control request failed.'));
  });

  it('is done without, with a warning, where the path is too long for a socket', async (t) => {
    const long = join(folder, 'x'.repeat(120));
    assert.equal(socketPath(long, '/'), null);
    const before = warnings.length;
    await closedAfter(t, await openControl({ folder: long, handlers, log })).close();
    assert.equal(warnings.length, before + 1);
    assert.equal(await askServer(long, 'status'), null);
  });
});
