/** Retries of every write of the description, those that remove and move what their path names too, and also after a kill. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { runScenario } from '../../golden/scenario.ts';
import { DESCRIBED, describedRoute } from '../../support/described-routes.ts';
import { addStrategy, addUser, FEATURES, makeFlag } from '../../support/interface.ts';
import {
  type Call,
  caller,
  describeInterface,
  type ReceivedResponse,
  spawnServer,
  temporaryFolder,
} from '../../support/server.ts';

const [EDITOR, VIEWER, OWNER] = [2, 3, 4];
const FAR = '2999-01-01T00:00:00.000Z';
const PASSWORD = 'Long-enough-for-anybody-4';

/** Writes about the session of a browser, whose cookie is given once. */
const OF_SESSIONS = / \/auth\/(?:sessions?|simple)\b/;

/** Calls whose key says which one they are. */
const keyed = (call: Call, key: string): Call => {
  return (method, path, body, options = {}) =>
    call(method, path, body, { ...options, headers: { 'idempotency-key': key, ...options.headers } });
};

const shownOf = ({ status, body }: ReceivedResponse, hidden: object = {}): object => ({
  status,
  body: body === undefined ? null : { ...body, ...hidden },
});

describe('a retry', () => {
  it('gets the first response of every write of the description, at once and after a kill', async (t) => {
    const folder = temporaryFolder();
    let running = await spawnServer(folder);
    t.after(() => running.kill());
    const retries: (() => Promise<void>)[] = [];
    const written = new Set<string>();
    const send: Call = (...args) => caller(running.origin, '')(...args);
    const sendTwice: Call = async (method, path, ...more) => {
      const { route, pattern } = describedRoute(method, path);
      if (route.kind !== 'write') return send(method, path, ...more);
      const sendKeyed = keyed(send, `key-${retries.length}`);
      const first = await sendKeyed(method, path, ...more);
      if (first.status < 300) written.add(`${method} ${pattern}`);
      const hidden = Object.fromEntries([route.secretField ?? []].flat().map((field) => [field, null]));
      const retry = async (): Promise<void> =>
        assert.deepEqual(
          shownOf(await sendKeyed(method, path, ...more)),
          shownOf(first, first.body === undefined ? {} : hidden),
          `${method} ${path}`,
        );
      await retry();
      retries.push(retry);
      return first;
    };
    const call: Call = (method, path, ...more) => sendTwice(method, `/api/admin${path}`, ...more);
    await runScenario({ call, snapshot: async () => undefined, moment: async () => undefined });
    const { secret } = (await call('POST', '/invite-link/tokens', { name: 'more', expiresAt: FAR })).body;
    await sendTwice(
      'POST',
      `/invite/${secret}/signup`,
      { username: 'zoe', password: PASSWORD },
      { token: null },
    );
    const { resetPasswordUrl } = (await call('POST', '/user-admin/reset-password', { id: 'zoe' })).body;
    const token = resetPasswordUrl.split('=').at(-1);
    await sendTwice('POST', '/auth/reset/password', { token, password: `${PASSWORD}2` }, { token: null });
    await running.kill();
    running = await spawnServer(folder);
    for (const retry of retries) await retry();
    const writes = DESCRIBED.filter(({ route }) => route.kind === 'write');
    assert.deepEqual(
      writes
        .map(({ route, pattern }) => `${route.method} ${pattern}`)
        .filter((one) => !OF_SESSIONS.test(one) && !written.has(one)),
      [],
    );
  });
});

describeInterface('a retry of a write that removed what its path names', (server) => {
  it('is refused as anything else is without a right, without the credentials, and under another request', async () => {
    const { call } = server();
    await makeFlag(call, 'removed');
    const editor = await addUser(server(), EDITOR);
    const remove = keyed(call, 'remove');
    const { id } = await addStrategy(call, 'removed');
    const strategies = `${FEATURES}/removed/environments/development/strategies`;
    const path = `${strategies}/${id}`;
    assert.equal((await remove('DELETE', path, undefined, editor)).status, 200);
    const { lastId } = server().server.store.engine;
    assert.equal((await remove('DELETE', path, undefined, editor)).status, 200);
    assert.equal((await remove('DELETE', `${strategies}/other`, undefined, editor)).status, 409);
    assert.equal((await remove('DELETE', path)).status, 404, 'the key of another caller is another key');
    assert.equal((await call('DELETE', path, undefined, editor)).status, 404);
    assert.equal((await remove('DELETE', path, undefined, { token: 'user:nobody' })).status, 401);
    assert.equal(server().server.store.engine.lastId, lastId);
    await call('PUT', `/user-admin/${editor.id}`, { rootRole: VIEWER });
    assert.equal((await remove('DELETE', path, undefined, editor)).status, 403);
  });

  it('gets the first response where the right went with what was removed, and only the one who removed it', async () => {
    const { call } = server();
    const [owner, other] = [await addUser(server(), VIEWER), await addUser(server(), VIEWER)];
    const path = '/projects/short-lived';
    await call('POST', '/projects', { id: 'short-lived', name: 'Short' });
    await call('POST', `${path}/users/${owner.id}/roles/${OWNER}`);
    const remove = keyed(call, 'remove-project');
    const first = await remove('DELETE', path, undefined, owner);
    assert.equal(first.status, 200);
    assert.deepEqual(shownOf(await remove('DELETE', path, undefined, owner)), shownOf(first));
    assert.equal((await remove('DELETE', path, undefined, other)).status, 403);
    assert.equal((await call('DELETE', path, undefined, owner)).status, 403);
    await call('POST', '/projects', { id: 'short-lived', name: 'Again' });
    assert.equal((await remove('DELETE', path, undefined, owner)).status, 403);
  });
});
