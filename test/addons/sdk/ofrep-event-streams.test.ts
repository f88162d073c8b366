/** Streams that tell OpenFeature clients to evaluate again, with the provider for browsers, unmodified. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { OFREPWebProvider } from '@openfeature/ofrep-web-provider';
import { OpenFeature, type Provider, ProviderEvents } from '@openfeature/web-sdk';
import { addToken, makeRunningFlag } from '../../support/applications.ts';
import { type OpenedStream, openStream, streamFor } from '../../support/event-stream.ts';
import { environmentPath } from '../../support/interface.ts';
import { serverFor, startTestServer, type TestServer } from '../../support/server.ts';

/** The part of a browser's class that the provider uses; Node has none. */
class EventSourceOfTest extends EventTarget {
  static readonly opened: OpenedStream[] = [];
  readyState = 0;

  constructor(url: string) {
    super();
    const { origin, pathname } = new URL(url);
    void openStream(origin, pathname, { headers: { origin: 'https://shop.example' } })
      .then(
        async (stream) => {
          EventSourceOfTest.opened.push(stream);
          this.readyState = 1;
          this.dispatchEvent(new Event('open'));
          for (;;) {
            const { data } = await stream.next();
            this.dispatchEvent(new MessageEvent('message', { data: JSON.stringify(data) }));
          }
        },
        () => undefined,
      )
      .catch(() => undefined);
  }

  close(): void {
    for (const stream of EventSourceOfTest.opened) stream.close();
  }
}

describe('event streams of OFREP', () => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer({
      env: { STREAMING_HINT: 'all', BASE_URI_PATH: '/flags' },
    });
  });
  after(() => server.stop());
  const call: TestServer['call'] = (...args) => server.callBelow('/flags/api/admin')(...args);
  const evaluate = (token: string) =>
    server.callBelow('/flags/ofrep/v1')('POST', '/evaluate/flags', { context: {} }, { token });
  const newToken = async (fields: object = {}): Promise<string> => {
    const body = { tokenName: 'page', type: 'frontend', environment: 'development', ...fields };
    return (await call('POST', '/api-tokens', body)).body.secret;
  };
  const requestUri = async (token: string): Promise<string> =>
    (await evaluate(token)).body.eventStreams[0].endpoint.requestUri;

  it('make the provider evaluate again as soon as something has changed', async () => {
    await makeRunningFlag(call, 'told');
    Object.assign(globalThis, { EventSource: EventSourceOfTest });
    const provider = new OFREPWebProvider({
      baseUrl: `${server.origin}/flags`,
      headers: [['Authorization', await newToken()]],
      cacheMode: 'disabled',
      pollInterval: 0,
    });
    await OpenFeature.setProviderAndWait(provider as unknown as Provider);
    const client = OpenFeature.getClient();
    try {
      assert.equal(client.getBooleanValue('told', false), true);
      const changed = new Promise((resolve) =>
        client.addHandler(ProviderEvents.ConfigurationChanged, resolve),
      );
      await call('POST', `${environmentPath('told')}/off`);
      await changed;
      assert.equal(client.getBooleanValue('told', true), false);
    } finally {
      await OpenFeature.clearProviders();
      for (const stream of EventSourceOfTest.opened) stream.close();
    }
  });

  it('say that something has changed, and never what; pages of other origins may read them', async (t) => {
    const stream = await streamFor(t, server.origin, await requestUri(await newToken()), {
      headers: { origin: 'https://shop.example' },
    });
    assert.deepEqual([stream.status, stream.headers['access-control-allow-origin']], [200, '*']);
    const refetch = { type: 'refetchEvaluation' };
    assert.deepEqual((await stream.next()).data, refetch, 'something may have changed before it was open');
    await call('POST', '/projects/default/features', { name: 'secret-plan' });
    const { event, data } = await stream.next();
    assert.deepEqual([event, data], ['message', refetch]);
  });

  it('have a path that is the same for one token, and gives neither the token nor the stream of another', async () => {
    const [one, other] = [await newToken(), await newToken()];
    assert.equal(await requestUri(one), await requestUri(one));
    assert.notEqual(await requestUri(one), await requestUri(other));
    assert.match(await requestUri(one), /^\/flags\/ofrep\/v1\/streams\/[0-9a-f]{32}$/);
  });

  it('are not there for those that have no token and need one', async (t) => {
    const stream = await streamFor(t, server.origin, '/flags/ofrep/v1/streams/open');
    assert.equal(stream.status, 404);
  });

  it('end when the token is deleted, and are not there any more', async (t) => {
    const token = await newToken();
    const path = await requestUri(token);
    const stream = await streamFor(t, server.origin, path);
    await stream.next();
    assert.equal((await call('DELETE', `/api-tokens/${token}`)).status, 200);
    await stream.ended;
    const again = await streamFor(t, server.origin, path);
    assert.equal(again.status, 404);
  });
});

it('a server that asks for no token names a stream that anybody may open', async (t) => {
  const server = await serverFor(t, {
    env: { STREAMING_HINT: 'all', AUTH_TYPE: 'none' },
  });
  const noToken = { token: null };
  const evaluated = await server.callBelow('/ofrep/v1')('POST', '/evaluate/flags', {}, noToken);
  const { requestUri } = evaluated.body.eventStreams[0].endpoint;
  const stream = await streamFor(t, server.origin, requestUri);
  assert.equal(stream.status, 200);
  const refetch = { type: 'refetchEvaluation' };
  assert.deepEqual((await stream.next()).data, refetch);
  await server.call('POST', '/projects/default/features', { name: 'for-all' });
  assert.deepEqual((await stream.next()).data, refetch);
});

describe('a server without the hint', () => {
  it('names no stream', async (t) => {
    const server = await serverFor(t);
    const token = await addToken(server, { type: 'frontend', environment: 'development' });
    const { body } = await server.callBelow('/ofrep/v1')(
      'POST',
      '/evaluate/flags',
      { context: {} },
      { token },
    );
    assert.deepEqual(Object.keys(body), ['flags']);
  });
});
