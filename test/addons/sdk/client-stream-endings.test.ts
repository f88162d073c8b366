/** How streams end, what a client that does not read costs until then, and how others go on after a kill. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { addToken, makeRunningFlag } from '../../support/applications.ts';
import { streamFor } from '../../support/event-stream.ts';
import { environmentPath, FEATURES, makeFlag } from '../../support/interface.ts';
import { caller, processFor, serverFor, type TestServer, temporaryFolder } from '../../support/server.ts';

const STREAMING = '/api/client/streaming';

/** More than the kernel takes for a client that does not read, and than happens until its time is over. */
const CHANGES_MAX = 20_000;
const DESCRIPTION = 'x'.repeat(10_000);

const clientToken = (server: TestServer): Promise<string> =>
  addToken(server, { type: 'client', environment: 'development' });

// Each test has a server of its own, and waits most of its time.
const TOGETHER = { concurrency: true };

describe('streams of changes', TOGETHER, () => {
  it('disconnect a client that does not read, before it has cost much, and leave the others alone', async (t) => {
    const server = await serverFor(t);
    const token = await clientToken(server);
    await makeFlag(server.call, 'wordy');
    const [hanging, reading] = [
      await streamFor(t, server.origin, STREAMING, { token }),
      await streamFor(t, server.origin, STREAMING, { token }),
    ];
    await Promise.all([hanging.next(), reading.next()]);
    hanging.pause();
    const { transport } = server.server;
    let heardId = '';
    for (let number = 0; transport.slowStreams === 0; number += 1) {
      assert(number < CHANGES_MAX, 'it is disconnected');
      const description = `${number} ${DESCRIPTION}`.slice(0, DESCRIPTION.length);
      await server.call('PUT', `${FEATURES}/wordy`, { description });
      ({ id: heardId } = await reading.next());
      assert(transport.unreadBytes < 2 * 2 ** 20, `${transport.unreadBytes} bytes wait`);
    }
    assert.deepEqual([transport.slowStreams, transport.openStreams], [1, 1]);
    await server.call('PUT', `${FEATURES}/wordy`, { description: 'short' });
    assert(Number((await reading.next()).id) > Number(heardId));
  });

  it('end when the server stops', async (t) => {
    const server = await serverFor(t);
    const token = await clientToken(server);
    const stream = await streamFor(t, server.origin, STREAMING, { token });
    await stream.next();
    await Promise.all([stream.ended, server.stop()]);
  });

  it('are shown to be alive by comments', async (t) => {
    const server = await serverFor(t);
    const stream = await streamFor(t, server.origin, STREAMING, { token: await clientToken(server) });
    await stream.comment();
    assert.deepEqual(stream.comments, ['keep-alive']);
  });

  it('are refused with 503 when as many are open as there may be', async (t) => {
    const server = await serverFor(t, { env: { STREAMS_MAX: '1' } });
    const token = await clientToken(server);
    const first = await streamFor(t, server.origin, STREAMING, { token });
    await first.next();
    const second = await streamFor(t, server.origin, STREAMING, { token });
    assert.deepEqual([second.status, second.headers['retry-after']], [503, '1']);
  });

  it('go on after a kill, from the last event that a client has seen', async (t) => {
    const folder = temporaryFolder();
    const env = {};
    const killed = await processFor(t, folder, env);
    const made = await killed.call('POST', '/api-tokens', {
      tokenName: 'app',
      type: 'client',
      environment: 'development',
    });
    const token = made.body.secret;
    await makeRunningFlag(killed.call, 'killed');
    const before = await streamFor(t, killed.origin, STREAMING, { token });
    await before.next();
    await killed.call('POST', `${environmentPath('killed')}/off`);
    const { id } = await before.next();
    const etag = `"${id}"`;
    await killed.kill();
    await before.ended;
    const again = await processFor(t, folder, env);

    const delta = await caller(again.origin, '/api/client')('GET', '/delta', undefined, {
      token,
      headers: { 'if-none-match': etag },
    });
    assert.equal(delta.status, 304, 'nothing has changed since');
    const after = await streamFor(t, again.origin, STREAMING, {
      token,
      headers: { 'last-event-id': id },
    });
    await again.call('POST', `${environmentPath('killed')}/on`);
    const next = await after.next();
    assert.equal(next.event, 'unleash-updated');
    assert(Number(next.id) > Number(id));
    assert.equal(next.data.events[0].feature.enabled, true);
  });
});

// One after the other, since they turn the clock of the process.
describe('streams of changes', () => {
  it('end when the token expires', async (t) => {
    let aheadMs = 0;
    const { now } = Date;
    t.mock.method(Date, 'now', () => now() + aheadMs);
    const server = await serverFor(t);
    const expiresAt = new Date(Date.now() + 86_400_000).toISOString();
    const token = await addToken(server, { type: 'client', environment: 'development', expiresAt });
    const stream = await streamFor(t, server.origin, STREAMING, { token });
    await stream.next();
    aheadMs = 86_400_000;
    await stream.ended;
    assert.equal((await streamFor(t, server.origin, STREAMING, { token })).status, 401);
  });
});
