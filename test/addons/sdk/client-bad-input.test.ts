/** Wrong requests of applications: each is refused in words of its surface, and costs nothing that was there before. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import '../../support/check-responses.ts';
import { addToken, makeRunningFlag } from '../../support/applications.ts';
import { describeInterface, type ReceivedResponse, type RequestOptions } from '../../support/server.ts';

const BUCKET_HOUR = () => ({ start: new Date().toISOString(), stop: new Date().toISOString() });

describeInterface('bad input of applications', (server) => {
  const newToken = (type: string, fields: object = {}) =>
    addToken(server(), { type, environment: 'development', ...fields });
  const ask = (
    method: string,
    path: string,
    token: string,
    body?: unknown,
    options: RequestOptions = {},
  ): Promise<ReceivedResponse> => server().callBelow('')(method, path, body, { token, ...options });
  const counted = async (flag: string): Promise<number> => {
    const { body } = await server().call('GET', `/client-metrics/features/${flag}/raw`);
    return body.data.reduce((sum: number, { yes }: { yes: number }) => sum + yes, 0);
  };

  it('a malformed context is refused by each surface that evaluates, and the next good one is evaluated', async () => {
    await makeRunningFlag(server().call, 'on');
    const token = await newToken('frontend');
    for (const [path, code] of [
      ['/api/frontend', undefined],
      ['/ofrep/v1/evaluate/flags', 'INVALID_CONTEXT'],
      ['/ofrep/v1/evaluate/flags/on', 'INVALID_CONTEXT'],
    ] as const) {
      for (const context of [[], 'x', { properties: 1 }, { p: 'x'.repeat(17_000) }]) {
        const refused = await ask('POST', path, token, { context });
        assert.deepEqual([refused.status, refused.body.errorCode], [400, code], path);
      }
      for (const body of ['{"context":', '', '[]', 'null']) {
        const refused = await ask('POST', path, token, body);
        const isEmptyContext = body === '' && path === '/api/frontend';
        assert.equal(refused.status, isEmptyContext ? 200 : 400, `${path} ${body}`);
      }
      assert.equal((await ask('POST', path, token, { context: { userId: 'ada' } })).status, 200);
    }
  });

  it('a token of another environment gets that environment, whatever the request names', async () => {
    await makeRunningFlag(server().call, 'in-development');
    const client = await newToken('client', { environment: 'production' });
    const { body } = await ask('GET', '/api/client/features?environment=development', client);
    assert.equal(body.query.environment, 'production');
    const flag = body.features.find(({ name }: { name: string }) => name === 'in-development');
    assert.equal(flag.enabled, false);
    const page = await newToken('frontend', { environment: 'production' });
    const toggles = await ask('GET', '/api/frontend?environment=development', page);
    assert.deepEqual(toggles.body.toggles, []);
    const context = { environment: 'development' };
    const evaluated = await ask('POST', '/ofrep/v1/evaluate/flags/in-development', page, { context });
    assert.equal(evaluated.body.value, false);
    const toggle = { 'in-development': { yes: 1, no: 0 } };
    const report = {
      appName: 'shop',
      environment: 'development',
      bucket: { ...BUCKET_HOUR(), toggles: toggle },
    };
    assert.equal((await ask('POST', '/api/client/metrics', client, report)).status, 202);
    const usage = await server().call('GET', '/client-metrics/features/in-development/raw');
    assert.deepEqual(
      usage.body.data.map(({ environment }: { environment: string }) => environment),
      ['production'],
    );
  });

  it('a token for an environment that does not exist, or for all of them, cannot be made', async () => {
    for (const type of ['client', 'backend', 'frontend']) {
      for (const environment of ['*', 'nowhere']) {
        const body = { type, tokenName: 'wrong', environment };
        const refused = await server().call('POST', '/api-tokens', body);
        assert.deepEqual([refused.status, refused.body.details[0].path], [400, '/body/environment']);
        assert.match(refused.body.message, /development, production/);
      }
    }
  });

  it('an unknown flag is not found where it is asked for, and dropped where it is counted', async () => {
    await makeRunningFlag(server().call, 'known');
    const client = await newToken('client');
    const one = await ask('GET', '/api/client/features/unknown', client);
    assert.deepEqual([one.status, one.body.name], [404, 'NotFoundError']);
    const evaluated = await ask('POST', '/ofrep/v1/evaluate/flags/unknown', client, {});
    assert.deepEqual(
      [evaluated.status, evaluated.body.key, evaluated.body.errorCode],
      [404, 'unknown', 'FLAG_NOT_FOUND'],
    );
    const toggles = { unknown: { yes: 5, no: 0 }, known: { yes: 2, no: 0 } };
    const report = { appName: 'shop', bucket: { ...BUCKET_HOUR(), toggles } };
    assert.equal((await ask('POST', '/api/client/metrics', client, report)).status, 202);
    assert.deepEqual([await counted('unknown'), await counted('known')], [0, 2]);
    for (const path of ['/api/frontend/all', '/api/frontend/features/known', '/api/proxy']) {
      // Unleash Edge has the first two; like Unleash, this server has none of them.
      const response = await fetch(`${server().origin}${path}`, {
        headers: { authorization: await newToken('frontend') },
      });
      assert.equal(response.status, 404, path);
    }
  });

  it('reports that are too large are refused whole, and counts stay as they were', async () => {
    await makeRunningFlag(server().call, 'counted');
    const large = { counted: { yes: 1, no: 0 }, ['x'.repeat(2 ** 20)]: { yes: 1, no: 0 } };
    const small = { counted: { yes: 1, no: 0 } };
    for (const [type, path, accepted] of [
      ['client', '/api/client/metrics', 202],
      ['frontend', '/api/frontend/client/metrics', 200],
    ] as const) {
      const token = await newToken(type);
      const before = await counted('counted');
      const send = async (toggles: object) => {
        const body = JSON.stringify({ appName: 'shop', bucket: { ...BUCKET_HOUR(), toggles } });
        const headers = { authorization: token, 'content-type': 'application/json' };
        const response = await fetch(`${server().origin}${path}`, { method: 'POST', headers, body });
        await response.text();
        return response.status;
      };
      assert.equal(await send(large), 413, path);
      assert.equal(await counted('counted'), before);
      assert.equal(await send(small), accepted);
      assert.equal(await counted('counted'), before + 1);
    }
  });

  it('query parameters that nobody knows are ignored, and HEAD gets the head of GET', async () => {
    const client = await newToken('client');
    const path = '/api/client/features';
    const plain = await ask('GET', path, client);
    const asked = await ask('GET', `${path}?appName=shop&instanceId=1&unknown=%E2%82%AC`, client);
    assert.deepEqual([asked.status, asked.body], [200, plain.body]);
    const head = await ask('HEAD', path, client);
    assert.deepEqual([head.status, head.body], [200, undefined]);
    assert.equal(head.headers.get('etag'), asked.headers.get('etag'));
  });
});
