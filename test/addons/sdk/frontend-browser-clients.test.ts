/** SDKs for browsers, unmodified: they become ready, evaluate, and see a change. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { UnleashWebProvider } from '@openfeature/unleash-web-provider';
import { OpenFeature } from '@openfeature/web-sdk';
import { UnleashClient } from 'unleash-proxy-client';
import { addToken, makeFlagWithVariants, makeRunningFlag } from '../../support/applications.ts';
import { environmentPath } from '../../support/interface.ts';
import { describeInterface } from '../../support/server.ts';

const FOR_ADA = { constraints: [{ contextName: 'userId', operator: 'IN', values: ['ada'] }] };

describeInterface('SDKs in browsers', (server) => {
  for (const usePOSTrequests of [false, true]) {
    it(`unleash-proxy-client sees flags and their changes by ${usePOSTrequests ? 'POST' : 'GET'}`, async () => {
      const { call, origin } = server();
      const name = `proxied-${usePOSTrequests}`;
      await makeRunningFlag(call, name, FOR_ADA);
      const client = new UnleashClient({
        url: `${origin}/api/frontend`,
        clientKey: await addToken(server(), { type: 'frontend', environment: 'development' }),
        appName: 'shop',
        disableRefresh: true,
        disableMetrics: true,
        context: { userId: 'ada' },
        usePOSTrequests,
      });
      const errors: unknown[] = [];
      client.on('error', (error: unknown) => errors.push(error));
      await client.start();
      assert.equal(client.isEnabled(name), true);
      assert.equal(client.isEnabled('not-there'), false);
      await client.updateToggles();
      await call('POST', `${environmentPath(name)}/off`);
      await client.updateToggles();
      assert.equal(client.isEnabled(name), false);
      client.stop();
      assert.deepEqual(errors, []);
    });
  }

  it('the OpenFeature provider of Unleash has the payloads of variants as values', async () => {
    const { call, origin } = server();
    const payload = { type: 'string', value: 'compact' };
    await makeFlagWithVariants(call, 'layout', [{ name: 'v', weight: 1000, payload }]);
    const provider = new UnleashWebProvider({
      url: `${origin}/api/frontend`,
      clientKey: await addToken(server(), { type: 'frontend', environment: 'development' }),
      appName: 'shop',
      disableRefresh: true,
      disableMetrics: true,
    });
    await OpenFeature.setProviderAndWait(provider);
    const client = OpenFeature.getClient();
    assert.equal(client.getStringValue('layout', 'none'), 'compact');
    assert.equal(client.getBooleanValue('layout', false), true);
    await OpenFeature.clearProviders();
  });
});
