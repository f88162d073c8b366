/** Reports of applications: taken from every SDK, shown to people, refused where it is malformed. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import '../../support/check-responses.ts';
import { addToken, makeRunningFlag } from '../../support/applications.ts';
import { describeInterface } from '../../support/server.ts';

const REGISTRATION = {
  appName: 'shop',
  instanceId: 'i-1',
  sdkVersion: 'unleash-node-sdk:6.12.1',
  strategies: ['default', 'byRegion'],
  started: '2026-01-01T00:00:00.000Z',
  interval: 15_000,
};

/** A bucket of the last minute. */
function bucketOf(toggles: object): object {
  const nowMs = Date.now();
  return { start: new Date(nowMs - 60_000).toISOString(), stop: new Date(nowMs).toISOString(), toggles };
}

const COUNTS = { yes: 3, no: 1, variants: { blue: 3, disabled: 1 } };

describeInterface('reports of applications', (server) => {
  const send = (path: string, token: string, body: unknown, headers: Record<string, string> = {}) =>
    fetch(`${server().origin}${path}`, {
      method: 'POST',
      headers: { authorization: token, 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
  const read = async (path: string) => {
    const { status, body } = await server().call('GET', path);
    assert.equal(status, 200, JSON.stringify(body));
    return body;
  };

  it('are counted by flag, application and hour, in the environment of the token, from servers and from pages', async () => {
    for (const [type, path, status, text] of [
      ['client', '/api/client', 202, ''],
      ['frontend', '/api/frontend/client', 200, 'OK'],
    ] as const) {
      const flag = `counted-${type}`;
      const app = `shop-${type}`;
      await makeRunningFlag(server().call, flag);
      const token = await addToken(server(), { type, environment: 'production' });
      const registered = await send(`${path}/register`, token, {
        ...REGISTRATION,
        appName: app,
        environment: 'other',
      });
      assert.deepEqual([registered.status, await registered.text()], [status, text]);
      for (let time = 0; time < 2; time += 1) {
        const reported = await send(`${path}/metrics`, token, {
          appName: app,
          bucket: bucketOf({ [flag]: COUNTS, 'no-such-flag': { yes: 0, no: 2 } }),
        });
        assert.deepEqual([reported.status, await reported.text()], [status, text]);
      }
      const { data } = await read(`/client-metrics/features/${flag}/raw`);
      const sum = data.reduce((total: number, one: { yes: number }) => total + one.yes, 0);
      assert.equal(sum, 6);
      const [{ timestamp, ...first }] = data;
      assert.equal(Date.parse(timestamp) % 3_600_000, 0);
      assert.deepEqual([first.featureName, first.appName, first.environment], [flag, app, 'production']);
      const days = (await read(`/client-metrics/features/${flag}/raw?hoursBack=49`)).data;
      assert.equal(
        days.reduce((total: number, one: { no: number }) => total + one.no, 0),
        2,
      );
      assert.deepEqual((await read(`/client-metrics/features/${flag}`)).seenApplications, [app]);
      const overview = await read(`/metrics/applications/${app}/overview`);
      assert.equal(overview.featureCount, 1);
      assert.deepEqual(overview.issues.missingStrategies, ['byRegion']);
      const [environment] = overview.environments;
      assert.deepEqual(
        [environment.name, environment.instanceCount, environment.issues.missingFeatures],
        ['production', 2, ['no-such-flag']],
      );
    }
  });

  it('show when a flag was last evaluated, in its environment alone, and change no precondition', async () => {
    await makeRunningFlag(server().call, 'seen');
    const token = await addToken(server(), { type: 'client', environment: 'development' });
    const path = '/projects/default/features/seen';
    const before = await server().call('GET', path);
    assert.equal(before.body.lastSeenAt, null);
    const beforeMs = Date.now();
    await send('/api/client/metrics', token, {
      appName: 'shop',
      bucket: bucketOf({ seen: { yes: 0, no: 0 } }),
    });
    assert.equal((await read(path)).lastSeenAt, null, 'a flag that was not evaluated was not seen');
    await send('/api/client/metrics', token, { appName: 'shop', bucket: bucketOf({ seen: COUNTS }) });
    const after = await server().call('GET', path);
    assert(Date.parse(after.body.lastSeenAt) >= beforeMs);
    assert.notEqual(after.headers.get('etag'), before.headers.get('etag'));
    assert.deepEqual(
      after.body.environments.map(({ name, lastSeenAt }: { name: string; lastSeenAt: string | null }) => [
        name,
        lastSeenAt,
      ]),
      [
        ['development', after.body.lastSeenAt],
        ['production', null],
      ],
    );
    const hour = (await read('/client-metrics/features/seen')).lastHourUsage;
    const expected = ['development', 'production'].map((name) => {
      const { yes, no } = hour.find((one: { environment: string }) => one.environment === name) ?? {
        yes: 0,
        no: 0,
      };
      return [name, yes, no];
    });
    const usedIn = ({ environments }: { environments: { name: string; yes: number; no: number }[] }) =>
      environments.map(({ name, yes, no }) => [name, yes, no]);
    assert.deepEqual(usedIn(after.body), expected, 'how often it was on and off in this hour');
    const [found] = (await read('/search/features?query=seen')).features;
    assert.deepEqual(usedIn(found), expected, 'the same in the search');
    const { features } = await read('/projects/default/features');
    const listed = features.find(({ name }: { name: string }) => name === 'seen');
    assert.equal(listed.lastSeenAt, after.body.lastSeenAt);
    const known = after.headers.get('etag') ?? '';
    const again = await server().call('GET', path, undefined, { headers: { 'if-none-match': known } });
    assert.equal(again.status, 304);
    const ifMatch = { headers: { 'if-match': before.headers.get('etag') ?? '' } };
    const changed = await server().call('PUT', path, { description: 'used' }, ifMatch);
    assert.deepEqual([changed.status, changed.body.lastSeenAt], [200, after.body.lastSeenAt]);
    assert.equal((await server().call('DELETE', path)).status, 202);
    const { features: archived } = await read('/archive/features');
    assert.equal(
      archived.find(({ name }: { name: string }) => name === 'seen').lastSeenAt,
      after.body.lastSeenAt,
      'also in the archive',
    );
  });

  it('list applications with their SDKs and instances', async () => {
    const token = await addToken(server(), {
      type: 'client',
      environment: 'development',
      projects: ['default'],
    });
    for (const instanceId of ['a', 'b'])
      await send('/api/client/register', token, { ...REGISTRATION, appName: 'listed', instanceId });
    const page = await addToken(server(), { type: 'frontend', environment: 'development' });
    const sdk = { 'unleash-sdk': 'unleash-js-sdk:3.8.2' };
    const bucket = bucketOf({});
    await send('/api/frontend/client/metrics', page, { appName: 'listed', bucket }, sdk);
    const { applications, total } = await read('/metrics/applications?query=LISTED');
    assert.equal(total, 1);
    assert.deepEqual(applications[0].usage, [
      { project: 'default', environments: ['development'] },
      { project: '*', environments: ['development'] },
    ]);
    const { instances } = await read('/metrics/instances/listed/environment/development');
    assert.deepEqual(instances.map(({ instanceId }: { instanceId: string }) => instanceId).sort(), [
      'a',
      'b',
      'default',
    ]);
    const { environments } = await read('/metrics/applications/listed/overview');
    const { sdks, frontendSdks, backendSdks } = environments[0];
    assert.deepEqual(
      [sdks, frontendSdks, backendSdks],
      [
        ['unleash-js-sdk:3.8.2', 'unleash-node-sdk:6.12.1'],
        ['unleash-js-sdk:3.8.2'],
        ['unleash-node-sdk:6.12.1'],
      ],
    );
    const ofProject = await read('/projects/default/applications?query=listed');
    assert.deepEqual(ofProject.applications[0].sdks, [
      { name: 'unleash-js-sdk', versions: ['3.8.2'] },
      { name: 'unleash-node-sdk', versions: ['6.12.1'] },
    ]);
    const { strategies } = await read('/metrics/applications/listed');
    assert.deepEqual(strategies[0], { name: 'byRegion', notFound: true });
  });

  it('name SDKs that are outdated, with the applications that use them, in all projects and in one', async () => {
    const token = await addToken(server(), {
      type: 'client',
      environment: 'development',
      projects: ['default'],
    });
    for (const [appName, sdkVersion] of [
      ['old-node', 'unleash-client-node:5.3.1'],
      ['older-node', 'unleash-client-node:5.3.1'],
      ['current-node', 'unleash-client-node:5.3.2'],
      ['other', 'own-sdk:0.0.1'],
      ['nameless', 'unleash-client-node'],
    ]) {
      await send('/api/client/register', token, { ...REGISTRATION, appName, sdkVersion });
    }
    const sdks = [{ sdkVersion: 'unleash-client-node:5.3.1', applications: ['old-node', 'older-node'] }];
    assert.deepEqual(await read('/projects/default/sdks/outdated'), { sdks });
    const { environments } = await read('/metrics/applications/old-node/overview');
    assert.deepEqual(environments[0].issues.outdatedSdks, ['unleash-client-node:5.3.1']);
    await server().call('POST', '/projects', { id: 'idle', name: 'Idle' });
    assert.deepEqual(await read('/projects/idle/sdks/outdated'), { sdks: [] });
    assert.equal((await server().call('GET', '/projects/none/sdks/outdated')).status, 404);
  });

  it('of Unleash Edge are those of the environment of its token, and tell which tokens are used', async () => {
    await makeRunningFlag(server().call, 'behind-edge');
    const token = await addToken(server(), { type: 'client', environment: 'development' });
    const page = await addToken(server(), {
      type: 'frontend',
      environment: 'development',
      tokenName: 'page behind Edge',
    });
    const metrics = ['development', 'production'].map((environment) => ({
      featureName: 'behind-edge',
      appName: 'edge-shop',
      environment,
      timestamp: new Date().toISOString(),
      yes: 1,
      no: 0,
      variants: {},
    }));
    const seenAt = async () => {
      const { tokens } = await read('/api-tokens');
      return tokens.find(({ tokenName }: { tokenName: string }) => tokenName === 'page behind Edge').seenAt;
    };
    assert.equal(await seenAt(), null);
    const { status } = await send('/api/client/metrics/bulk', token, {
      applications: [
        { ...REGISTRATION, appName: 'edge-shop', environment: 'development', sdkType: 'frontend' },
        { ...REGISTRATION, appName: 'edge-other', environment: 'production' },
      ],
      metrics,
      seenTokens: [page, 'default:development.unknown'],
    });
    assert.equal(status, 202);
    assert.notEqual(await seenAt(), null);
    const { data } = await read('/client-metrics/features/behind-edge/raw');
    assert.deepEqual(
      data.map((one: { environment: string; yes: number }) => [one.environment, one.yes]),
      [['development', 1]],
    );
    assert.equal((await server().call('GET', '/metrics/applications/edge-other')).status, 404);
  });

  it('of pages behind an edge count as those of pages, also in a bulk without their application', async () => {
    await makeRunningFlag(server().call, 'on-pages');
    const token = await addToken(server(), { type: 'client', environment: 'development' });
    const who = { appName: 'page', environment: 'development', timestamp: new Date().toISOString() };
    const metrics = [{ ...who, featureName: 'on-pages', yes: 1, no: 0, sdkType: 'frontend' }];
    const application = { ...REGISTRATION, appName: 'page', environment: 'development', sdkType: 'frontend' };
    for (const applications of [[application], []])
      await send('/api/client/metrics/bulk', token, { applications, metrics });
    const { data } = await read('/client-metrics/features/on-pages/raw');
    assert.deepEqual(
      data.map((one: { yes: number }) => one.yes),
      [2],
      'counts of servers would be listed beside those of pages',
    );
  });

  it('of many flags are counted whole by the time they are acknowledged', async () => {
    const names = Array.from({ length: 60 }, (_, at) => `of-many-${at}`);
    for (const name of names) await server().call('POST', '/projects/default/features', { name });
    const token = await addToken(server(), { type: 'client', environment: 'development' });
    const toggles = Object.fromEntries(names.map((name) => [name, COUNTS]));
    const { status } = await send('/api/client/metrics', token, {
      appName: 'many',
      bucket: bucketOf(toggles),
    });
    assert.equal(status, 202);
    for (const name of names) {
      const { data } = await read(`/client-metrics/features/${name}/raw`);
      assert.deepEqual(
        data.map((one: { yes: number; no: number; variants: object }) => [one.yes, one.no, one.variants]),
        [[COUNTS.yes, COUNTS.no, COUNTS.variants]],
        name,
      );
    }
  });

  it('count flags only that the token covers', async () => {
    await server().call('POST', '/projects', { id: 'covered', name: 'Covered' });
    await makeRunningFlag(server().call, 'uncovered');
    const token = await addToken(server(), {
      type: 'frontend',
      environment: 'development',
      projects: ['covered'],
    });
    const bucket = bucketOf({ uncovered: COUNTS });
    await send('/api/frontend/client/metrics', token, { appName: 'narrow', bucket });
    assert.deepEqual((await read('/client-metrics/features/uncovered/raw')).data, []);
    assert.equal((await read('/projects/default/features/uncovered')).lastSeenAt, null);
  });

  it('survive a clean stop', async () => {
    await makeRunningFlag(server().call, 'kept');
    const token = await addToken(server(), { type: 'client', environment: 'development' });
    await send('/api/client/metrics', token, { appName: 'kept', bucket: bucketOf({ kept: COUNTS }) });
    const paths = [
      '/client-metrics/features/kept/raw',
      '/projects/default/features/kept',
      '/metrics/applications/kept',
    ];
    const before = await Promise.all(paths.map(read));
    await server().restart();
    assert.deepEqual(await Promise.all(paths.map(read)), before);
  });

  it('are summed over the flags of a project and of all projects, by hours and by days', async () => {
    const { call } = server();
    await call('POST', '/projects', { id: 'summed', name: 'Summed' });
    for (const name of ['sum-1', 'sum-2']) await call('POST', '/projects/summed/features', { name });
    const token = await addToken(server(), { type: 'client', environment: 'production' });
    const before = await read('/client-metrics/usage');
    for (const appName of ['one', 'two'])
      await send('/api/client/metrics', token, {
        appName,
        bucket: bucketOf({ 'sum-1': COUNTS, 'sum-2': { yes: 0, no: 5 } }),
      });
    interface Sum {
      readonly environment: string;
      readonly timestamp: string;
      readonly yes: number;
      readonly no: number;
    }
    const total = (data: readonly Sum[]) =>
      data.reduce(([yes, no], one) => [yes! + one.yes, no! + one.no], [0, 0]);
    for (const hoursBack of [1, 48, 49, 2160]) {
      const { data } = await read(`/client-metrics/usage?project=summed&hoursBack=${hoursBack}`);
      assert.deepEqual(total(data), [6, 12], `${hoursBack} hours`);
      assert(data.every(({ environment }: Sum) => environment === 'production'));
      const stepMs = hoursBack > 48 ? 86_400_000 : 3_600_000;
      assert(data.every(({ timestamp }: Sum) => Date.parse(timestamp) % stepMs === 0));
    }
    const minutes = await read('/client-metrics/usage?project=summed&step=minute&hoursBack=1');
    assert.deepEqual(total(minutes.data), [6, 12]);
    assert(minutes.data.length <= 2, 'both were reported within a minute');
    assert(minutes.data.every(({ timestamp }: Sum) => Date.parse(timestamp) % 60_000 === 0));
    for (const step of ['', '&step=minute']) {
      assert.deepEqual(total((await read(`/client-metrics/usage?feature=sum-1${step}`)).data), [6, 2], step);
      const elsewhere = await read(`/client-metrics/usage?feature=sum-1&project=default${step}`);
      assert.deepEqual(elsewhere.data, []);
      const none = await call('GET', `/client-metrics/usage?feature=no-such${step}`);
      assert.equal(none.status, 404);
    }
    for (const [query, path] of [
      ['step=hour', '/query/step'],
      ['step=minute&hoursBack=2', '/query/hoursBack'],
    ]) {
      const { status, body } = await call('GET', `/client-metrics/usage?${query}`);
      assert.deepEqual([status, body.details[0].path], [400, path]);
    }
    const [yes, no] = total(before.data);
    assert.deepEqual(total((await read('/client-metrics/usage')).data), [yes! + 6, no! + 12]);
    assert.equal((await call('GET', '/client-metrics/usage?project=no-such')).status, 404);
    const hours = await call('GET', '/client-metrics/usage?hoursBack=2161');
    assert.deepEqual([hours.status, hours.body.details[0].path], [400, '/query/hoursBack']);
  });

  it('are refused where they are malformed or too large, and nothing is counted', async () => {
    const token = await addToken(server(), { type: 'client', environment: 'development' });
    const post = (path: string, body: unknown) =>
      server().callBelow('/api/client')('POST', path, body, { token });
    const bucket = bucketOf({});
    const toggles = (value: unknown) => ({ appName: 'wrong', bucket: { ...bucket, toggles: value } });
    const application = { ...REGISTRATION, appName: 'wrong' };
    const cases: readonly (readonly [string, unknown, string])[] = [
      ['/register', { ...application, appName: undefined }, '/body/appName'],
      ['/register', { ...application, appName: 'x'.repeat(201) }, '/body/appName'],
      ['/register', { ...application, started: 'soon' }, '/body/started'],
      ['/metrics', { appName: 'wrong' }, '/body'],
      ['/metrics', { appName: 'wrong', bucket: { ...bucket, stop: undefined } }, '/body/bucket/stop'],
      ['/metrics', toggles({ a: { yes: -1, no: 0 } }), '/body/bucket/toggles'],
      ['/metrics', toggles([]), '/body/bucket/toggles'],
      ['/metrics/bulk', { applications: [] }, '/body/metrics'],
      [
        '/metrics/bulk',
        { applications: Array.from({ length: 1001 }, () => application), metrics: [] },
        '/body/applications',
      ],
    ];
    for (const [path, body, at] of cases) {
      const answer = await post(path, body);
      assert.deepEqual([answer.status, answer.body.details[0].path], [400, at]);
    }
    const large = { appName: 'wrong', bucket: { ...bucket, toggles: { ['x'.repeat(2 ** 20)]: COUNTS } } };
    const tooLarge = await post('/metrics', large);
    assert.deepEqual([tooLarge.status, tooLarge.body.name], [413, 'PayloadTooLargeError']);
    assert.equal((await server().call('GET', '/metrics/applications/wrong')).status, 404);
    const hours = await server().call('GET', '/client-metrics/features/kept/raw?hoursBack=0');
    assert.deepEqual([hours.status, hours.body.details[0].path], [400, '/query/hoursBack']);
    const sorted = await server().call('GET', '/metrics/applications?sortBy=size');
    assert.deepEqual([sorted.status, sorted.body.details[0].path], [400, '/query/sortBy']);
  });

  it('of Unleash Edge about itself are taken, whatever is in them', async () => {
    const token = await addToken(server(), { type: 'client', environment: 'development' });
    const { status } = await send('/api/client/metrics/edge', token, {
      identifier: 'edge',
      traffic: { a: [1] },
    });
    assert.equal(status, 202);
  });

  it('need a token of the right kind', async () => {
    const token = await addToken(server(), { type: 'frontend', environment: 'development' });
    const bucket = bucketOf({});
    assert.equal((await send('/api/client/metrics', token, { appName: 'shop', bucket })).status, 403);
  });
});
