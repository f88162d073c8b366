/**
 * The calls of Unleash Edge in the order in which it makes them, with its headers and bodies, and decoded as strictly as Edge does.
 * The program itself is in no registry of packages that this project uses.
 */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import * as v from 'valibot';
import { addToken, makeFlagWithVariants, makeRunningFlag } from '../../support/applications.ts';
import { streamFor } from '../../support/event-stream.ts';
import { addStrategy, environmentPath, makeFlag } from '../../support/interface.ts';
import { describeInterface, type RequestOptions, type TestServer } from '../../support/server.ts';
import { Delta, EntityTag, Features, ValidatedTokens } from './edge-edge-types.ts';

const EDGE_HEADERS = {
  'user-agent': 'unleash-edge-20.1.7',
  'unleash-appname': 'unleash-edge',
  'unleash-instanceid': '01K9ZJ4Z3N8V6S6M2QF3J5C7XB',
  'unleash-connection-id': '01K9ZJ4Z3NQ2H0D8T5W7R9A1EC',
  'unleash-client-spec': '5.2.0',
};

/** Flags with everything that an SDK can get. */
async function prepare({ call }: TestServer): Promise<void> {
  const constraints = [
    { contextName: 'region', operator: 'IN', values: ['eu'], inverted: true },
    { contextName: 'age', operator: 'NUM_GTE', value: '18' },
    { contextName: 'address', operator: 'IN_CIDR', values: ['10.0.0.0/8'] },
  ];
  const segment = await call('POST', '/segments', { name: 'grown-ups', constraints });
  await makeRunningFlag(call, 'rolled-out', {
    name: 'flexibleRollout',
    parameters: { rollout: 25, stickiness: 'default', groupId: 'g' },
    constraints,
    segments: [segment.body.id],
    variants: [{ name: 'blue', weight: 1000, weightType: 'variable', stickiness: 'default' }],
  });
  const payload = { type: 'json', value: '{"a":1}' };
  await makeFlagWithVariants(call, 'with-variants', [
    { name: 'a', weight: 500, payload },
    { name: 'b', weight: 500, overrides: [{ contextName: 'userId', values: ['1'] }] },
  ]);
  await makeFlag(call, 'child', { description: null });
  await call('POST', '/projects/default/features/child/dependencies', { feature: 'rolled-out' });
  await addStrategy(call, 'child', { disabled: true });
}

describeInterface('Unleash Edge', (server) => {
  const get = (path: string, options: RequestOptions) =>
    server().callBelow('/api/client')('GET', path, undefined, {
      ...options,
      headers: { ...EDGE_HEADERS, ...options.headers },
    });
  const post = (path: string, body: unknown, token: string | null) =>
    server().callBelow('')('POST', path, body, { token, headers: EDGE_HEADERS });

  it('starts, polls, reports, and shows what it reported', async () => {
    await prepare(server());
    const token = await addToken(server(), { type: 'client', environment: 'development' });
    const page = await addToken(server(), { type: 'frontend', environment: 'development' });
    const validated = await post('/edge/validate', { tokens: [token, page, 'default:x.unknown'] }, null);
    assert.deepEqual(
      v.parse(ValidatedTokens, validated.body).tokens.map((one) => [one.token, one.environment]),
      [
        [token, 'development'],
        [page, 'development'],
      ],
    );
    const registered = await post(
      '/api/client/register',
      {
        appName: 'unleash-edge',
        connectVia: [],
        environment: 'development',
        projects: ['*'],
        instanceId: EDGE_HEADERS['unleash-instanceid'],
        connectionId: EDGE_HEADERS['unleash-connection-id'],
        interval: 15,
        started: '2026-11-21T10:00:00.123456789Z',
        strategies: [],
        sdkVersion: 'unleash-edge:20.1.7',
        sdkType: 'backend',
      },
      token,
    );
    assert.equal(registered.status, 202);
    const polled = await get('/features', { token });
    assert.equal(v.parse(Features, polled.body).features.length, 3);
    const etag = v.parse(EntityTag, polled.headers.get('etag'));
    assert.equal((await get('/features', { token, headers: { 'if-none-match': etag } })).status, 304);
    const bulk = await post(
      '/api/client/metrics/bulk',
      {
        applications: [
          {
            appName: 'shop',
            connectVia: [{ appName: 'unleash-edge', instanceId: EDGE_HEADERS['unleash-instanceid'] }],
            environment: 'development',
            instanceId: 'shop-1',
            interval: 15,
            started: '2026-11-21T10:00:00Z',
            strategies: ['default'],
            sdkVersion: 'unleash-js-sdk:3.8.2',
            sdkType: 'frontend',
            projects: ['*'],
          },
        ],
        metrics: [
          {
            featureName: 'rolled-out',
            appName: 'shop',
            environment: 'development',
            timestamp: new Date().toISOString(),
            yes: 2,
            no: 1,
            variants: { blue: 2 },
          },
        ],
        impactMetrics: [],
        seenTokens: [page],
      },
      token,
    );
    assert.equal(bulk.status, 202);
    const instance = { identifier: 'edge', appName: 'unleash-edge', traffic: {}, connectedEdges: [] };
    assert.equal((await post('/api/client/metrics/edge', instance, token)).status, 202);
    const { data } = (await server().call('GET', '/client-metrics/features/rolled-out/raw')).body;
    assert.deepEqual([data[0].appName, data[0].yes, data[0].no], ['shop', 2, 1]);
  });

  it('follows changes by delta, with ids that it reads as numbers', async () => {
    const token = await addToken(server(), { type: 'client', environment: 'development' });
    const first = await get('/delta', { token });
    const [hydration] = v.parse(Delta, first.body).events;
    const etag = v.parse(EntityTag, first.headers.get('etag'));
    assert.equal(etag, `"${hydration?.eventId}"`);
    assert.equal((await get('/delta', { token, headers: { 'if-none-match': etag } })).status, 304);
    await server().call('POST', `${environmentPath('rolled-out')}/off`);
    await server().call('DELETE', '/projects/default/features/with-variants');
    const changed = await get('/delta', { token, headers: { 'if-none-match': etag } });
    assert.deepEqual(
      v.parse(Delta, changed.body).events.map(({ type }) => type),
      ['feature-updated', 'feature-removed'],
    );
  });

  it('streams, and comes back with the id that it saw last', async (t) => {
    const token = await addToken(server(), { type: 'client', environment: 'development' });
    const first = await streamFor(t, server().origin, '/api/client/streaming', {
      token,
      headers: EDGE_HEADERS,
    });
    const connected = await first.next();
    assert.equal(connected.event, 'unleash-connected');
    v.parse(Delta, connected.data);
    first.close();
    await server().call('POST', `${environmentPath('rolled-out')}/on`);
    const again = await streamFor(t, server().origin, '/api/client/streaming', {
      token,
      headers: { ...EDGE_HEADERS, 'last-event-id': connected.id },
    });
    const missed = v.parse(Delta, (await again.next()).data).events;
    assert.deepEqual(
      missed.map(({ type }) => type),
      ['feature-updated'],
    );
  });

  it('loses a token that is deleted, and is told that there is no licence here', async () => {
    const token = await addToken(server(), { type: 'client', environment: 'development' });
    await server().call('DELETE', `/api-tokens/${token}`);
    assert.equal((await get('/features', { token })).status, 401);
    assert.deepEqual((await post('/edge/validate', { tokens: [token] }, null)).body, { tokens: [] });
    const page = await addToken(server(), { type: 'frontend', environment: 'development' });
    assert.equal((await get('/features', { token: page })).status, 403);
    const heartbeat = '/api/client/edge-licensing/heartbeat?connectionId=1';
    for (const path of [heartbeat, '/edge/issue-token']) {
      assert.equal((await post(path, {}, page)).status, 404, path);
    }
  });
});
