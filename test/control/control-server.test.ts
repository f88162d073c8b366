/** The server's end of the control channel: clients that misbehave must not hold up the server or its stop. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdirSync, statSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { it } from 'node:test';
import { askServer, ControlError } from '../../src/control/control-client.ts';
import { SOCKET_FILE_NAME } from '../../src/control/control-protocol.ts';
import { type ControlHandlers, openControl } from '../../src/control/control-server.ts';
import { closedAfter, temporaryFolder } from '../support/server.ts';

const handlers: ControlHandlers = {
  status: async () => ({ pid: 1, lastId: 2, durableId: 2, addons: [] }),
  flush: async () => ({ durableId: 2 }),
  snapshot: async () => ({ taken: false, id: 2, path: 'x', bytes: 1, durationMs: 0 }),
  'create-admin-token': async () => ({ secret: '*:*.x' }),
};

function withResolvers<T>() {
  let resolve: (value: T) => void = () => undefined;
  let reject: (error: Error) => void = () => undefined;
  const promise = new Promise<T>((...both) => {
    [resolve, reject] = both;
  });
  return { promise, resolve, reject };
}

const silent = { warn: () => undefined };

it('a stop does not wait for a client that has asked nothing, nor for one that keeps its end open', async (t) => {
  const folder = temporaryFolder();
  const control = closedAfter(t, await openControl({ folder, handlers, log: silent }));
  const asking = connect({ path: join(folder, SOCKET_FILE_NAME), allowHalfOpen: true });
  const mute = connect({ path: join(folder, SOCKET_FILE_NAME), allowHalfOpen: true });
  await Promise.all([once(asking, 'connect'), once(mute, 'connect')]);
  asking.write('POST /flush HTTP/1.1\r\nHost: localhost\r\n\r\n');
  const [response] = await once(asking, 'data');
  assert.match(String(response), /^HTTP\/1\.1 200 OK\r\n.*\r\n\r\n\{"durableId":2\}\n$/s);
  await control.close();
  asking.destroy();
  mute.destroy();
});

it('the socket may be used by its owner alone', async (t) => {
  const folder = temporaryFolder();
  closedAfter(t, await openControl({ folder, handlers, log: silent }));
  assert.equal(statSync(join(folder, SOCKET_FILE_NAME)).mode & 0o777, 0o600);
});

it('a stop waits for the command that is being carried out, and its client gets the response', async (t) => {
  const folder = temporaryFolder();
  const { promise: outcome, reject: fail } = withResolvers<never>();
  const { promise: begun, resolve: begin } = withResolvers<void>();
  const snapshot = (): Promise<never> => {
    begin();
    return outcome;
  };
  const control = closedAfter(
    t,
    await openControl({ folder, handlers: { ...handlers, snapshot }, log: silent }),
  );
  const asked = askServer(folder, 'snapshot').catch((error: Error) => error.message);
  await begun;
  let isClosed = false;
  const closed = control.close().then(() => {
    isClosed = true;
  });
  await new Promise(setImmediate);
  assert.equal(isClosed, false);
  fail(new Error('the disk is full'));
  await closed;
  assert.equal(await asked, 'the disk is full');
});

it('a folder in the place of the socket costs the channel, and not the server', async (t) => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, SOCKET_FILE_NAME));
  const warnings: string[] = [];
  const log = { warn: (_: object, message: string) => void warnings.push(message) };
  closedAfter(t, await openControl({ folder, handlers, log }));
  assert.deepEqual(warnings, ['The control socket could not be opened.']);
});

it('a server that does not respond is said to be there, and nobody waits for it for ever, nor for its snapshot', async () => {
  const folder = temporaryFolder();
  const stopped = createServer(() => undefined);
  stopped.listen(join(folder, SOCKET_FILE_NAME));
  await once(stopped, 'listening');
  for (const command of ['status', 'flush', 'snapshot'] as const) {
    await assert.rejects(askServer(folder, command, { timeoutMs: 20 }), (error) => {
      assert(error instanceof ControlError);
      assert.match(error.message, /did not respond within 0\.02 seconds.*SIGSTOP/);
      return true;
    });
  }
  stopped.close();
});

it('a snapshot may take longer than any other response', async (t) => {
  const folder = temporaryFolder();
  const snapshot = async () => {
    await new Promise((resolve) => setTimeout(resolve, 250));
    return handlers.snapshot();
  };
  closedAfter(t, await openControl({ folder, handlers: { ...handlers, snapshot }, log: silent }));
  assert.equal((await askServer(folder, 'snapshot', { timeoutMs: 200 }))?.id, 2);
});
