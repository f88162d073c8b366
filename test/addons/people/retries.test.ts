/** Retries of every write of the description, also after a kill. Some are made by those who sign up, and set a password. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { runScenario } from '../../golden/scenario.ts';
import { DESCRIBED, describedRoute } from '../../support/described-routes.ts';
import { keyed, shownOf } from '../../support/interface.ts';
import { type Call, caller, processFor, temporaryFolder } from '../../support/server.ts';

const FAR = '2999-01-01T00:00:00.000Z';
const PASSWORD = 'Long-enough-for-anybody-4';

/** Writes about the session of a browser, whose cookie is given once. */
const OF_SESSIONS = / \/auth\/(?:sessions?|simple)\b/;

describe('a retry', () => {
  it('gets the first response of every write of the description, at once and after a kill', async (t) => {
    const folder = temporaryFolder();
    let running = await processFor(t, folder);
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
    for (const place of ['/openfeature', '/openfeature/projects/default/openfeature']) {
      const flags = `${place}/v0/manifest/flags`;
      const sent = { key: `manifest-${retries.length}`, type: 'boolean', defaultValue: false };
      await sendTwice('POST', flags, sent);
      await sendTwice('PUT', `${flags}/${sent.key}`, { ...sent, description: 'in code' });
      await sendTwice('DELETE', `${flags}/${sent.key}`);
    }
    await running.kill();
    running = await processFor(t, folder);
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
