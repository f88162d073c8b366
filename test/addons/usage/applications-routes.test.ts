/** The words of people about applications, and how they make the server forget one. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import '../../support/check-responses.ts';
import { addToken } from '../../support/applications.ts';
import { addUser } from '../../support/interface.ts';
import { describeInterface, serverFor } from '../../support/server.ts';

const PATH = '/metrics/applications/shop';
const DETAILS = { description: 'The shop', url: 'https://shop.example', color: 'red', icon: 'cart' };

describeInterface('applications', (server) => {
  const report = async () => {
    const token = await addToken(server(), { type: 'client', environment: 'development' });
    const body = { appName: 'shop', instanceId: 'a', strategies: [], started: 1, interval: 1 };
    const options = { token };
    assert.equal((await server().callBelow('/api/client')('POST', '/register', body, options)).status, 202);
  };
  const shown = async () => {
    const { body } = await server().call('GET', PATH);
    const { description, url, color, icon } = body;
    return { description, url, color, icon };
  };

  it('can be described, in parts, also before they report, and stay so over a restart', async () => {
    assert.equal((await server().call('GET', PATH)).status, 404);
    assert.equal((await server().call('POST', PATH, DETAILS)).status, 202);
    assert.deepEqual(await shown(), DETAILS);
    await report();
    assert.equal((await server().call('POST', PATH, { description: '' })).status, 202);
    for (const isRestarted of [false, true]) {
      if (isRestarted) await server().restart();
      assert.deepEqual(await shown(), { ...DETAILS, description: '' });
      const { body } = await server().call('GET', '/metrics/applications?query=shop');
      assert.deepEqual([body.total, body.applications[0].url], [1, DETAILS.url]);
    }
  });

  it('can be forgotten, until they report again', async () => {
    await report();
    assert.equal((await server().call('DELETE', PATH)).status, 200);
    for (const method of ['GET', 'DELETE']) assert.equal((await server().call(method, PATH)).status, 404);
    await server().restart();
    assert.equal((await server().call('GET', PATH)).status, 404);
    await report();
    assert.equal((await shown()).description, '');
  });

  it('are not changed by a body that is wrong, nor by those who may only read', async () => {
    await server().call('POST', PATH, DETAILS);
    for (const [body, at] of [
      [{ description: 1 }, '/body/description'],
      [{ description: 'x'.repeat(501) }, '/body/description'],
      [{ url: 'javascript:alert(1)' }, '/body/url'],
    ] as const) {
      const refused = await server().call('POST', PATH, body);
      assert.deepEqual([refused.status, refused.body.details[0].path], [400, at]);
    }
    const tooLong = await server().call('POST', `/metrics/applications/${'x'.repeat(201)}`, DETAILS);
    assert.equal(tooLong.status, 404);
    const { token } = await addUser(server(), 3);
    assert.equal((await server().call('POST', PATH, { description: 'mine' }, { token })).status, 403);
    assert.equal((await server().call('DELETE', PATH, undefined, { token })).status, 403);
    assert.deepEqual(await shown(), DETAILS);
  });
});

it('a page of another site changes no application of a server that asks for no token', async (t) => {
  const server = await serverFor(t, { env: { AUTH_TYPE: 'none' } });
  const crossSite = { token: null, headers: { 'sec-fetch-site': 'cross-site' } };
  assert.equal((await server.call('POST', PATH, DETAILS, crossSite)).status, 403);
  assert.equal((await server.call('POST', PATH, DETAILS, { token: null })).status, 202);
  assert.equal((await server.call('DELETE', PATH, undefined, crossSite)).status, 403);
});
