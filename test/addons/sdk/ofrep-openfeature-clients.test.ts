/** OpenFeature clients with the OFREP providers, unmodified, on the server and in the browser. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { OFREPProvider } from '@openfeature/ofrep-provider';
import { OFREPWebProvider } from '@openfeature/ofrep-web-provider';
import { OpenFeature as ServerOpenFeature } from '@openfeature/server-sdk';
import { type Provider, OpenFeature as WebOpenFeature } from '@openfeature/web-sdk';
import { addToken, makeFlagWithVariants, makeRunningFlag } from '../../support/applications.ts';
import { environmentPath } from '../../support/interface.ts';
import { describeInterface, type TestServer } from '../../support/server.ts';

async function prepare({ call }: TestServer, prefix: string): Promise<void> {
  await makeRunningFlag(call, `${prefix}-ada`, {
    constraints: [{ contextName: 'userId', operator: 'IN', values: ['ada'] }],
  });
  const payload = { type: 'string', value: 'compact' };
  await makeFlagWithVariants(call, `${prefix}-layout`, [{ name: 'v', weight: 1000, payload }]);
}

describeInterface('OpenFeature clients', (server) => {
  it('on the server evaluate each flag for each context', async () => {
    await prepare(server(), 'server');
    const token = await addToken(server(), { type: 'client', environment: 'development' });
    const provider = new OFREPProvider({ baseUrl: server().origin, headers: { Authorization: token } });
    await ServerOpenFeature.setProviderAndWait(provider);
    const client = ServerOpenFeature.getClient();
    const isOn = (targetingKey: string) => client.getBooleanValue('server-ada', false, { targetingKey });
    assert.deepEqual([await isOn('ada'), await isOn('grace')], [true, false]);
    const layout = await client.getStringDetails('server-layout', 'none', { targetingKey: 'ada' });
    assert.deepEqual([layout.value, layout.variant], ['compact', 'v']);
    const missing = await client.getBooleanDetails('not-there', true, { targetingKey: 'ada' });
    assert.deepEqual([missing.value, missing.errorCode], [true, 'FLAG_NOT_FOUND']);
    await server().call('POST', `${environmentPath('server-ada')}/off`);
    assert.equal(await isOn('ada'), false);
    await ServerOpenFeature.clearProviders();
  });

  it('in the browser evaluate all flags when the context changes', async () => {
    await prepare(server(), 'web');
    const token = await addToken(server(), { type: 'frontend', environment: 'development' });
    const provider = new OFREPWebProvider({
      baseUrl: server().origin,
      headers: [['Authorization', token]],
      cacheMode: 'disabled',
    });
    await WebOpenFeature.setContext({ targetingKey: 'ada' });
    // Its types were not checked with exactOptionalPropertyTypes.
    await WebOpenFeature.setProviderAndWait(provider as unknown as Provider);
    const client = WebOpenFeature.getClient();
    assert.equal(client.getBooleanValue('web-ada', false), true);
    assert.equal(client.getStringValue('web-layout', 'none'), 'compact');
    assert.equal(client.getBooleanDetails('not-there', true).errorCode, 'FLAG_NOT_FOUND');
    await WebOpenFeature.setContext({ targetingKey: 'grace' });
    assert.equal(client.getBooleanValue('web-ada', true), false);
    await WebOpenFeature.clearProviders();
  });
});
