import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { test } from 'node:test';
import { NO_HEADERS, ResponseHeaders } from '../../../src/http/transport/response.ts';
import type { TransportRequest } from '../../../src/http/transport/transport.ts';
import { overEachEngine, start, text, until } from './engines.ts';
import { fetchRaw, post, RawConnection, request } from './raw-connection.ts';

overEachEngine('what a handler sees and a client gets', (engine) => {
  test('a handler sees method, raw path, raw query and headers as they were sent', async (t) => {
    let seen: TransportRequest | null = null;
    const { port } = await start(t, engine, {
      handle: (received, responder) => {
        seen = received;
        responder.send(text('ok'));
      },
    });
    await fetchRaw(
      t,
      port,
      request('/a/%2Fb?c=%20&d', { method: 'DELETE', headers: ['X-One: a, b', 'x-empty:'] }),
    );
    const { method, path, query, hasBody } = seen!;
    assert.deepEqual([method, path, query, hasBody], ['DELETE', '/a/%2Fb', 'c=%20&d', false]);
    const headers = ['host', 'x-one', 'x-empty', 'x-absent'].map((name) => seen!.header(name));
    assert.deepEqual(headers, ['test', 'a, b', '', '']);
  });

  test('a path that is polled is seen as it was sent, in every spelling and with every method', async (t) => {
    const { port } = await start(t, engine, {
      polledPaths: ['/api/client/features'],
      handle: ({ method, path, query }, responder) => responder.send(text(`${method} ${path} ${query}`)),
    });
    const asked = ['', '?a=/b&c=%2F', '/', '//', '/a', '/%2e', '%20', ';a', '/../features', 'x'].map(
      (rest) => `/api/client/features${rest}`,
    );
    asked.push(
      '//api/client/features',
      '/api//client/features',
      '/API/client/features',
      '/api/client/feature%73',
      '/api/client/feature',
    );
    for (const target of asked) {
      for (const method of ['GET', 'POST', 'OPTIONS']) {
        const { body } = await fetchRaw(t, port, request(target, { method }));
        const [path, query = ''] = target.split('?');
        assert.equal(body, `${method} ${path} ${query}`);
      }
    }
  });

  test('the caller is whom the trusted proxies name, and nobody else is believed', async (t) => {
    const addressSeen = async (trustedProxies: readonly string[], ...lines: readonly string[]) => {
      const { port } = await start(t, engine, {
        trustedProxies,
        handle: (received, responder) => responder.send(text(received.remoteAddress())),
      });
      const headers = lines.map((line) => `X-Forwarded-For: ${line}`);
      return (await fetchRaw(t, port, request('/', { headers }))).body;
    };
    const here = await addressSeen([]);
    assert.match(here, /127\.0\.0\.1$|:7f00:0?0?01$/);
    assert.equal(await addressSeen([], '203.0.113.9'), here);
    assert.equal(await addressSeen(['10.0.0.0/8', '::1'], '203.0.113.9'), here, 'the proxy is another one');
    const proxies = ['127.0.0.0/8', '10.0.0.0/8', '2001:db8:9::/48'];
    assert.equal(await addressSeen(proxies), here);
    for (const [lines, caller] of [
      [['203.0.113.9'], '203.0.113.9'],
      [['198.51.100.1, 203.0.113.9'], '203.0.113.9'],
      [['198.51.100.1', '203.0.113.9, 10.1.2.3'], '203.0.113.9'],
      [['198.51.100.1, 203.0.113.9:4711 , [2001:db8:9::2]:80,10.1.2.3'], '203.0.113.9'],
      [['[2001:db8::1]'], '2001:db8::1'],
      [['203.0.113.9, unknown, 10.1.2.3'], '10.1.2.3'],
      [['127.0.0.1, 10.1.2.3'], '127.0.0.1'],
      [['unknown'], here],
      [[''], here],
    ] as const) {
      assert.equal(await addressSeen(proxies, ...lines), caller, lines.join(' | '));
    }
  });

  test('of a header that came twice the first value counts', async (t) => {
    const { port } = await start(t, engine, {
      handle: (received, responder) => responder.send(text(received.header('x-one'))),
    });
    assert.equal((await fetchRaw(t, port, request('/', { headers: ['X-One: 1', 'X-One: 2'] }))).body, '1');
  });

  test('header bytes outside ASCII reach the handler or are trimmed, and never throw', async (t) => {
    const { port, handled } = await start(t, engine);
    await fetchRaw(t, port, request('/high', { headers: ['Authorization: \xe9abc\xff\xe9'] }));
    assert.deepEqual(handled, ['/high']);
  });

  test('a body reaches the handler byte for byte, however it was cut into packets', async (t) => {
    const bodies: Uint8Array[] = [];
    const { port } = await start(t, engine, {
      handle: (received, responder) => {
        bodies.push(received.body);
        responder.send(text(String(received.hasBody)));
      },
    });
    const sent = Uint8Array.from({ length: 256 }, (_, byte) => byte);
    const connection = await RawConnection.open(t, port);
    connection.write(request('/', { method: 'POST', headers: ['Content-Length: 256'] }));
    for (const byte of sent) connection.write(Uint8Array.of(byte));
    assert.equal((await connection.nextResponse()).body, 'true');
    connection.write(request('/', { method: 'POST', headers: ['Content-Length: 256'] }));
    connection.write(sent);
    await connection.nextResponse();
    // Compared only now: a body that the engine reuses would have been overwritten by the second.
    assert.deepEqual(
      bodies.map((body) => [...body]),
      [[...sent], [...sent]],
    );
  });

  test('a chunked body reaches the handler whole', async (t) => {
    const { port } = await start(t, engine, {
      handle: (received, responder) => responder.send(text(Buffer.from(received.body).toString())),
    });
    const headers = ['Transfer-Encoding: chunked'];
    const body = '5\r\nhello\r\n1\r\n,\r\n6\r\n world\r\n0\r\n\r\n';
    assert.equal(
      (await fetchRaw(t, port, request('/', { method: 'POST', headers, body }))).body,
      'hello, world',
    );
  });

  test('a body of length 0 is no body', async (t) => {
    const { port } = await start(t, engine, {
      handle: (received, responder) =>
        responder.send(text(`${received.hasBody} ${received.body.byteLength}`)),
    });
    assert.equal((await fetchRaw(t, port, post('/', ''))).body, 'false 0');
  });

  test('the handler runs only once the last byte of the body has arrived', async (t) => {
    const { port, handled } = await start(t, engine);
    const slow = await RawConnection.open(t, port);
    slow.write(request('/slow', { method: 'DELETE', headers: ['Content-Length: 3'], body: 'ab' }));
    await fetchRaw(t, port, request('/other'));
    assert.deepEqual(handled, ['/other']);
    slow.write('c');
    await slow.nextResponse();
    assert.deepEqual(handled, ['/other', '/slow']);
  });

  test('status, headers and length are those of the response', async (t) => {
    const { port } = await start(t, engine, {
      handle: (_, responder) =>
        responder.send({
          status: 201,
          headers: ResponseHeaders.of('etag', '"1"', 'x-b', 'c d'),
          body: 'grüße',
        }),
    });
    const { status, headers, body } = await fetchRaw(t, port, request('/'));
    assert.deepEqual([status, headers.get('etag'), headers.get('x-b'), body], [201, '"1"', 'c d', 'grüße']);
    assert.equal(headers.get('content-length'), '7');
  });

  test('success without a body says content-length 0', async (t) => {
    const { port } = await start(t, engine, {
      handle: (_, responder) => responder.send({ status: 202, headers: NO_HEADERS, body: null }),
    });
    const { status, headers } = await fetchRaw(t, port, request('/'));
    assert.deepEqual([status, headers.get('content-length')], [202, '0']);
  });

  test('304 and 204 have no length at all', async (t) => {
    const { port } = await start(t, engine, {
      handle: ({ path }, responder) =>
        responder.send({ status: Number(path.slice(1)), headers: NO_HEADERS, body: null }),
    });
    const connection = await RawConnection.open(t, port);
    for (const status of [304, 204]) {
      connection.write(request(`/${status}`));
      const response = await connection.nextResponse();
      assert.deepEqual([response.status, response.headers.has('content-length')], [status, false]);
    }
  });

  for (const size of [0, 5, 100_000]) {
    test(`HEAD gets the length of a body of ${size} bytes and no body`, async (t) => {
      const { port } = await start(t, engine, {
        handle: (_, responder) => responder.send(text('x'.repeat(size))),
      });
      const connection = await RawConnection.open(t, port);
      connection.write(request('/', { method: 'HEAD' }));
      const { status, headers } = await connection.nextResponse({ toHead: true });
      assert.deepEqual([status, headers.get('content-length')], [200, String(size)]);
      // A body would come before the response to the next request on the same connection.
      connection.write(request('/'));
      assert.equal((await connection.nextResponse()).body.length, size);
    });
  }

  test('a response may come in a later turn', async (t) => {
    const { port, transport } = await start(t, engine, {
      handle: (_, responder) => void setImmediate(() => responder.send(text('late'))),
    });
    const connection = await RawConnection.open(t, port);
    for (const bytes of [request('/'), post('/', '{}')]) {
      connection.write(bytes);
      assert.equal((await connection.nextResponse()).body, 'late');
    }
    assert.equal(transport.openRequests, 0);
  });

  test('an async handler may answer after awaiting', async (t) => {
    const { port } = await start(t, engine, {
      handle: async (_, responder) => {
        await null;
        responder.send(text('awaited'));
      },
    });
    assert.equal((await fetchRaw(t, port, request('/'))).body, 'awaited');
  });

  test('pipelined requests are answered at once and in order', async (t) => {
    const { port, handled } = await start(t, engine);
    const connection = await RawConnection.open(t, port);
    connection.write(request('/1') + post('/2', 'body') + request('/3') + request('/4'));
    const bodies = [];
    for (let i = 0; i < 4; i += 1) bodies.push((await connection.nextResponse()).body);
    assert.deepEqual(bodies, ['/1', '/2', '/3', '/4']);
    assert.deepEqual(handled, ['/1', '/2', '/3', '/4']);
  });

  test('a large body arrives whole while the reader takes its time', async (t) => {
    const body = Buffer.alloc(8 * 1024 * 1024, 'abcdefghijk');
    const { port, transport } = await start(t, engine, {
      handle: (_, responder) => responder.send({ status: 200, headers: NO_HEADERS, body }),
    });
    const response = await fetchRaw(t, port, request('/'));
    assert(response.body === body.toString(), 'the body differs');
    await until(() => transport.openRequests === 0);
  });
});

overEachEngine('how connections end and go on', (engine) => {
  const large = 'x'.repeat(300_000);

  test('a connection serves request after request', async (t) => {
    const { port, transport } = await start(t, engine);
    const connection = await RawConnection.open(t, port);
    for (const path of ['/1', '/2', '/3']) {
      connection.write(request(path));
      assert.equal((await connection.nextResponse()).body, path);
    }
    assert.equal(transport.openConnections, 1);
  });

  for (const option of ['close', 'Close', 'x-other, close']) {
    for (const method of ['GET', 'HEAD']) {
      for (const body of ['small', large]) {
        test(`${method} with "Connection: ${option}" ends it after ${body.length} bytes`, async (t) => {
          const { port } = await start(t, engine, { handle: (_, responder) => responder.send(text(body)) });
          const connection = await RawConnection.open(t, port);
          connection.write(request('/', { method, headers: [`Connection: ${option}`] }));
          const response = await connection.nextResponse({ toHead: method === 'HEAD' });
          assert.equal(response.headers.get('connection')?.toLowerCase(), 'close');
          assert.equal(response.body, method === 'HEAD' ? '' : body);
          await connection.closed();
          assert.equal(connection.received, '');
        });
      }
    }
  }

  test('drain accepts no more connections, and responses on open ones say that they end', async (t) => {
    const pending: (() => void)[] = [];
    const { port, transport } = await start(t, engine, {
      handle: (received, responder) => void pending.push(() => responder.send(text(received.path))),
    });
    const connection = await RawConnection.open(t, port);
    connection.write(request('/before'));
    await until(() => pending.length === 1);
    transport.drain();
    await assert.rejects(RawConnection.open(t, port), { code: 'ECONNREFUSED' });
    assert.equal(transport.openRequests, 1);
    pending[0]!();
    const response = await connection.nextResponse();
    assert.deepEqual(
      [response.body, response.headers.get('connection')?.toLowerCase()],
      ['/before', 'close'],
    );
    await connection.closed();
    assert.equal(transport.openRequests, 0);
  });

  test('a large response given while draining arrives whole before the connection ends', async (t) => {
    const pending: (() => void)[] = [];
    const { port, transport } = await start(t, engine, {
      handle: (_, responder) => void pending.push(() => responder.send(text(large.repeat(20)))),
    });
    const connection = await RawConnection.open(t, port);
    connection.write(request('/'));
    await until(() => pending.length === 1);
    transport.drain();
    pending[0]!();
    assert.equal((await connection.nextResponse()).body.length, large.length * 20);
    await connection.closed();
  });

  test('close ends connections whether answered or not', async (t) => {
    const { port, transport } = await start(t, engine, { handle: () => undefined });
    const idle = await RawConnection.open(t, port);
    const waiting = await RawConnection.open(t, port);
    waiting.write(request('/'));
    await until(() => transport.openRequests === 1);
    await transport.close();
    await Promise.all([idle.closed(), waiting.closed()]);
    assert.deepEqual([transport.openConnections, transport.openRequests], [0, 0]);
  });

  test('a client that closes its side behind its request gets the response on node:http', async (t) => {
    let signal: AbortSignal | undefined;
    let respond = (): void => assert.fail('the request was handled');
    const { port, handled } = await start(t, engine, {
      handle: (_, responder) => {
        signal = responder.signal;
        respond = () => responder.send(text(String(responder.isAwaited)));
      },
    });
    const socket = connect({ host: '127.0.0.1', port, allowHalfOpen: true });
    t.after(() => socket.destroy());
    let received = '';
    socket.on('data', (piece: Buffer) => {
      received += piece.toString();
    });
    socket.on('error', () => undefined);
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.end(request('/half'));
    await until(() => handled.length === 1 && signal?.aborted === true);
    respond();
    await closed;
    // uWebSockets.js closes the other side as soon as the client has closed its own, and has no setting for it.
    if (engine.name === 'uws') assert.equal(received, '');
    else assert.match(received, /^HTTP\/1\.1 200 OK\r\n[\s\S]*\r\n\r\nfalse$/);
  });

  test('a port in use is refused with a message that says so', async (t) => {
    const { port } = await start(t, engine);
    const options = {
      host: '127.0.0.1',
      log: console,
      handlers: { handle: () => undefined, refuse: () => text('') },
    };
    const second = await engine.create({ ...options, port });
    t.after(() => second.close());
    await assert.rejects(second.listen(), {
      message: `Cannot listen on http://127.0.0.1:${port}: another process listens there; stop it, or choose another port.`,
    });
  });

  test('an address that this machine does not have is refused with a message that says so', async (t) => {
    const options = { log: console, handlers: { handle: () => undefined, refuse: () => text('') } };
    const transport = await engine.create({ ...options, host: '192.0.2.1', port: 0 });
    t.after(() => transport.close());
    await assert.rejects(
      transport.listen(),
      /^ListenError: Cannot listen on http:\/\/192\.0\.2\.1:0: .*check the host setting\.$/,
    );
  });
});
