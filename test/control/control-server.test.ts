/** The server's end of the control channel: clients that misbehave must not hold up the server or its stop. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { SOCKET_FILE_NAME } from '../../src/control/control-protocol.ts';
import { type ControlHandlers, openControl } from '../../src/control/control-server.ts';

const handlers: ControlHandlers = {
  status: async () => ({ pid: 1, lastId: 2, durableId: 2 }),
  flush: async () => ({ durableId: 2 }),
  snapshot: async () => ({ taken: false, id: 2, path: 'x', bytes: 1, durationMs: 0 }),
  'create-admin-token': async () => ({ secret: '*:*.x' }),
};

function folderOf(t: { after(run: () => void): void }): string {
  const folder = mkdtempSync(join(tmpdir(), 'control-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

const silent = { warn: () => undefined };

it('a stop does not wait for a client that has asked nothing, nor for one that keeps its end open', async (t) => {
  const folder = folderOf(t);
  const control = await openControl({ folder, handlers, log: silent });
  const asking = connect({ path: join(folder, SOCKET_FILE_NAME), allowHalfOpen: true });
  const mute = connect({ path: join(folder, SOCKET_FILE_NAME), allowHalfOpen: true });
  await Promise.all([once(asking, 'connect'), once(mute, 'connect')]);
  asking.write('{"command":"flush"}\n');
  const [response] = await once(asking, 'data');
  assert.deepEqual(JSON.parse(String(response)), { ok: true, result: { durableId: 2 } });
  await control.close();
  asking.destroy();
  mute.destroy();
});

it('a folder in the place of the socket costs the channel, and not the server', async (t) => {
  const folder = folderOf(t);
  mkdirSync(join(folder, SOCKET_FILE_NAME));
  const warnings: string[] = [];
  const log = { warn: (_: object, message: string) => void warnings.push(message) };
  const control = await openControl({ folder, handlers, log });
  assert.deepEqual(warnings, ['The control socket could not be opened.']);
  await control.close();
});
