/** SDKs, unmodified, report what they are and what they evaluated, and people see it. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { it } from 'node:test';
import { InMemStorageProvider, Unleash } from 'unleash-client';
import { UnleashClient } from 'unleash-proxy-client';
import { addToken, makeRunningFlag } from '../../support/applications.ts';
import { describeInterface } from '../../support/server.ts';

describeInterface('reports of SDKs', (server) => {
  const counted = async (flag: string): Promise<readonly [string, number, number][]> => {
    const { body } = await server().call('GET', `/client-metrics/features/${flag}/raw`);
    return body.data.map((one: { appName: string; yes: number; no: number }) => [
      one.appName,
      one.yes,
      one.no,
    ]);
  };

  it('unleash-client registers and reports its counts', async () => {
    const { call, origin } = server();
    await makeRunningFlag(call, 'from-node');
    const client = new Unleash({
      url: `${origin}/api/`,
      appName: 'node-app',
      instanceId: 'node-1',
      refreshInterval: 1_000,
      metricsInterval: 30,
      metricsJitter: 0,
      customHeaders: {
        Authorization: await addToken(server(), { type: 'client', environment: 'development' }),
      },
      skipInstanceCountWarning: true,
      storageProvider: new InMemStorageProvider(), // Not a file that all tests share.
    });
    const warnings: unknown[] = [];
    client.on('warn', (warning) => warnings.push(warning));
    try {
      await Promise.all([once(client, 'synchronized'), once(client, 'registered')]);
      const sent = once(client, 'sent');
      assert(client.isEnabled('from-node'));
      assert(client.isEnabled('from-node'));
      await sent;
      const rows = await counted('from-node');
      assert.deepEqual(rows, [['node-app', 2, 0]]);
      const { body } = await call('GET', '/metrics/applications/node-app/overview');
      const [environment] = body.environments;
      assert.equal(environment.instanceCount, 1);
      assert.match(environment.backendSdks[0], /^unleash-node-sdk:6\.|^unleash-client-node:6\./);
      assert.deepEqual([body.featureCount, warnings], [1, []]);
    } finally {
      client.destroy();
    }
  });

  it('unleash-proxy-client reports its counts', async () => {
    const { call, origin } = server();
    await makeRunningFlag(call, 'from-page');
    const client = new UnleashClient({
      url: `${origin}/api/frontend`,
      clientKey: await addToken(server(), { type: 'frontend', environment: 'development' }),
      appName: 'page-app',
      disableRefresh: true,
      metricsInterval: 0,
      metricsIntervalInitial: 0,
    });
    const errors: unknown[] = [];
    client.on('error', (error: unknown) => errors.push(error));
    await client.start();
    assert.equal(client.isEnabled('from-page'), true);
    assert.equal(client.isEnabled('from-page-not'), false);
    const sent = new Promise<void>((resolve) => client.on('sent', () => resolve()));
    await client.sendMetrics();
    await sent;
    client.stop();
    assert.deepEqual(await counted('from-page'), [['page-app', 1, 0]]);
    const { body } = await call('GET', '/metrics/applications/page-app/overview');
    assert.match(body.environments[0].frontendSdks[0], /^unleash-js-sdk:/);
    assert.deepEqual(body.environments[0].issues.missingFeatures, ['from-page-not']);
    assert.deepEqual(errors, []);
  });
});
