/** The SDK for Node, unmodified, polling: it becomes ready, evaluates, and sees a change. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { it } from 'node:test';
import { Unleash } from 'unleash-client';
import { addStrategy, environmentPath, makeFlag } from '../../support/interface.ts';
import { describeInterface } from '../../support/server.ts';

const POLL_MS = 20;

describeInterface('unleash-client, polling', (server) => {
  it('becomes ready, evaluates flags, and sees each change', async () => {
    const { call } = server();
    await makeFlag(call, 'polled');
    await addStrategy(call, 'polled', {
      name: 'flexibleRollout',
      parameters: { rollout: 100, stickiness: 'userId', groupId: 'polled' },
      constraints: [{ contextName: 'userId', operator: 'IN', values: ['ada'] }],
    });
    const made = await call('POST', '/api-tokens', {
      tokenName: 'app',
      type: 'client',
      environment: 'development',
    });
    const client = new Unleash({
      url: `${server().origin}/api/`,
      appName: 'test',
      refreshInterval: POLL_MS,
      disableMetrics: true,
      customHeaders: { Authorization: made.body.secret },
      skipInstanceCountWarning: true,
    });
    const errors: unknown[] = [];
    client.on('error', (error) => errors.push(error));
    try {
      await once(client, 'synchronized');
      const isOn = (userId: string) => client.isEnabled('polled', { userId });
      assert.equal(isOn('ada'), false);
      for (const [path, expected] of [
        ['on', true],
        ['off', false],
      ] as const) {
        const changed = once(client, 'changed');
        await call('POST', `${environmentPath('polled')}/${path}`);
        await changed;
        assert.equal(isOn('ada'), expected);
        assert.equal(isOn('grace'), false);
      }
      assert.deepEqual(errors, []);
    } finally {
      client.destroy();
    }
  });
});
