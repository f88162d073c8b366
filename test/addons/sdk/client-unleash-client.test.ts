/** The SDK for Node, unmodified, in each of its modes: it becomes ready, evaluates, and sees each change. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, it } from 'node:test';
import { InMemStorageProvider, Unleash, type UnleashConfig } from 'unleash-client';
import { addToken, makeRunningFlag } from '../../support/applications.ts';
import { archive, environmentPath } from '../../support/interface.ts';
import { describeInterface, serverFor, type TestServer } from '../../support/server.ts';

const POLL_MS = 20;

const MODES: Readonly<Record<string, NonNullable<UnleashConfig['experimentalMode']>>> = {
  polling: { type: 'polling', format: 'full' },
  delta: { type: 'polling', format: 'delta' },
  streaming: { type: 'streaming' },
};

async function startClient(
  server: TestServer,
  experimentalMode: NonNullable<UnleashConfig['experimentalMode']>,
): Promise<{ readonly client: Unleash; readonly errors: readonly unknown[] }> {
  const token = await addToken(server, { type: 'client', environment: 'development' });
  const client = new Unleash({
    url: `${server.origin}/api/`,
    appName: 'test',
    refreshInterval: POLL_MS,
    disableMetrics: true,
    customHeaders: { Authorization: token },
    skipInstanceCountWarning: true,
    storageProvider: new InMemStorageProvider(), // Not a file that all tests share.
    experimentalMode,
  });
  const errors: unknown[] = [];
  client.on('error', (error) => errors.push(error));
  client.on('warn', (warning) => errors.push(warning));
  await once(client, 'synchronized');
  return { client, errors };
}

for (const [mode, experimentalMode] of Object.entries(MODES)) {
  describeInterface(`unleash-client, ${mode}`, (server) => {
    it('becomes ready, evaluates flags and their segments, and sees each change', async () => {
      const { call } = server();
      const name = `seen-by-${mode}`;
      const segment = await call('POST', '/segments', {
        name: `people-${mode}`,
        constraints: [{ contextName: 'userId', operator: 'IN', values: ['ada'] }],
      });
      await makeRunningFlag(call, name, {
        name: 'flexibleRollout',
        parameters: { rollout: 100, stickiness: 'userId', groupId: name },
        segments: [segment.body.id],
      });
      const { client, errors } = await startClient(server(), experimentalMode);
      try {
        const isOn = (userId: string): boolean => client.isEnabled(name, { userId });
        const seen = async (change: () => Promise<unknown>): Promise<readonly boolean[]> => {
          const changed = once(client, 'changed');
          await change();
          await changed;
          return [isOn('ada'), isOn('grace')];
        };
        assert.deepEqual([isOn('ada'), isOn('grace')], [true, false]);
        const toggle = (to: string) => () => call('POST', `${environmentPath(name)}/${to}`);
        assert.deepEqual(await seen(toggle('off')), [false, false]);
        assert.deepEqual(await seen(toggle('on')), [true, false]);
        const constraints = [{ contextName: 'userId', operator: 'IN', values: ['grace'] }];
        const changeSegment = () =>
          call('PUT', `/segments/${segment.body.id}`, { name: segment.body.name, constraints });
        assert.deepEqual(await seen(changeSegment), [false, true]);
        assert.deepEqual(await seen(() => archive(call, name)), [false, false]);
        assert.deepEqual(errors, []);
      } finally {
        client.destroy();
      }
    });
  });
}

describe('unleash-client, polling a server that hints', () => {
  it('goes over to the stream by itself', async (t) => {
    const server = await serverFor(t, { env: { STREAMING_HINT: 'sdk' } });
    await makeRunningFlag(server.call, 'hinted');
    const { client } = await startClient(server, MODES['polling']!);
    t.after(() => client.destroy());
    assert.equal(server.server.transport.openStreams, 1);
    const changed = once(client, 'changed');
    await server.call('POST', `${environmentPath('hinted')}/off`);
    await changed;
    assert.equal(client.isEnabled('hinted'), false);
  });
});
