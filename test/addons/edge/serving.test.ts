/** SDKs, unmodified, pointed at an edge in front of a Flagstaff: they see what the upstream has, and the upstream sees them. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, before, describe, it } from 'node:test';
import { OFREPProvider } from '@openfeature/ofrep-provider';
import { InMemStorageProvider, Unleash, type UnleashConfig } from 'unleash-client';
import { UnleashClient } from 'unleash-proxy-client';
import { addToken, makeFlagWithVariants, makeRunningFlag } from '../../support/applications.ts';
import { environmentPath } from '../../support/interface.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { documents, edgeFor, flag, startEdge, stubFor, type TestEdge, until } from './edges.ts';

const ENVIRONMENT = 'development';

const MODES: Readonly<Record<string, NonNullable<UnleashConfig['experimentalMode']>>> = {
  polling: { type: 'polling', format: 'full' },
  delta: { type: 'polling', format: 'delta' },
  streaming: { type: 'streaming' },
};

describe('an edge in front of a Flagstaff', () => {
  let server: TestServer;
  let edge: TestEdge;
  let client: string;
  let frontend: string;

  before(async () => {
    server = await startTestServer();
    const segment = await server.call('POST', '/segments', {
      name: 'people',
      constraints: [{ contextName: 'userId', operator: 'IN', values: ['ada'] }],
    });
    await makeRunningFlag(server.call, 'for-ada', { name: 'default', segments: [segment.body.id] });
    await makeFlagWithVariants(server.call, 'with-variants', [
      { name: 'only', weight: 1000, payload: { type: 'string', value: 'compact' } },
    ]);
    client = await addToken(server, { type: 'client', environment: ENVIRONMENT });
    frontend = await addToken(server, { type: 'frontend', environment: ENVIRONMENT });
    edge = await startEdge({ 'upstream-url': server.origin, tokens: client });
  });
  after(async () => {
    await edge.stop();
    await server.stop();
  });

  it('the document is that of the upstream, byte for byte, under the same tag', async () => {
    for (const spec of ['', '5.2.0']) {
      const headers = { 'unleash-client-spec': spec };
      const ask = (from: Pick<TestServer, 'callBelow'>['callBelow']) =>
        from('/api/client')('GET', '/features', undefined, { token: client, headers });
      const theirs = await ask(server.callBelow);
      const ours = await ask(edge.call);
      assert.deepEqual(ours.body, theirs.body);
      assert.equal(ours.headers.get('etag'), theirs.headers.get('etag'));
      assert.equal(ours.headers.get('flagstaff-age-ms'), '0');
      const tag = { ...headers, 'if-none-match': ours.headers.get('etag') ?? '' };
      const again = await edge.call('/api/client')('GET', '/features', undefined, {
        token: client,
        headers: tag,
      });
      assert.equal(again.status, 304);
    }
  });

  it('what else there is to read is that of the upstream', async () => {
    const paths: readonly (readonly [prefix: string, path: string, token: string])[] = [
      ['/api/client', '/features/for-ada', client],
      ['/api/client', '/features?namePrefix=with', client],
      ['/api/client', '/delta', client],
      ['/api/frontend', '?userId=ada&sessionId=1', frontend],
    ];
    for (const [prefix, path, token] of paths) {
      const theirs = await server.callBelow(prefix)('GET', path, undefined, { token });
      const ours = await edge.call(prefix)('GET', path, undefined, { token });
      assert.deepEqual([ours.status, ours.body], [theirs.status, theirs.body], prefix + path);
    }
  });

  it('has the paths that Unleash Edge has beside those of a server', async () => {
    const ask = async (path: string) =>
      (await edge.call('/api')('GET', path, undefined, { token: frontend })).body;
    assert.deepEqual((await ask('/proxy?userId=ada')).toggles, (await ask('/frontend?userId=ada')).toggles);
    const names = (await ask('/frontend/all?userId=eve')).toggles.map((one: { name: string }) => one.name);
    assert.deepEqual(names, ['for-ada', 'with-variants']);
    const one = await ask('/frontend/features/for-ada?userId=eve');
    assert.deepEqual([one.name, one.enabled, one.impression_data], ['for-ada', false, false]);
    const posted = await edge.call('/api/client')('POST', '/features', {}, { token: client });
    assert.equal(posted.body.features.length, 2);
  });

  it('has no administrative interface, and says where it is', async () => {
    const { status, body } = await edge.call('/api/admin')('GET', '/projects', undefined, { token: client });
    assert.equal(status, 404);
    assert.match(body.message, /--upstream-url/);
  });

  for (const [mode, experimentalMode] of Object.entries(MODES)) {
    it(`unleash-client becomes ready and sees each change, ${mode}`, async () => {
      const sdk = new Unleash({
        url: `${edge.origin}/api/`,
        appName: `sdk-${mode}`,
        refreshInterval: 20,
        disableMetrics: true,
        customHeaders: { Authorization: client },
        skipInstanceCountWarning: true,
        storageProvider: new InMemStorageProvider(),
        experimentalMode,
      });
      const errors: unknown[] = [];
      sdk.on('error', (error) => errors.push(error));
      await once(sdk, 'synchronized');
      const isOn = (userId: string): boolean => sdk.isEnabled('for-ada', { userId });
      assert.deepEqual([isOn('ada'), isOn('eve')], [true, false]);
      for (const state of ['off', 'on']) {
        const changed = once(sdk, 'changed');
        await server.call('POST', `${environmentPath('for-ada')}/${state}`);
        await changed;
        assert.equal(isOn('ada'), state === 'on');
      }
      sdk.destroy();
      assert.deepEqual(errors, []);
    });
  }

  it('unleash-proxy-client reads evaluated flags', async () => {
    const sdk = new UnleashClient({
      ...{ url: `${edge.origin}/api/frontend`, clientKey: frontend, appName: 'shop' },
      ...{ disableRefresh: true, disableMetrics: true, context: { userId: 'ada' } },
    });
    const errors: unknown[] = [];
    sdk.on('error', (error: unknown) => errors.push(error));
    await sdk.start();
    assert.equal(sdk.isEnabled('for-ada'), true);
    assert.equal(sdk.getVariant('with-variants').payload?.value, 'compact');
    sdk.stop();
    assert.deepEqual(errors, []);
  });

  it('the OFREP provider evaluates', async () => {
    const provider = new OFREPProvider({ baseUrl: edge.origin, headers: [['Authorization', client]] });
    const context = { targetingKey: 'ada' };
    const { value } = await provider.resolveBooleanEvaluation('for-ada', false, context);
    assert.equal(value, true);
  });

  it('what applications report reaches the upstream, summed and with the applications', async () => {
    const now = new Date().toISOString();
    const bucket = (yes: number) => ({
      appName: 'shop',
      bucket: { start: now, stop: now, toggles: { 'for-ada': { yes, no: 1, variants: { blue: yes } } } },
    });
    const report = (yes: number) =>
      edge.call('/api/client')('POST', '/metrics', bucket(yes), { token: client });
    assert.deepEqual([(await report(3)).status, (await report(4)).status], [202, 202]);
    await edge.edge.sendReports();
    await edge.edge.sendReports();
    const { body } = await server.call('GET', '/client-metrics/features/for-ada');
    assert.deepEqual([body.lastHourUsage[0].yes, body.lastHourUsage[0].no], [7, 2]);
    assert.ok(body.seenApplications.includes('shop'));
  });

  it('a token that is new is asked for at its first request, and one that is revoked is refused, with its streams ended', async () => {
    const made = await server.call('POST', '/api-tokens', {
      ...{ tokenName: 'late', type: 'client', environment: 'production', projects: ['default'] },
    });
    const { secret } = made.body;
    const read = () => edge.call('/api/client')('GET', '/features', undefined, { token: secret });
    assert.equal((await read()).status, 200);
    const stream = await fetch(`${edge.origin}/api/client/streaming`, { headers: { authorization: secret } });
    const ended = stream.text();
    const [listed] = (await server.call('GET', '/api-tokens')).body.tokens.filter(
      (one: { tokenName: string }) => one.tokenName === 'late',
    );
    assert.equal((await server.call('DELETE', `/api-tokens/${listed.digest ?? listed.secret}`)).status, 200);
    await ended;
    await until(async () => (await read()).status === 401);
  });

  it('says of tokens what the upstream says of them', async () => {
    const asked = { tokens: [client, frontend, '*:development.unknown', 'nonsense'] };
    const of = async (call: TestServer['callBelow']) =>
      (await call('/edge')('POST', '/validate', asked, { token: null })).body.tokens;
    const theirs = await of(server.callBelow);
    assert.equal(theirs.length, 2);
    assert.deepEqual(await of(edge.call), theirs);
  });

  it('an edge behind it asks it for tokens and is fed by its stream', async (t) => {
    const behind = await edgeFor(t, { 'upstream-url': edge.origin, tokens: client });
    const { body } = await behind.call('/api/frontend')('GET', '?userId=ada', undefined, { token: frontend });
    assert.deepEqual(
      body.toggles.map((one: { name: string }) => one.name),
      ['for-ada', 'with-variants'],
    );
    assert.equal([...behind.edge.mirrors][0]?.feed.way, 'streaming');
  });

  it('a read can ask for the event of a change that was just made', async () => {
    const { headers } = await server.call('POST', `${environmentPath('for-ada')}/off`);
    const eventId = headers.get('flagstaff-event-id') ?? '';
    assert.match(eventId, /^[0-9]+$/);
    const asked = { token: client, headers: { 'flagstaff-at-least': eventId } };
    const { body } = await edge.call('/api/client')('GET', '/features/for-ada', undefined, asked);
    assert.equal(body.enabled, false);
    await server.call('POST', `${environmentPath('for-ada')}/on`);
  });

  it('a token of another kind gets 403, and one that nobody knows 401', async () => {
    const ask = async (path: string, token: string) =>
      (await edge.call('/api')('GET', path, undefined, { token })).status;
    assert.equal(await ask('/client/features', frontend), 403);
    assert.equal(await ask('/frontend', client), 403);
    assert.equal(await ask('/frontend', '*:development.unknown'), 401);
  });
});

describe('an edge in front of an Unleash', () => {
  it('tokens of two environments get the flags of their own', async (t) => {
    const environmentOf = (token = '') => /^\*:([a-z]+)\./.exec(token)?.[1] ?? 'none';
    const upstream = await stubFor(t, (request, response) => {
      const name = `in-${environmentOf(request.headers.authorization)}`;
      documents(() => ({ features: [flag(name)] }))(request, response);
    });
    const tokens = ['*:development.client-one', '*:production.client-two'];
    const edge = await edgeFor(t, { 'upstream-url': upstream.origin, tokens: tokens.join(',') });
    for (const token of tokens) {
      const { body } = await edge.call('/api/client')('GET', '/features', undefined, { token });
      const names = body.features.map(({ name }: { name: string }) => name);
      assert.deepEqual(names, [`in-${environmentOf(token)}`]);
    }
    const environments = [...edge.edge.mirrors].map(({ served }) => served.mirror.environment);
    assert.deepEqual(environments, ['development', 'production']);
  });
});
