/** Around what an edge serves, over both HTTP engines: paths, headers, pages of other origins, proxies, and what operators ask. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import type { EdgeOptions } from '../../../src/addons/edge/edge.ts';
import type { GivenOptions } from '../../../src/addons/edge/settings.ts';
import {
  CLIENT,
  documents,
  edgeFor,
  FRONTEND,
  flag,
  type StubUpstream,
  startEdge,
  startStub,
  type TestEdge,
  until,
} from './edges.ts';

const PAGE = 'https://shop.example';

/** The paths behind the switch of each page. */
const SWITCHED_OFF = [
  ['metrics', 'metrics'],
  ['metrics', 'prometheus'],
  ['metrics-batch', 'metricsbatch'],
  ['features', 'features'],
  ['tokens', 'tokens'],
  ['instance-data', 'instancedata'],
] as const;

describe('around what an edge serves', () => {
  let upstream: StubUpstream;
  let edge: TestEdge | null;
  let nowMs: number;

  beforeEach(async () => {
    [edge, nowMs] = [null, 0];
    upstream = await startStub(documents(() => ({ features: [flag('a')] })));
  });
  afterEach(async () => {
    await edge?.stop();
    await upstream.close();
  });

  const start = async (
    options: GivenOptions = {},
    more: Pick<EdgeOptions, 'monotonicMs'> = {},
  ): Promise<TestEdge> => {
    const given = { 'upstream-url': upstream.origin, tokens: `${CLIENT},${FRONTEND}`, ...options };
    edge = await startEdge(given, { now: () => nowMs, ...more });
    return edge;
  };
  const ask = async (path: string, headers: Readonly<Record<string, string>> = {}, method = 'GET') =>
    fetch(`${edge?.origin}${path}`, { method, headers });

  it('responds below --base-path alone, and reads an upstream below a path', async (t) => {
    await start({ 'base-path': '/flags/' });
    const authorization = CLIENT;
    for (const [path, status] of [
      ['/flags/api/client/features', 200],
      ['/api/client/features', 404],
      ['/flags/internal-backstage/ready', 200],
      ['/flags/api/admin/projects', 404],
    ] as const)
      assert.equal((await ask(path, { authorization })).status, status, path);
    const asked = JSON.stringify({ tokens: [CLIENT] });
    const validated = await fetch(`${edge?.origin}/flags/edge/validate`, {
      ...{ method: 'POST', body: asked, headers: { 'content-type': 'application/json' } },
    });
    assert.equal(((await validated.json()) as { tokens: unknown[] }).tokens.length, 1);
    const front = edge as TestEdge;
    const behind = await edgeFor(t, { 'upstream-url': `${front.origin}/flags`, tokens: CLIENT });
    const read = await behind.call('/api/client')('GET', '/features', undefined, { token: CLIENT });
    assert.equal(read.body.features[0].name, 'a');
  });

  for (const [option, more] of [
    ['token-header', {}],
    ['edge-auth-header', {}],
  ] as const)
    it(`takes tokens in the header that --${option} names, and in no other`, async () => {
      await start({ [option]: 'X-Flag-Token', ...more });
      const client = '/api/client/features';
      assert.equal((await ask(client, { 'x-flag-token': CLIENT })).status, 200);
      assert.equal((await ask(client, { authorization: CLIENT })).status, 401);
      const late = '*:production.client-late';
      assert.equal((await ask(client, { 'x-flag-token': late })).status, 200);
      const report = await fetch(`${edge?.origin}/api/client/metrics`, {
        method: 'POST',
        headers: { 'x-flag-token': CLIENT, 'content-type': 'application/json' },
        body: JSON.stringify({ appName: 'shop', bucket: { start: 0, stop: 0, toggles: {} } }),
      });
      assert.notEqual(report.status, 401);
    });

  it('sends tokens in the header that --upstream-auth-header names', async () => {
    await start({ 'upstream-auth-header': 'X-Upstream-Token' });
    const asked = upstream.received.filter(({ path }) => path === '/api/client/features');
    assert.ok(asked.length > 0);
    for (const { headers } of asked)
      assert.deepEqual([headers['x-upstream-token'], headers.authorization], [CLIENT, undefined]);
  });

  it('lets pages of --cors-origin read all responses of the frontend API, refusals too, and no others', async () => {
    await start({ 'cors-origin': `${PAGE},https://other.example` });
    const origin = PAGE;
    const preflight = await ask(
      '/api/frontend?userId=1',
      { origin, 'access-control-request-method': 'GET', 'access-control-request-headers': 'authorization' },
      'OPTIONS',
    );
    assert.equal(preflight.status, 204);
    assert.equal(preflight.headers.get('access-control-allow-headers'), 'authorization');
    const unknown = '[]:production.frontend-x';
    for (const [path, authorization, status] of [
      ['/api/frontend', FRONTEND, 200],
      ['/api/proxy', FRONTEND, 200],
      ['/api/frontend', 'nonsense', 401],
      // No client token has brought the flags of its environment.
      ['/api/frontend', unknown, 503],
    ] as const) {
      const response = await ask(path, { origin, authorization });
      assert.equal(response.status, status, path);
      assert.equal(response.headers.get('access-control-allow-origin'), origin, `${path} ${status}`);
      await response.text();
    }
    const foreign = await ask('/api/frontend', { origin: 'https://evil.example', authorization: FRONTEND });
    assert.equal(foreign.headers.get('access-control-allow-origin'), null);
    const client = await ask('/api/client/features', { origin, authorization: CLIENT });
    assert.equal(client.headers.get('access-control-allow-origin'), null);
  });

  it('lets every page read unless --cors-origin says otherwise', async () => {
    await start();
    const { headers } = await ask('/api/frontend', { origin: PAGE, authorization: FRONTEND });
    assert.equal(headers.get('access-control-allow-origin'), '*');
  });

  it('says with each response how old the flags are, in its metrics and in its health', async () => {
    await start({ 'features-refresh-interval-seconds': '86400' });
    nowMs += 90_500;
    for (const [path, authorization] of [
      ['/api/client/features', CLIENT],
      ['/api/frontend?userId=1', FRONTEND],
      ['/api/client/features/nonsense', CLIENT],
    ] as const) {
      const response = await ask(path, { authorization });
      assert.equal(response.headers.get('flagstaff-age-ms'), '90500', path);
      await response.text();
    }
    const metrics = await (await ask('/internal-backstage/metrics')).text();
    assert.match(metrics, /^flagstaff_edge_age_seconds\{environment="development"\} 90\.5$/m);
    const health = (await (await ask('/internal-backstage/health')).json()) as Health;
    assert.deepEqual([health.status, health.environments[0]?.ageMs], ['OK', 90_500]);
  });

  it('tells operators what it has, and no secret', async () => {
    await start({ 'app-name': 'the-edge', 'instance-id': 'number-1' });
    const report = { appName: 'shop', bucket: { start: 0, stop: 0, toggles: { a: { yes: 1, no: 2 } } } };
    const sent = await edge?.call('/api/client')('POST', '/metrics', report, { token: CLIENT });
    assert.equal(sent?.status, 202);
    const pages = new Map<string, string>();
    for (const page of ['health', 'ready', ...SWITCHED_OFF.map(([, path]) => path)]) {
      const response = await ask(`/internal-backstage/${page}`);
      assert.equal(response.status, 200, page);
      pages.set(page, await response.text());
    }
    for (const [page, text] of pages) assert.doesNotMatch(text, /secret/, page);
    const json = (page: string) => JSON.parse(pages.get(page) ?? '');
    assert.deepEqual(json('ready'), { status: 'READY' });
    const [environment] = json('features').environments;
    const { environment: name, projects, flags, way } = environment;
    assert.deepEqual([name, projects, flags, way], ['development', ['*'], 1, 'polling']);
    const kinds = json('tokens').tokens.map((one: { type: string }) => one.type);
    assert.deepEqual(new Set(kinds), new Set(['client', 'frontend']));
    const [count] = json('metricsbatch').reports;
    assert.deepEqual([count.featureName, count.appName, count.yes, count.no], ['a', 'shop', 1, 2]);
    const { identifier, appName, started } = json('instancedata');
    assert.deepEqual([identifier, appName, started], ['number-1', 'the-edge', '1970-01-01T00:00:00.000Z']);
    assert.match(pages.get('prometheus') ?? '', /^flagstaff_edge_tokens 2$/m);
    for (const path of ['/health', '/ready']) assert.equal((await ask(path)).status, 200, path);
  });

  it('has no page that is switched off', async () => {
    const switches = [...new Set(SWITCHED_OFF.map(([name]) => name))];
    await start(Object.fromEntries([...switches, 'all'].map((name) => [`disable-${name}-endpoint`, true])));
    for (const [, page] of SWITCHED_OFF)
      assert.equal((await ask(`/internal-backstage/${page}`)).status, 404, page);
    assert.equal((await ask('/internal-backstage/health')).status, 200);
    assert.equal((await ask('/api/frontend/all', { authorization: FRONTEND })).status, 404);
    assert.equal((await ask('/api/frontend', { authorization: FRONTEND })).status, 200);
  });

  it('makes what anybody may ask for seldom, or of few things', async () => {
    await start({}, { monotonicMs: () => 0 });
    const tokens = Array.from({ length: 500 }, (_, at) => `*:development.client-${at}`);
    assert.equal((await edge?.call('/edge')('POST', '/validate', { tokens }, { token: null }))?.status, 200);
    const page = (await (await ask('/internal-backstage/tokens')).json()) as KnownTokens;
    assert.equal(page.known, tokens.length + 2);
    assert.equal(page.tokens.length, 200);
    const metrics = async () => (await ask('/internal-backstage/metrics')).text();
    assert.equal(await metrics(), await metrics(), 'the same page within a second');
  });

  it('counts what it responds to, and ends streams when it stops', async () => {
    const { origin } = await start();
    for (let asked = 0; asked < 3; asked += 1)
      await (await ask('/api/client/features', { authorization: CLIENT })).text();
    const metrics = await (await ask('/internal-backstage/prometheus')).text();
    assert.match(
      metrics,
      /^flagstaff_edge_requests_total\{method="GET",route="\/api\/client\/features",status="200"\} 3$/m,
    );
    const stream = await fetch(`${origin}/api/client/streaming`, { headers: { authorization: CLIENT } });
    assert.equal(stream.headers.get('flagstaff-age-ms'), '0');
    const ended = stream.text().catch(() => '');
    const asked = (await (await ask('/internal-backstage/instancedata')).json()) as Instance;
    assert.equal(asked.connectedStreamingClients, 1);
    await edge?.stop();
    edge = null;
    await ended;
    await until(async () =>
      fetch(origin).then(
        () => false,
        () => true,
      ),
    );
  });
});

interface Health {
  readonly status: string;
  readonly environments: readonly { readonly ageMs: number }[];
}

interface KnownTokens {
  readonly known: number;
  readonly tokens: readonly object[];
}

interface Instance {
  readonly connectedStreamingClients: number;
}
