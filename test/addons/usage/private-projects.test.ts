/** Applications that reported for a private project (docs/specification/rights.md#private-projects). */
import assert from 'node:assert/strict';
import { before, it } from 'node:test';
import '../../support/check-responses.ts';
import { addUser } from '../../support/interface.ts';
import { describeInterface, type ReceivedResponse } from '../../support/server.ts';

/** A part of the names of all that must stay hidden, and one of names that nothing has. */
const [HIDDEN, ABSENT] = ['hush', 'none'];

const textOf = ({ status, body }: ReceivedResponse, word: string): string =>
  `${status} ${JSON.stringify(body)}`
    .replaceAll(/"id":"[0-9a-f-]{36}"/g, '"id":"error"')
    .replaceAll(word, ABSENT);

describeInterface('an application that reported for a private project alone', (server) => {
  let token: string;
  before(async () => {
    token = (await addUser(server(), 2)).token;
    await server().call('POST', '/projects', { id: HIDDEN, name: HIDDEN, mode: 'private' });
    await server().call('POST', `/projects/${HIDDEN}/features`, { name: `${HIDDEN}.flag` });
    const scope = { type: 'client', projects: [HIDDEN], environment: 'development' };
    const { body } = await server().call('POST', '/api-tokens', { tokenName: 'token', ...scope });
    const at = new Date();
    const application = { appName: `${HIDDEN}-app`, instanceId: 'one' };
    const bucket = { start: at, stop: at, toggles: { [`${HIDDEN}.flag`]: { yes: 3, no: 1 } } };
    for (const [path, more] of [
      ['/register', { strategies: [], started: at, interval: 10 }],
      ['/metrics', { bucket }],
    ] as const) {
      const report = { ...application, ...more };
      const { status } = await server().callBelow('/api/client')('POST', path, report, {
        token: body.secret,
      });
      assert.equal(status, 202);
    }
  });

  const asked = async (method: string, path: string, word: string): Promise<string> => {
    const body = method === 'POST' ? { description: 'mine' } : undefined;
    return textOf(await server().call(method, path.replace('%', word), body, { token }), word);
  };

  it('is in no list of those who do not see it, and its counts are in no figures', async () => {
    const seen = await server().call('GET', '/metrics/applications');
    assert.equal(seen.body.total, 1, 'an Admin sees it');
    for (const path of ['/metrics/applications', '/projects/default/applications'])
      assert.equal((await server().call('GET', path, undefined, { token })).body.total, 0, path);
    for (const path of ['', '/raw'].map((end) => `/client-metrics/features/%.flag${end}`))
      assert.equal(await asked('GET', path, HIDDEN!), await asked('GET', path, ABSENT!), path);
    for (const query of ['', '?step=minute']) {
      const sums = (await server().call('GET', `/client-metrics/usage${query}`)).body.data;
      assert.deepEqual(
        sums.map(({ yes, no }: { yes: number; no: number }) => [yes, no]),
        [[3, 1]],
        'an Admin sees them',
      );
      const { body } = await server().call('GET', `/client-metrics/usage${query}`, undefined, { token });
      assert.deepEqual(body.data, []);
    }
    for (const query of ['project=%', 'feature=%.flag', 'feature=%.flag&step=minute']) {
      const path = `/client-metrics/usage?${query}`;
      assert.equal(await asked('GET', path, HIDDEN!), await asked('GET', path, ABSENT!), query);
    }
  });

  it('is to those who read, describe and forget it as one that never reported', async () => {
    const application = '/metrics/applications/%-app';
    for (const [method, path] of [
      ['GET', '/metrics/instances/%-app/environment/development'],
      ['GET', `${application}/overview`],
      ['POST', application],
      ['GET', application],
      ['DELETE', application],
    ] as const)
      assert.equal(await asked(method, path, HIDDEN!), await asked(method, path, ABSENT!), path);
  });
});
