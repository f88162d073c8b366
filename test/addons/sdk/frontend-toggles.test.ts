/** The flags that SDKs in browsers read: whose flags, for which context, and who may read the responses. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import '../../support/check-responses.ts';
import { addToken } from '../../support/applications.ts';
import { addProject, addStrategy, archive, environmentPath, makeFlag } from '../../support/interface.ts';
import {
  describeInterface,
  type ReceivedResponse,
  type RequestOptions,
  serverFor,
  type TestServer,
} from '../../support/server.ts';

const names = ({ body }: ReceivedResponse): string[] => body.toggles.map((one: { name: string }) => one.name);

async function switchOn(server: TestServer, flag: string, environment = 'development'): Promise<void> {
  assert.equal((await server.call('POST', `${environmentPath(flag, environment)}/on`)).status, 200);
}

async function makeTargeted(server: TestServer, flag: string, constraint: object): Promise<void> {
  await makeFlag(server.call, flag);
  await addStrategy(server.call, flag, { constraints: [constraint] });
  await switchOn(server, flag);
}

describeInterface('the flags of a page', (server) => {
  const frontend = (environment = 'development', projects = ['*']) =>
    addToken(server(), { type: 'frontend', environment, projects });
  const get = (token: string | null, query = '', options: RequestOptions = {}) =>
    server().callBelow('/api/frontend')('GET', query, undefined, { token, ...options });
  const post = (token: string | null, body: unknown, options: RequestOptions = {}) =>
    server().callBelow('/api/frontend')('POST', '', body, { token, ...options });

  it('are refused without a frontend token, in the shape that SDKs know', async () => {
    const wrong =
      'invalid token: expected a different token type for this endpoint: a frontend token, and not';
    for (const [type, sent] of [
      ['client', 'a client token'],
      ['admin', 'an admin token'],
    ] as const) {
      const token = await addToken(server(), {
        type,
        ...(type === 'admin' ? {} : { environment: 'development' }),
      });
      const { status, body } = await get(token);
      assert.deepEqual([status, body], [403, { message: `${wrong} ${sent}` }]);
    }
    const { status, body } = await post(null, {});
    assert.equal(status, 401);
    assert.deepEqual(Object.keys(body), ['message']);
  });

  it('are those that are on in the environment of the token, by name', async () => {
    for (const name of ['zebra', 'ant', 'off']) await makeFlag(server().call, name);
    for (const name of ['zebra', 'ant']) {
      await addStrategy(server().call, name);
      await switchOn(server(), name);
    }
    const response = await get(await frontend());
    assert.deepEqual(names(response), ['ant', 'zebra']);
    assert.deepEqual(response.body.toggles[0], {
      name: 'ant',
      enabled: true,
      impressionData: false,
      variant: { name: 'disabled', enabled: false, feature_enabled: true, featureEnabled: true },
    });
    assert.deepEqual(names(await get(await frontend('production'), '?environment=development')), []);
    await archive(server().call, 'zebra');
    assert.deepEqual(names(await get(await frontend())), ['ant']);
    await server().call('POST', '/environments/development/off');
    assert.deepEqual(names(await get(await frontend())), []);
    await server().call('POST', '/environments/development/on');
    assert.deepEqual(names(await get(await frontend())), ['ant']);
  });

  it('are those of the projects of the token, and follow each change', async () => {
    await addProject(server(), 'mine');
    await addProject(server(), 'yours');
    for (const project of ['mine', 'yours']) {
      const flags = `/projects/${project}/features`;
      await server().call('POST', flags, { name: `in-${project}` });
      await server().call('POST', `${flags}/in-${project}/environments/development/strategies`, {
        name: 'default',
      });
      await server().call('POST', `${flags}/in-${project}/environments/development/on`);
    }
    const mine = await frontend('development', ['mine']);
    assert.deepEqual(names(await get(mine)), ['in-mine']);
    assert.deepEqual(names(await get(await frontend('development', ['mine', 'yours']))), [
      'in-mine',
      'in-yours',
    ]);
    await server().call('POST', '/projects/mine/features/in-mine/environments/development/off');
    assert.deepEqual(names(await get(mine)), []);
  });

  it('depend on the context of the query, its properties and unknown fields', async () => {
    await makeTargeted(server(), 'for-ada', { contextName: 'userId', operator: 'IN', values: ['ada'] });
    await makeTargeted(server(), 'for-eu', { contextName: 'region', operator: 'IN', values: ['eu'] });
    const token = await frontend('development', ['default']);
    const seen = async (query: string) =>
      names(await get(token, query)).filter((name) => name.startsWith('for-'));
    assert.deepEqual(await seen(''), []);
    assert.deepEqual(await seen('?userId=ada'), ['for-ada']);
    assert.deepEqual(await seen('?properties[region]=eu'), ['for-eu']);
    assert.deepEqual(await seen('?region=eu&userId=ada'), ['for-ada', 'for-eu']);
    assert.deepEqual(await seen('?__proto__=x&properties[__proto__]=eu&properties=region'), []);
  });

  it('depend on the context of the body just as well', async () => {
    const token = await frontend('development', ['default']);
    const seen = async (body: object) =>
      names(await post(token, body)).filter((name) => name.startsWith('for-'));
    assert.deepEqual(await seen({}), []);
    const withoutBody = await post(token, undefined);
    assert.equal(withoutBody.status, 200);
    const context = { userId: 'ada', properties: { region: 'eu' } };
    assert.deepEqual(await seen({ context }), ['for-ada', 'for-eu']);
    assert.deepEqual(await seen({ context: { region: 'eu', properties: null } }), ['for-eu']);
  });

  it('know the address of the caller where the context has none', async () => {
    const local = { contextName: 'remoteAddress', operator: 'IN', values: ['127.0.0.1'] };
    await makeTargeted(server(), 'at-home', local);
    await makeTargeted(server(), 'far-away', { ...local, values: ['203.0.113.7'] });
    const token = await frontend('development', ['default']);
    const seen = async (query = '', headers = {}) =>
      names(await get(token, query, { headers })).filter((name) => ['at-home', 'far-away'].includes(name));
    assert.deepEqual(await seen(), ['at-home']);
    assert.deepEqual(await seen('?remoteAddress=203.0.113.7'), ['far-away']);
    assert.deepEqual(await seen('', { 'x-forwarded-for': '203.0.113.7, 10.0.0.1' }), ['far-away']);
    assert.deepEqual(await seen('', { 'x-forwarded-for': '::ffff:203.0.113.7' }), ['far-away']);
    assert.deepEqual(await seen('', { 'x-forwarded-for': 'unknown' }), ['at-home']);
    // With a body that arrives after the head.
    const response = await post(token, { context: {} });
    assert(names(response).includes('at-home'));
  });

  it('have a session of their own where the context has none', async () => {
    await makeFlag(server().call, 'by-session');
    await addStrategy(server().call, 'by-session', {
      name: 'flexibleRollout',
      parameters: { rollout: 50, stickiness: 'sessionId', groupId: 'by-session' },
    });
    await switchOn(server(), 'by-session');
    const token = await frontend('development', ['default']);
    const isOn = async (query = '') => names(await get(token, query)).includes('by-session');
    const drawn = await Promise.all(Array.from({ length: 60 }, () => isOn()));
    assert.equal(new Set(drawn).size, 2, 'sixty random sessions fall on both sides of a half');
    const kept = await Promise.all(Array.from({ length: 20 }, () => isOn('?sessionId=7')));
    assert.equal(new Set(kept).size, 1);
  });

  it('have a tag that changes with what is on, and with nothing else', async () => {
    const token = await frontend('development', ['default']);
    const query = '?userId=ada&sessionId=1';
    const first = await get(token, query);
    const etag = first.headers.get('etag') ?? '';
    assert.match(etag, /^"[\w-]{22}"$/);
    assert.equal(first.headers.get('cache-control'), 'private, no-cache');
    const headers = { 'if-none-match': etag };
    const again = await get(token, query, { headers });
    assert.deepEqual([again.status, again.body, again.headers.get('etag')], [304, undefined, etag]);
    await makeFlag(server().call, 'still-off');
    assert.equal((await get(token, query, { headers })).status, 304);
    assert.equal((await get(token, '?userId=bob&sessionId=1', { headers })).status, 200);
    const context = { userId: 'ada', sessionId: '1' };
    const posted = await post(token, { context }, { headers });
    assert.deepEqual([posted.status, posted.headers.get('etag')], [200, etag]);
  });

  it('are refused for a context that is none, with a sentence that says what would be right', async () => {
    const token = await frontend();
    const wrong = [
      ...[1, null, [], 'x'].map((context) => ({ context, field: 'context', path: '/body/context' })),
      ...[[], 'x'].map((properties) => ({
        ...{ context: { properties }, field: 'properties', path: '/body/context/properties' },
      })),
    ];
    for (const { context, field, path } of wrong) {
      const { status, body } = await post(token, { context });
      assert.deepEqual([status, body.details[0].path], [400, path]);
      assert.match(body.message, new RegExp(`The field ${field} must be an object, not `));
    }
    const long = 'x'.repeat(20_000);
    const { status, body } = await post(token, { context: { properties: { long } } });
    assert.deepEqual([status, body.details[0].path], [400, '/body/context']);
    assert.match(body.message, /at most 16384 characters/);
    const query = new URLSearchParams(
      Object.fromEntries(Array.from({ length: 30 }, (_, at) => [`p${at}`, 'x'.repeat(100)])),
    );
    assert.equal((await get(token, `?${query}`)).status, 200);
  });

  it('are all that there is: no flags as SDKs in servers get them, and no health', async () => {
    for (const path of ['/client/features', '/health']) {
      // Not by a call that is checked against the description, which leaves out what there is not.
      const response = await fetch(`${server().origin}/api/frontend${path}`);
      const { name } = (await response.json()) as { name: string };
      assert.deepEqual([response.status, name], [405, 'MethodNotAllowedError'], path);
    }
  });

  it('can be read by pages of other origins, errors included', async () => {
    const url = `${server().origin}/api/frontend`;
    const preflight = await fetch(url, {
      method: 'OPTIONS',
      headers: {
        origin: 'https://shop.example',
        'access-control-request-method': 'GET',
        'access-control-request-headers': 'authorization,unleash-appname,if-none-match',
      },
    });
    assert.equal(preflight.status, 204);
    const said = (name: string) => preflight.headers.get(`access-control-${name}`);
    assert.equal(said('allow-origin'), '*');
    assert.equal(said('allow-headers'), 'authorization,unleash-appname,if-none-match');
    assert.match(said('allow-methods') ?? '', /GET.*POST.*OPTIONS/);
    assert.equal(said('max-age'), '86400');
    const token = await frontend();
    const responses = [
      await get(token),
      await get(null),
      await post(token, { context: 1 }),
      await server().callBelow('/api/frontend')('GET', '/nothing', undefined, { token }),
      await server().callBelow('/api/frontend')('DELETE', '', undefined, { token }),
    ];
    assert.deepEqual(
      responses.map(({ status }) => status),
      [200, 401, 400, 404, 405],
    );
    for (const { headers } of responses) {
      assert.equal(headers.get('access-control-allow-origin'), '*');
      assert.equal(headers.get('access-control-expose-headers'), 'ETag, X-Request-Id');
      assert.match(headers.get('vary') ?? '', /\bOrigin\b/);
    }
    const admin = await server().call('GET', '/projects');
    assert.equal(admin.headers.get('access-control-allow-origin'), null);
  });

  it('get no header names repeated that could not be sent', async () => {
    const preflight = await fetch(`${server().origin}/api/frontend`, {
      method: 'OPTIONS',
      headers: { 'access-control-request-headers': 'é' },
    });
    assert.deepEqual([preflight.status, preflight.headers.get('access-control-allow-headers')], [204, null]);
  });
});

it('pages of other origins than those that were named may not read the flags', async (t) => {
  const running = await serverFor(t, {
    env: { UNLEASH_FRONTEND_API_ORIGINS: 'https://shop.example, https://other.example' },
  });

  const allowed = async (origin: string, method = 'GET') => {
    const { headers } = await fetch(`${running.origin}/api/frontend`, { method, headers: { origin } });
    assert.match(headers.get('vary') ?? '', /\bOrigin\b/);
    return headers.get('access-control-allow-origin');
  };
  for (const method of ['GET', 'OPTIONS']) {
    assert.equal(await allowed('https://other.example', method), 'https://other.example');
    assert.equal(await allowed('https://evil.example', method), null);
  }
});
