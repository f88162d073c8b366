import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NO_HEADERS } from '../../../src/http/transport/response.ts';
import { HEADERS_MAX } from '../../../src/http/transport/transport-limits.ts';
import { liveBytes } from '../../support/live-bytes.ts';
import { overEachEngine, start, text, until } from './engines.ts';
import { fetchRaw, post, RawConnection, request } from './raw-connection.ts';

const BODY_BYTES_MAX = 1024 * 1024;

function chunked(target: string, body: string): string {
  const chunks = `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
  return request(target, { method: 'POST', headers: ['Transfer-Encoding: chunked'], body: chunks });
}

overEachEngine('sizes', (engine) => {
  for (const [kind, send] of [['announced', post] as const, ['chunked', chunked] as const]) {
    test(`an ${kind} body is taken up to 1 MiB and refused with 413 from one byte more`, async (t) => {
      const { port, handled, transport } = await start(t, engine, {
        handle: (received, responder) => responder.send(text(String(received.body.byteLength))),
      });
      for (const size of [BODY_BYTES_MAX - 1, BODY_BYTES_MAX]) {
        const response = await fetchRaw(t, port, send('/', 'x'.repeat(size)));
        assert.deepEqual([response.status, response.body], [200, String(size)]);
      }
      const refused = await fetchRaw(t, port, send('/', 'x'.repeat(BODY_BYTES_MAX + 1)));
      assert.deepEqual([refused.status, refused.headers.get('x-refused')], [413, 'yes']);
      assert.deepEqual(handled, ['/', '/']);
      await until(() => transport.openRequests === 0);
    });
  }

  test('an announced body that is too large is refused before it arrives, and skipped if it does', async (t) => {
    const { port, handled } = await start(t, engine, { limits: { bodyBytesMax: 10 } });
    const connection = await RawConnection.open(t, port);
    const bytes = post('/victim', '0123456789a');
    connection.write(bytes.slice(0, -11));
    assert.equal((await connection.nextResponse()).status, 413);
    connection.write(bytes.slice(-11) + request('/next'));
    assert.equal((await connection.nextResponse()).body, '/next');
    assert.deepEqual(handled, ['/next']);
  });

  test('a client that waits to be told to send its body is told, or learns that it is too large', async (t) => {
    const { port, handled } = await start(t, engine, { limits: { bodyBytesMax: 10 } });
    const waiting = (length: number): string =>
      request('/', { method: 'PUT', headers: [`Content-Length: ${length}`, 'Expect: 100-continue'] });
    const connection = await RawConnection.open(t, port);
    connection.write(waiting(10));
    assert.equal((await connection.nextResponse()).status, 100);
    connection.write('0123456789');
    assert.equal((await connection.nextResponse()).status, 200);
    connection.write(waiting(11));
    // uWebSockets.js says 100 to everyone, and skips what follows.
    if (engine.name === 'uws') assert.equal((await connection.nextResponse()).status, 100);
    assert.equal((await connection.nextResponse()).status, 413);
    if (engine.name === 'node') await connection.closed();
    assert.deepEqual(handled, ['/']);
  });

  test('a chunked body that goes on and on is cut off', async (t) => {
    const { port, handled, transport } = await start(t, engine, { limits: { bodyBytesMax: 10 } });
    const connection = await RawConnection.open(t, port);
    connection.write(request('/', { method: 'POST', headers: ['Transfer-Encoding: chunked'] }));
    const chunk = `10000\r\n${'x'.repeat(65_536)}\r\n`;
    for (let i = 0; i < 160; i += 1) connection.write(chunk);
    if (engine.name === 'node') assert.equal((await connection.nextResponse()).status, 413);
    else await connection.closed();
    assert.deepEqual([handled, transport.openRequests], [[], 0]);
  });

  test('a path and query are taken up to their limit and refused with 414 from one byte more', async (t) => {
    const { port } = await start(t, engine, { limits: { targetBytesMax: 100 } });
    const target = (length: number): string => `/${'p'.repeat(49)}?${'q'.repeat(length - 50)}`;
    assert.equal((await fetchRaw(t, port, request(target(99)))).status, 200);
    assert.equal((await fetchRaw(t, port, request(target(100)))).status, 200);
    assert.equal((await fetchRaw(t, port, request(target(101)))).status, 414);
  });

  test('a head of 15 KiB is taken, and one of 17 KiB refused with 431', async (t) => {
    const { port, handled } = await start(t, engine);
    const sized = (kib: number): string => request('/', { headers: [`X-Long: ${'x'.repeat(kib * 1024)}`] });
    assert.equal((await fetchRaw(t, port, sized(15))).status, 200);
    const connection = await RawConnection.open(t, port);
    connection.write(sized(17));
    await connection.closed();
    assert.match(connection.received, /^HTTP\/1\.1 431 /);
    assert.deepEqual(handled, ['/']);
  });

  test(`${HEADERS_MAX} headers are taken, and one more refused with 431`, async (t) => {
    const { port, handled } = await start(t, engine);
    const counted = (count: number): string =>
      request('/', { headers: Array.from({ length: count - 1 }, (_, i) => `X-${i}: ${i}`) });
    assert.equal((await fetchRaw(t, port, counted(HEADERS_MAX))).status, 200);
    const connection = await RawConnection.open(t, port);
    connection.write(counted(HEADERS_MAX + 1));
    await connection.closed();
    assert.match(connection.received, /^HTTP\/1\.1 431 /);
    assert.deepEqual(handled, ['/']);
  });

  test('connections beyond their budget are closed, with one warning, until others have left', async (t) => {
    const { port, log, transport } = await start(t, engine, { limits: { connectionsMax: 2 } });
    const admitted = [await RawConnection.open(t, port), await RawConnection.open(t, port)];
    await until(() => transport.openConnections === 2);
    for (let i = 0; i < 3; i += 1) await (await RawConnection.open(t, port)).closed();
    assert.deepEqual([transport.openConnections, log.length], [2, 1]);
    admitted[0]!.destroy();
    await until(() => transport.openConnections === 1);
    assert.equal((await fetchRaw(t, port, request('/'))).status, 200);
  });
});

overEachEngine('deadlines', (engine) => {
  const limits = { requestDeadlineMs: 30_000, responseDeadlineMs: 120_000 };

  test('a body that arrives too slowly is refused with 408 and its connection closed', async (t) => {
    const { port, clock, handled, transport } = await start(t, engine, { limits });
    const connection = await RawConnection.open(t, port);
    connection.write(request('/', { method: 'POST', headers: ['Content-Length: 100'] }));
    for (let second = 0; second < 30; second += 1) {
      connection.write('x');
      await fetchRaw(t, port, request('/tick'));
      assert.equal(connection.received, '');
      clock.advance(1_000);
    }
    assert.equal((await connection.nextResponse()).status, 408);
    await connection.closed();
    assert.equal(handled.includes('/'), false);
    assert.equal(transport.openRequests, 0);
  });

  for (const [kind, bytes] of [
    ['without a body', request('/')] as const,
    ['with a body', post('/', '{}')] as const,
  ]) {
    test(`a request ${kind} that its handler forgets gets 503 at the deadline`, async (t) => {
      const { port, clock, transport, log } = await start(t, engine, {
        limits,
        handle: (_, responder) => void late.push(() => responder.send(text('late'))),
      });
      const late: (() => void)[] = [];
      const connection = await RawConnection.open(t, port);
      connection.write(bytes);
      await until(() => late.length === 1);
      clock.advance(29_999);
      assert.equal(transport.openRequests, 1);
      clock.advance(1);
      const { status, headers } = await connection.nextResponse();
      assert.deepEqual([status, headers.get('x-refused'), transport.openRequests], [503, 'yes', 0]);
      // The handler's own response comes too late for anyone.
      late[0]!();
      assert.deepEqual(
        log.map(({ level }) => level),
        ['warn'],
      );
      connection.write(bytes);
      await until(() => late.length === 2);
    });
  }

  test('responses that nobody reads cost no memory each, and end with their connections', async (t) => {
    const body = Buffer.alloc(8 * 1024 * 1024, 'x');
    const { port, clock, transport } = await start(t, engine, {
      limits,
      handle: ({ path }, responder) =>
        responder.send({ status: 200, headers: NO_HEADERS, body: path === '/' ? body : 'small' }),
    });
    // Copies may lie outside of what V8 counts; what it would still collect is none.
    liveBytes();
    const before = process.memoryUsage().rss;
    const readers = await Promise.all(Array.from({ length: 40 }, () => RawConnection.open(t, port)));
    for (const reader of readers) {
      reader.stopReading();
      reader.write(request('/'));
    }
    await until(() => transport.openRequests === 40);
    assert.equal((await fetchRaw(t, port, request('/small'))).body, 'small');
    liveBytes();
    const grownMiB = (process.memoryUsage().rss - before) / 1024 / 1024;
    // Copies would take 320 MiB. What may grow is what this process's own clients have read.
    assert(grownMiB < 160, `grown by ${grownMiB} MiB`);
    clock.advance(120_000);
    await until(() => transport.openRequests === 0 && transport.openConnections <= 1);
  });

  for (const { kib, requests, handledMax } of [
    // 5,000 answers would be 320 MiB, 100,000 of them 200; what the kernel takes is some.
    { kib: 64, requests: 5_000, handledMax: 1_000 },
    { kib: 2, requests: 100_000, handledMax: 10_000 },
  ])
    test(`a client that pipelines without reading answers of ${kib} KiB is stopped`, async (t) => {
      const body = Buffer.alloc(kib * 1024, 'x');
      const { port, clock, handled, transport } = await start(t, engine, {
        limits,
        handle: (_, responder) => responder.send({ status: 200, headers: NO_HEADERS, body }),
      });
      const flood = await RawConnection.open(t, port);
      flood.stopReading();
      flood.write(request('/').repeat(requests));
      await until(() => handled.length > 0);
      clock.advance(30_000);
      clock.advance(120_000);
      await until(() => transport.openConnections === 0);
      assert(handled.length < handledMax, `${handled.length} requests were handled`);
    });

  if (engine.name === 'node') {
    // uWebSockets.js has a fixed limit of 10 s here, too long to wait for and out of reach of a clock.
    test('a head that does not arrive ends the connection with 408', async (t) => {
      const { port } = await start(t, engine, { limits: { idleMs: 20 } });
      const connection = await RawConnection.open(t, port);
      connection.write('GET / HTTP/1.1\r\nHo');
      assert.equal((await connection.nextResponse()).status, 408);
      await connection.closed();
    });

    test('a request that arrives during a pause longer than connections may be silent is responded to', async (t) => {
      const { port } = await start(t, engine, { limits: { idleMs: 300 } });
      // One connection that has been used, and one that has not.
      const connections = [await RawConnection.open(t, port), await RawConnection.open(t, port)] as const;
      connections[0].write(request('/'));
      assert.equal((await connections[0].nextResponse()).status, 200);
      for (const connection of connections) connection.write(request('/late'));
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 900);
      for (const connection of connections) {
        const { status, body } = await connection.nextResponse();
        assert.deepEqual([status, body], [200, '/late']);
      }
    });

    test('a connection idle after a response is closed', async (t) => {
      const { port } = await start(t, engine, { limits: { idleMs: 20 } });
      const connection = await RawConnection.open(t, port);
      connection.write(request('/'));
      assert.equal((await connection.nextResponse()).status, 200);
      await connection.closed();
    });
  }
});
