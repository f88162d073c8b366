/** Responses that stay open: the same on both engines. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NO_HEADERS, ResponseHeaders } from '../../../src/http/transport/response.ts';
import type { RequestHandler, Responder, ResponseStream } from '../../../src/http/transport/transport.ts';
import { overEachEngine, type Started, start, text, until } from './engines.ts';
import { fetchRaw, RawConnection, readChunked, request } from './raw-connection.ts';

const HEAD = { status: 200, headers: ResponseHeaders.of('content-type', 'text/event-stream') };
const CANARY = request('/canary');

interface Opened {
  readonly handle: RequestHandler;
  readonly streams: ResponseStream[];
  /** How often each stream was aborted, in the order of `streams`. */
  readonly aborts: number[];
  readonly drains: number[];
}

/** Opens a stream at /stream; anything else gets its path. */
function streaming(): Opened {
  const opened: Opened = {
    handle: (received, responder) => receive(received.path, responder),
    streams: [],
    aborts: [],
    drains: [],
  };
  const receive = (path: string, responder: Responder): void => {
    if (path !== '/stream') return responder.send(text(path));
    const stream = responder.stream(HEAD);
    if (stream === null) return responder.send(text('no further stream', 503));
    const index = opened.streams.push(stream) - 1;
    opened.aborts.push(0);
    opened.drains.push(0);
    stream.onAborted(() => {
      opened.aborts[index]! += 1;
    });
    stream.onDrain(() => {
      opened.drains[index]! += 1;
    });
  };
  return opened;
}

/** A connection with an open stream. */
async function openStream(t: Parameters<typeof start>[0], { port }: Started, opened: Opened) {
  const count = opened.streams.length;
  const connection = await RawConnection.open(t, port);
  connection.write(request('/stream'));
  await until(() => opened.streams.length > count);
  return { connection, stream: opened.streams[count]! };
}

/** Writes until the client would have to read; returns how many bytes were written. */
function fill(stream: ResponseStream, bytes: Uint8Array): number {
  let written = bytes.byteLength;
  while (stream.write(bytes)) written += bytes.byteLength;
  return written;
}

/** Waits for the last chunk. */
async function whole(connection: RawConnection): Promise<void> {
  await until(() => connection.isClosed || connection.endsWith('0\r\n\r\n'));
  assert(readChunked(connection.received).isWhole, 'the connection ended before the last chunk');
}

overEachEngine('streams', (engine) => {
  test('what is written arrives as it is written, and behind the last chunk the connection goes on', async (t) => {
    const opened = streaming();
    const started = await start(t, engine, { handle: opened.handle });
    const { connection, stream } = await openStream(t, started, opened);
    for (const word of ['one', 'two', 'three']) {
      assert.equal(stream.write(Buffer.from(word)), true);
      await until(() => readChunked(connection.received).body.endsWith(word));
    }
    assert.deepEqual([started.transport.openStreams, started.transport.openRequests], [1, 0]);
    stream.close();
    await whole(connection);
    const { head, body } = readChunked(connection.received);
    assert.match(head, /^HTTP\/1\.1 200 OK\r\n/);
    assert.match(head, /\r\ncontent-type: text\/event-stream(\r\n|$)/i);
    assert.equal(body, 'onetwothree');
    connection.write(request('/next'));
    await until(() => connection.received.endsWith('/next'));
    assert.deepEqual([started.transport.openStreams, opened.aborts], [0, [0]]);
    assert.deepEqual([stream.isOpen, stream.write(Buffer.from('late'))], [false, false]);
  });

  test('a client that asked for it gets the end of the connection with the end of the stream', async (t) => {
    const opened = streaming();
    const { port } = await start(t, engine, { handle: opened.handle });
    const connection = await RawConnection.open(t, port);
    connection.write(request('/stream', { headers: ['Connection: close'] }));
    await until(() => opened.streams.length === 1);
    opened.streams[0]!.write(Buffer.from('x'));
    opened.streams[0]!.close();
    await connection.closed();
    const { head, body, isWhole } = readChunked(connection.received);
    assert.equal(head.match(/\r\nconnection: close/gi)?.length, 1);
    assert.deepEqual([body, isWhole], ['x', true]);
  });

  test('a stream can be opened in a later turn', async (t) => {
    const { port } = await start(t, engine, {
      handle: (_, responder) =>
        void setImmediate(() => {
          const stream = responder.stream(HEAD)!;
          stream.write(Buffer.from('late'));
          stream.close();
        }),
    });
    const connection = await RawConnection.open(t, port);
    connection.write(request('/'));
    await whole(connection);
    assert.equal(readChunked(connection.received).body, 'late');
  });

  test('a stream that is closed without a word is an empty response', async (t) => {
    const opened = streaming();
    const started = await start(t, engine, { handle: opened.handle });
    const { connection, stream } = await openStream(t, started, opened);
    stream.close();
    const { status, headers, body } = await connection.nextResponse();
    assert.deepEqual([status, headers.get('content-length'), body], [200, '0', '']);
    assert.equal(started.transport.openStreams, 0);
  });

  test('HEAD gets the head of a stream, and nothing stays open', async (t) => {
    const opened = streaming();
    const { port, transport } = await start(t, engine, { handle: opened.handle });
    const connection = await RawConnection.open(t, port);
    connection.write(request('/stream', { method: 'HEAD' }));
    const { headers } = await connection.nextResponse({ toHead: true });
    assert.equal(headers.get('content-type'), 'text/event-stream');
    assert.deepEqual([transport.openStreams, opened.streams[0]!.isOpen], [0, false]);
    connection.write(CANARY);
    assert.equal((await connection.nextResponse()).body, '/canary');
  });

  test('a reader that pauses finds everything in order, and the writer learns when to go on', async (t) => {
    const opened = streaming();
    const started = await start(t, engine, {
      handle: opened.handle,
      limits: { streamBufferBytesMax: 64 * 1024 * 1024 },
    });
    const { connection, stream } = await openStream(t, started, opened);
    connection.stopReading();
    const piece = Buffer.alloc(100_000, 'abcdefg');
    let written = fill(stream, piece);
    for (let i = 0; i < 20; i += 1) {
      assert.equal(stream.write(piece), false);
      written += piece.byteLength;
    }
    assert(stream.bufferedBytes >= 20 * piece.byteLength, `only ${stream.bufferedBytes} bytes wait`);
    assert.equal(opened.drains[0], 0);
    connection.goOnReading();
    await until(() => opened.drains[0]! > 0);
    assert.equal(stream.bufferedBytes, 0);
    stream.write(Buffer.from('the end'));
    stream.close();
    await whole(connection);
    const { body } = readChunked(connection.received);
    const expected = 'abcdefg'.repeat(Math.ceil(100_000 / 7)).slice(0, 100_000);
    assert.equal(body.length, written + 'the end'.length);
    assert(body === `${expected.repeat(written / 100_000)}the end`, 'the body differs');
    assert.deepEqual([opened.aborts, started.transport.unreadBytes], [[0], 0]);
  });

  test('closing a stream whose client pauses sends it all first', async (t) => {
    const opened = streaming();
    const started = await start(t, engine, { handle: opened.handle });
    const { connection, stream } = await openStream(t, started, opened);
    connection.stopReading();
    const written = fill(stream, Buffer.alloc(500_000, 'x'));
    stream.close();
    assert.deepEqual([stream.isOpen, started.transport.openStreams], [false, 1]);
    connection.goOnReading();
    await whole(connection);
    assert.equal(readChunked(connection.received).body.length, written);
    assert.deepEqual([started.transport.openStreams, opened.aborts], [0, [0]]);
  });

  test('a client that leaves ends its stream, and its owner is told once', async (t) => {
    const opened = streaming();
    const started = await start(t, engine, { handle: opened.handle });
    const { connection, stream } = await openStream(t, started, opened);
    stream.write(Buffer.from('x'));
    connection.destroy();
    await until(() => opened.aborts[0] === 1);
    assert.equal(stream.write(Buffer.from('y')), false);
    stream.close();
    assert.deepEqual([started.transport.openStreams, opened.aborts, stream.bufferedBytes], [0, [1], 0]);
    await until(() => started.transport.openConnections === 0);
  });

  test('an idle stream has no deadline', async (t) => {
    const opened = streaming();
    const started = await start(t, engine, { handle: opened.handle });
    const { connection, stream } = await openStream(t, started, opened);
    stream.write(Buffer.from('a'));
    for (let hour = 0; hour < 24; hour += 1) started.clock.advance(3_600_000);
    stream.write(Buffer.from('b'));
    await until(() => readChunked(connection.received).body === 'ab');
    assert.deepEqual([started.transport.openStreams, opened.aborts], [1, [0]]);
  });

  test('a client that takes nothing while something waits is disconnected at the deadline', async (t) => {
    const opened = streaming();
    const started = await start(t, engine, { handle: opened.handle, limits: { streamStallMs: 10_000 } });
    const { connection, stream } = await openStream(t, started, opened);
    connection.stopReading();
    fill(stream, Buffer.alloc(50_000));
    started.clock.advance(9_999);
    assert.equal(stream.isOpen, true);
    started.clock.advance(1);
    assert.deepEqual([stream.isOpen, opened.aborts, started.transport.openStreams], [false, [1], 0]);
    assert.equal(started.transport.unreadBytes, 0);
  });

  test('a client that lets too much wait is disconnected by the next write', async (t) => {
    const opened = streaming();
    const started = await start(t, engine, {
      handle: opened.handle,
      limits: { streamBufferBytesMax: 200_000 },
    });
    const { connection, stream } = await openStream(t, started, opened);
    connection.stopReading();
    fill(stream, Buffer.alloc(50_000));
    let writes = 0;
    while (stream.isOpen && writes < 100) {
      stream.write(Buffer.alloc(50_000));
      writes += 1;
    }
    assert(writes >= 3 && writes <= 6, `${writes} writes were kept`);
    assert.deepEqual([opened.aborts, started.transport.openStreams], [[1], 0]);
    assert.equal((await fetchRaw(t, started.port, request('/alive'))).body, '/alive');
  });

  test('a first write of any size is taken: what an application starts with can be large', async (t) => {
    const opened = streaming();
    const started = await start(t, engine, {
      handle: opened.handle,
      limits: { streamBufferBytesMax: 1000 },
    });
    const { connection, stream } = await openStream(t, started, opened);
    stream.write(Buffer.alloc(12_000_000, 'x'));
    stream.close();
    await whole(connection);
    assert.equal(readChunked(connection.received).body.length, 12_000_000);
  });

  test('bytes that many streams wait for are in memory once', async (t) => {
    const opened = streaming();
    const started = await start(t, engine, { handle: opened.handle });
    const connections: RawConnection[] = [];
    for (let i = 0; i < 10; i += 1) {
      const { connection, stream } = await openStream(t, started, opened);
      connection.stopReading();
      connections.push(connection);
      fill(stream, Buffer.alloc(16_000));
    }
    const before = started.transport.unreadBytes;
    const shared = Buffer.alloc(800_000);
    for (const stream of opened.streams) stream.write(shared);
    const grown = started.transport.unreadBytes - before;
    // One piece of 16 KiB for each stream may be with the engine.
    assert(grown >= shared.byteLength && grown <= shared.byteLength + 10 * 16_384, `grown by ${grown} bytes`);
    for (const connection of connections) connection.destroy();
    await until(() => started.transport.openStreams === 0);
    assert.equal(started.transport.unreadBytes, 0);
  });

  test('beyond the limit no stream is opened, and the request can still be answered', async (t) => {
    const opened = streaming();
    const started = await start(t, engine, { handle: opened.handle, limits: { streamsMax: 2 } });
    await openStream(t, started, opened);
    const { connection } = await openStream(t, started, opened);
    assert.equal((await fetchRaw(t, started.port, request('/stream'))).status, 503);
    connection.destroy();
    await until(() => started.transport.openStreams === 1);
    await openStream(t, started, opened);
    assert.equal(opened.streams.length, 3);
  });

  test('a stop ends streams with their last chunk and tells their owners, and opens no more', async (t) => {
    const opened = streaming();
    const pending: Responder[] = [];
    const started = await start(t, engine, {
      handle: (received, responder) => {
        if (received.path === '/pending') pending.push(responder);
        else opened.handle(received, responder);
      },
    });
    const waiting = await RawConnection.open(t, started.port);
    waiting.write(request('/pending'));
    await until(() => pending.length === 1);
    const open = [await openStream(t, started, opened), await openStream(t, started, opened)];
    for (const { stream } of open) stream.write(Buffer.from('first'));
    await until(() => open.every(({ connection }) => readChunked(connection.received).body === 'first'));
    started.transport.drain();
    for (const { connection } of open) await whole(connection);
    assert.deepEqual([started.transport.openStreams, opened.aborts], [0, [1, 1]]);
    assert.equal(pending[0]!.stream(HEAD), null);
    pending[0]!.send(text('stopping', 503));
    assert.equal((await waiting.nextResponse()).status, 503);
  });

  test('a stop cuts streams off whose clients do not read', async (t) => {
    const opened = streaming();
    const started = await start(t, engine, { handle: opened.handle });
    const { connection, stream } = await openStream(t, started, opened);
    connection.stopReading();
    fill(stream, Buffer.alloc(50_000));
    started.transport.drain();
    assert.equal(started.transport.openStreams, 1);
    await started.transport.close();
    assert.deepEqual([started.transport.openStreams, started.transport.openConnections], [0, 0]);
  });

  test('a stream for a client that has gone, or a request that was answered, is none', async (t) => {
    const responders: Responder[] = [];
    const { port } = await start(t, engine, {
      handle: ({ path }, responder) => {
        responders.push(responder);
        if (path === '/answered') responder.send(text('answered'));
      },
    });
    await fetchRaw(t, port, request('/answered'));
    const connection = await RawConnection.open(t, port);
    connection.write(request('/gone'));
    await until(() => responders.length === 2);
    connection.destroy();
    await until(() => responders.every(({ isAwaited }) => !isAwaited));
    for (const responder of responders) assert.equal(responder.stream(HEAD), null);
  });

  test('a head that must not be sent throws at the handler, and the client gets 500', async (t) => {
    const { port, log } = await start(t, engine, {
      handle: (_, responder) => void responder.stream({ status: 999, headers: NO_HEADERS }),
    });
    assert.equal((await fetchRaw(t, port, request('/'))).status, 500);
    assert.equal(log.length, 1);
  });

  test('what a client sends behind the request of a stream is not run while the stream is open', async (t) => {
    const opened = streaming();
    const started = await start(t, engine, { handle: opened.handle });
    const together = await RawConnection.open(t, started.port);
    together.write(request('/stream') + CANARY);
    const { connection, stream } = await openStream(t, started, opened);
    stream.write(Buffer.from('x'));
    connection.write(CANARY);
    await fetchRaw(t, started.port, request('/between'));
    assert.equal(started.handled.includes('/canary'), false);
  });

  test('an owner that throws when it is told of the end harms nobody', async (t) => {
    const opened = streaming();
    const started = await start(t, engine, { handle: opened.handle });
    const { connection, stream } = await openStream(t, started, opened);
    stream.onAborted(() => {
      throw new Error('on purpose');
    });
    connection.destroy();
    await until(() => started.log.length === 1);
    assert.equal((await fetchRaw(t, started.port, request('/alive'))).body, '/alive');
  });
});
