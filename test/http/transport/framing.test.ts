/**
 * Requests whose end two parties could see in different places. Each carries a canary behind it, a request of its
 * own: wherever the server and something in front of it might disagree, the canary must not run.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NO_HEADERS } from '../../../src/http/transport/response.ts';
import { type Engine, overEachEngine, start, text, until } from './engines.ts';
import { fetchRaw, post, RawConnection, request } from './raw-connection.ts';

const CANARY = request('/canary');
const CHUNKED = 'Transfer-Encoding: chunked';

interface Malformed {
  readonly name: string;
  readonly bytes: string;
  /**
   * The way uWebSockets.js takes it, when it does not refuse. `waits`: the head is taken for unfinished, nothing is
   * answered, and the connection is left to its idle timeout. `ends early`: the body is taken for finished before
   * its end, so the request runs unless more comes in the same packet; its connection ends with the response.
   */
  readonly uws?: 'waits' | 'ends early';
}

const withHeaders = (...headers: string[]): string => request('/victim', { method: 'POST', headers });
const withChunks = (chunks: string): string =>
  request('/victim', { method: 'POST', headers: [CHUNKED], body: chunks });

const MALFORMED: readonly Malformed[] = [
  { name: 'two lengths', bytes: withHeaders('Content-Length: 5', 'Content-Length: 0') },
  {
    name: 'the same length twice',
    bytes: withHeaders('Content-Length: 0', 'Content-Length: 0'),
  },
  {
    name: 'a length and chunks',
    bytes: `${withHeaders('Content-Length: 5', CHUNKED)}0\r\n\r\n`,
  },
  {
    name: 'chunks and a length',
    bytes: `${withHeaders(CHUNKED, 'Content-Length: 5')}0\r\n\r\n`,
  },
  { name: 'a length of letters', bytes: withHeaders('Content-Length: abc') },
  { name: 'a length with a sign', bytes: `${withHeaders('Content-Length: +1')}a` },
  { name: 'a negative length', bytes: withHeaders('Content-Length: -1') },
  { name: 'a list of lengths', bytes: `${withHeaders('Content-Length: 1,1')}a` },
  { name: 'a hexadecimal length', bytes: `${withHeaders('Content-Length: 0x1')}a` },
  { name: 'an empty length', bytes: withHeaders('Content-Length:') },
  {
    name: 'a length beyond 64 bits',
    bytes: withHeaders('Content-Length: 18446744073709551617'),
  },
  {
    name: 'an unknown encoding',
    bytes: `${withHeaders('Transfer-Encoding: x')}0\r\n\r\n`,
  },
  { name: 'an empty encoding', bytes: `${withHeaders('Transfer-Encoding:')}0\r\n\r\n` },
  {
    name: 'identity encoding',
    bytes: `${withHeaders('Transfer-Encoding: identity')}0\r\n\r\n`,
  },
  { name: 'chunked twice', bytes: `${withHeaders(CHUNKED, CHUNKED)}0\r\n\r\n` },
  {
    name: 'chunked, chunked',
    bytes: `${withHeaders('Transfer-Encoding: chunked, chunked')}0\r\n\r\n`,
  },
  {
    name: 'gzip, chunked',
    bytes: `${withHeaders('Transfer-Encoding: gzip, chunked')}0\r\n\r\n`,
  },
  { name: 'xchunked', bytes: `${withHeaders('Transfer-Encoding: xchunked')}0\r\n\r\n` },
  { name: 'a chunk size of letters', bytes: withChunks('zz\r\nhello\r\n0\r\n\r\n') },
  { name: 'a negative chunk size', bytes: withChunks('-1\r\nhello\r\n0\r\n\r\n') },
  {
    name: 'a chunk size beyond 64 bits',
    bytes: withChunks('10000000000000005\r\nhello\r\n0\r\n\r\n'),
  },
  { name: 'a chunk longer than its size', bytes: withChunks('3\r\nhello\r\n0\r\n\r\n'), uws: 'ends early' },
  { name: 'trailers that are a request', bytes: withChunks('5\r\nhello\r\n0\r\n'), uws: 'ends early' },
  { name: 'two hosts', bytes: withHeaders('Host: other', 'Content-Length: 0') },
  { name: 'two tokens', bytes: withHeaders('Authorization: a', 'Authorization: b') },
  {
    name: 'a folded header',
    bytes: withHeaders('X-A: 1', ' Content-Length: 0'),
    uws: 'waits',
  },
  {
    name: 'a blank before the colon',
    bytes: withHeaders('Content-Length : 0'),
    uws: 'waits',
  },
  { name: 'a blank in a header name', bytes: withHeaders('Content Length: 0'), uws: 'waits' },
  { name: 'NUL in a header', bytes: withHeaders('X-A: a\0b'), uws: 'waits' },
  { name: 'no host', bytes: 'GET /victim HTTP/1.1\r\n\r\n', uws: 'waits' },
  { name: 'bare line feeds', bytes: 'GET /victim HTTP/1.1\nHost: test\n\n' },
  { name: 'HTTP/0.9', bytes: 'GET /victim\r\n', uws: 'waits' },
  { name: 'HTTP/2.0', bytes: 'GET /victim HTTP/2.0\r\nHost: test\r\n\r\n' },
  {
    name: 'garbage',
    bytes: '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n',
    uws: 'waits',
  },
];

overEachEngine('malformed framing', (engine) => {
  for (const malformed of MALFORMED) {
    test(`${malformed.name}: neither it nor a canary in the same packet runs`, async (t) => {
      const { port, handled } = await start(t, engine);
      const connection = await RawConnection.open(t, port);
      connection.write(malformed.bytes + CANARY);
      await refused(engine, malformed, connection);
      await fetchRaw(t, port, request('/after'));
      assert.deepEqual(handled, ['/after']);
    });

    test(`${malformed.name}: a canary that comes later does not run either`, async (t) => {
      const { port, handled } = await start(t, engine);
      const connection = await RawConnection.open(t, port);
      connection.write(malformed.bytes);
      // By the time another connection was answered, the server has read what was written before it.
      await fetchRaw(t, port, request('/between'));
      connection.write(CANARY);
      await refused(engine, malformed, connection);
      await fetchRaw(t, port, request('/after'));
      const ran = new Set(handled);
      if (engine.name === 'uws' && malformed.uws === 'ends early') ran.delete('/victim');
      assert.deepEqual([...ran], ['/between', '/after']);
    });
  }

  for (const lines of [0, 30, 31, 32, 33, 64, 90]) {
    test(`nothing behind a refused request of ${lines} further header lines runs`, async (t) => {
      const { port, handled } = await start(t, engine);
      const filler = Array.from({ length: lines }, (_, i) => `X-${i}: ${i}`);
      for (const method of ['GET', 'POST']) {
        const connection = await RawConnection.open(t, port);
        connection.write(
          request('/victim', { method, headers: ['Host: other', ...filler] }) + CANARY.repeat(3),
        );
        await connection.closed();
      }
      assert.deepEqual(handled, []);
    });

    test(`nothing behind a request of ${lines} further header lines that ends its connection runs`, async (t) => {
      const { port, handled } = await start(t, engine);
      const filler = Array.from({ length: lines }, (_, i) => `X-${i}: ${i}`);
      for (const option of ['close', 'x-other, close']) {
        const connection = await RawConnection.open(t, port);
        const headers = [`Connection: ${option}`, ...filler];
        connection.write(request('/last', { headers }) + CANARY.repeat(3));
        await connection.closed();
      }
      assert.equal(handled.includes('/canary'), false);
    });
  }

  test('a request other than a read without a length is answered, and its connection ends', async (t) => {
    const { port, handled } = await start(t, engine);
    const methods = ['OPTIONS', 'POST', 'PUT', 'PATCH', 'DELETE'];
    for (const method of methods) {
      const connection = await RawConnection.open(t, port);
      connection.write(request(`/${method}`, { method }));
      assert.equal((await connection.nextResponse()).status, 200);
      if (engine.name === 'uws') await connection.closed();
    }
    assert.deepEqual(
      handled,
      methods.map((method) => `/${method}`),
    );
  });

  // docs/operating-reference.md says what uWebSockets.js makes of these two.
  test('a length with a byte from 0x80 behind it is refused, or is what stands before that byte', async (t) => {
    const { port, handled } = await start(t, engine, {
      handle: ({ path, body }, responder) =>
        responder.send(text(`${path} ${Buffer.from(body).toString('latin1')}`)),
    });
    const connection = await RawConnection.open(t, port);
    connection.write(`${withHeaders('Content-Length: 5\xff')}hello${CANARY}`);
    const { status, body } = await connection.nextResponse();
    if (engine.name === 'uws') {
      assert.deepEqual([status, body], [200, '/victim hello']);
      await until(() => handled.length === 2);
    } else {
      assert.equal(status, 400);
      await connection.closed();
    }
    assert.deepEqual(handled, engine.name === 'uws' ? ['/victim', '/canary'] : []);
  });

  test('a request cut inside its HTTP version is put together, or refused unread with all behind it', async (t) => {
    const { port, handled } = await start(t, engine);
    const whole = request('/cut');
    for (const at of [whole.indexOf('TTP/'), whole.indexOf('1.1'), whole.indexOf('.1\r')]) {
      const connection = await RawConnection.open(t, port);
      connection.write(whole.slice(0, at));
      await fetchRaw(t, port, request('/between'));
      connection.write(whole.slice(at) + CANARY);
      const { status } = await connection.nextResponse();
      assert.equal(status, engine.name === 'uws' ? 505 : 200);
      if (engine.name === 'uws') await connection.closed();
      else await connection.nextResponse();
    }
    const ran = engine.name === 'uws' ? ['/between'] : ['/between', '/cut', '/canary'];
    assert.deepEqual(handled, [...ran, ...ran, ...ran]);
  });

  test('the canary does run behind a well-formed request', async (t) => {
    const { port, handled } = await start(t, engine);
    const connection = await RawConnection.open(t, port);
    connection.write(post('/victim', 'hello') + CANARY);
    await until(() => handled.length === 2);
    assert.deepEqual(handled, ['/victim', '/canary']);
  });

  test('trailers after a chunked body never become a request', async (t) => {
    const { port, handled } = await start(t, engine);
    for (const later of [false, true]) {
      const connection = await RawConnection.open(t, port);
      const trailers = 'X-Trailer: 1\r\n\r\n';
      connection.write(withChunks('5\r\nhello\r\n0\r\n') + (later ? '' : trailers + CANARY));
      await fetchRaw(t, port, request('/between'));
      if (later) connection.write(trailers + CANARY);
      if (engine.name === 'uws') await connection.closed();
      else await connection.nextResponse();
    }
    // node:http understands trailers, and that what follows them is a new request.
    const canaries = handled.filter((path) => path === '/canary').length;
    assert(engine.name === 'node' || canaries === 0, `${canaries} canaries ran`);
  });

  test('a request refused for its head says why, and its connection ends', async (t) => {
    const { port, transport } = await start(t, engine);
    const connection = await RawConnection.open(t, port);
    connection.write(withHeaders('Transfer-Encoding: gzip, chunked'));
    const { status, headers, body } = await connection.nextResponse();
    assert.deepEqual([status, headers.get('x-refused')], [501, 'yes']);
    assert.equal(body, 'The only Transfer-Encoding that the server supports is "chunked".');
    await connection.closed();
    await until(() => transport.openConnections === 0 && transport.openRequests === 0);
  });

  if (engine.name === 'uws') {
    test('a request behind one that is still unanswered ends the connection, and does not run', async (t) => {
      const { port, handled, transport } = await start(t, engine, { handle: () => undefined });
      const connection = await RawConnection.open(t, port);
      connection.write(request('/slow') + CANARY);
      await connection.closed();
      assert.deepEqual([handled, transport.openRequests], [['/slow'], 0]);
    });
  } else {
    test('a request behind one that is still unanswered waits for its turn', async (t) => {
      const pending: (() => void)[] = [];
      const { port, handled } = await start(t, engine, {
        handle: (_, responder) =>
          void pending.push(() => responder.send({ status: 200, headers: NO_HEADERS, body: null })),
      });
      const connection = await RawConnection.open(t, port);
      connection.write(request('/first') + post('/second', 'b') + request('/third'));
      for (const expected of [['/first'], ['/first', '/second'], ['/first', '/second', '/third']]) {
        await until(() => pending.length > 0);
        assert.deepEqual(handled, expected);
        pending.shift()!();
        await connection.nextResponse();
      }
    });

    test('more than 64 requests waiting on one connection end it', async (t) => {
      const { port, handled } = await start(t, engine, { handle: () => undefined });
      const connection = await RawConnection.open(t, port);
      connection.write(request('/slow') + CANARY.repeat(64));
      await connection.closed();
      assert.deepEqual(handled, ['/slow']);
    });
  }
});

/** How a connection may end: refused, or closed without a word, when the bytes behind ended it first. */
const REFUSALS = ['400', '501', '505', undefined];

async function refused(engine: Engine, malformed: Malformed, connection: RawConnection): Promise<void> {
  const quirk = engine.name === 'uws' ? malformed.uws : undefined;
  if (quirk === 'waits') return;
  await connection.closed();
  const statuses = [...connection.received.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status);
  assert(statuses.length <= 1, connection.received);
  if (quirk === undefined) assert(REFUSALS.includes(statuses[0]), `answered with ${statuses[0]}`);
}
