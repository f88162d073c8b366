import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deliver, RESPONSE_BYTES_MAX } from '../../../src/addons/integrations/delivery.ts';
import { LOOPBACK_ALLOWED, startReceiver } from './receiver.ts';

const request = (url: string) =>
  ({
    method: 'POST',
    url,
    headers: { authorization: 'Bearer very-secret', 'content-type': 'application/json' },
    body: '{"text":"größer"}',
  }) as const;

test('a request arrives as it was made, and its response is given', async (t) => {
  const got: unknown[] = [];
  const receiver = await startReceiver(t, ({ method, url, headers }, response, body) => {
    got.push({ method, url, body, authorization: headers.authorization, host: headers.host });
    response.writeHead(418, { 'retry-after': '7' }).end('tea');
  });
  const made = await deliver(request(`${receiver.url}a%2Fb?c=d#e`), 0, LOOPBACK_ALLOWED);
  assert.deepEqual(made, { kind: 'response', response: { status: 418, body: 'tea', retryAfterMs: 7_000 } });
  assert.deepEqual(got, [
    {
      method: 'POST',
      url: '/a%2Fb?c=d',
      body: '{"text":"größer"}',
      authorization: 'Bearer very-secret',
      host: `127.0.0.1:${receiver.port}`,
    },
  ]);
});

test('a redirect is not followed', async (t) => {
  const other = await startReceiver(t);
  for (const status of [301, 302, 303, 307, 308]) {
    const receiver = await startReceiver(t, (_request, response) => {
      response.writeHead(status, { location: other.url }).end();
    });
    const made = await deliver(request(receiver.url), 0, LOOPBACK_ALLOWED);
    assert(made.kind === 'response' && made.response.status === status);
  }
  assert.equal(other.connections(), 0);
});

test('proxies that environment variables name are not used', async (t) => {
  const proxy = await startReceiver(t);
  const receiver = await startReceiver(t);
  for (const name of ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'http_proxy', 'https_proxy', 'all_proxy']) {
    process.env[name] = proxy.url;
    t.after(() => delete process.env[name]);
  }
  process.env['NODE_USE_ENV_PROXY'] = '1';
  t.after(() => delete process.env['NODE_USE_ENV_PROXY']);
  const made = await deliver(request(receiver.url), 0, LOOPBACK_ALLOWED);
  assert.equal(made.kind, 'response');
  assert.equal(proxy.connections(), 0);
});

test('64 KiB of an endless response are read, and then the connection ends', async (t) => {
  let ended = (): void => undefined;
  const isEnded = new Promise<void>((resolve) => {
    ended = resolve;
  });
  const piece = Buffer.alloc(64 * 1024, 'x');
  const receiver = await startReceiver(t, (_request, response) => {
    const more = (): void => {
      while (!response.destroyed && response.write(piece));
    };
    response.on('drain', more).on('close', ended);
    more();
  });
  const made = await deliver(request(receiver.url), 0, LOOPBACK_ALLOWED);
  assert(made.kind === 'response' && made.response.status === 200);
  assert.equal(made.response.body.length, RESPONSE_BYTES_MAX);
  await isEnded;
});

test('a receiver that hangs, or sends a byte now and then, has failed once the time is over', async (t) => {
  const hanging = await startReceiver(t, () => undefined);
  const dripping = await startReceiver(t, (_request, response) => {
    response.writeHead(200);
    const drip = setInterval(() => response.write('.'), 5);
    response.on('close', () => clearInterval(drip));
  });
  for (const { url } of [hanging, dripping]) {
    const made = await deliver(request(url), 0, { ...LOOPBACK_ALLOWED, attemptMsMax: 100 });
    assert.deepEqual(made, { kind: 'failure', failure: 'No complete response within 0.1 s.' });
  }
});

test('a look-up that never ends has failed once the time is over', async () => {
  const made = await deliver(request('https://hooks.example.com/'), 0, {
    ...LOOPBACK_ALLOWED,
    resolvePublic: () => new Promise(() => undefined),
    attemptMsMax: 10,
  });
  assert.equal(made.kind, 'failure');
});

test('a failure names its cause, and nothing that was sent or received', async (t) => {
  const closing = await startReceiver(t, ({ socket }) => void socket.destroy());
  const garbage = await startReceiver(t, ({ socket }) => void socket.end('very-secret\r\n\r\n'));
  const failures = [];
  for (const url of [closing.url, garbage.url, 'http://127.0.0.1:1/'])
    failures.push(await deliver(request(`${url}very-secret?very-secret`), 0, LOOPBACK_ALLOWED));
  failures.push(
    await deliver(
      { ...request(closing.url), headers: { authorization: 'very-secret\r\n' } },
      0,
      LOOPBACK_ALLOWED,
    ),
  );
  assert.deepEqual(
    failures.map((one) => (one.kind === 'failure' ? one.failure : one)),
    [
      'The connection failed (ECONNRESET).',
      'The connection failed (HPE_INVALID_CONSTANT).',
      'The connection failed (ECONNREFUSED).',
      'The connection failed (ERR_INVALID_CHAR).',
    ],
  );
});
