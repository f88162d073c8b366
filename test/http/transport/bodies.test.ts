/** Memory of bodies that have not arrived whole: who may use it, and who gives way. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { RequestHandler } from '../../../src/http/transport/transport.ts';
import { overEachEngine, type Started, start, text, until } from './engines.ts';
import { fetchRaw, post, RawConnection, request } from './raw-connection.ts';

const CHUNKED = 'Transfer-Encoding: chunked';

/** Refuses what was not admitted, as every handler must. */
const responding: RequestHandler = (received, responder) =>
  responder.send(
    received.bodyDropped ? text('who are you?', 401) : text(`${received.path} ${received.body.byteLength}`),
  );

const onlyWithToken = {
  handle: responding,
  admit: (head: { header(name: string): string }) => head.header('authorization') || null,
};

const admitted = (path: string, body: string): string =>
  request(path, {
    method: 'POST',
    headers: ['Authorization: token', `Content-Length: ${body.length}`],
    body,
  });

/** A connection whose request lacks its last byte, of which the server has seen the rest. */
async function unfinished(t: Parameters<typeof start>[0], { port, transport }: Started, bytes: string) {
  const before = transport.openRequests;
  const connection = await RawConnection.open(t, port);
  connection.write(bytes.slice(0, -1));
  await until(() => transport.openRequests > before);
  return connection;
}

overEachEngine('bodies of those who may not send them', (engine) => {
  for (const [kind, bytes] of [
    ['announced', post('/', 'x'.repeat(900_000)).slice(0, -1)] as const,
    [
      'that waits to be told to go on',
      request('/', { method: 'PUT', headers: ['Content-Length: 900000', 'Expect: 100-continue'] }),
    ] as const,
  ]) {
    test(`one ${kind} is refused by its head, before it is whole, and costs no memory`, async (t) => {
      const started = await start(t, engine, { ...onlyWithToken, limits: { bodiesBytesMax: 2_000_000 } });
      for (let i = 0; i < 10; i += 1) {
        const connection = await RawConnection.open(t, started.port);
        connection.write(bytes);
        let { status } = await connection.nextResponse();
        // uWebSockets.js tells everybody to go on, and then asks.
        if (status === 100 && engine.name === 'uws') {
          connection.write('x'.repeat(1000));
          ({ status } = await connection.nextResponse());
        }
        assert.equal(status, 401);
      }
      const wanted = await fetchRaw(t, started.port, admitted('/wanted', 'x'.repeat(900_000)));
      assert.equal(wanted.body, '/wanted 900000');
    });
  }

  test('what follows a body that was not kept is the next request', async (t) => {
    const { port } = await start(t, engine, onlyWithToken);
    const connection = await RawConnection.open(t, port);
    const bytes = post('/', 'x'.repeat(200_000));
    connection.write(bytes.slice(0, -1));
    assert.equal((await connection.nextResponse()).status, 401);
    connection.write(bytes.slice(-1) + request('/next'));
    assert.equal((await connection.nextResponse()).body, '/next 0');
  });

  test('a chunked one is refused too, and nothing of it becomes a request', async (t) => {
    const { port, handled } = await start(t, engine, onlyWithToken);
    const connection = await RawConnection.open(t, port);
    connection.write(request('/victim', { method: 'POST', headers: [CHUNKED], body: '5\r\nhello\r\n' }));
    await fetchRaw(t, port, request('/between'));
    connection.write('5\r\nhello\r\n0\r\n\r\n');
    assert.equal((await connection.nextResponse()).status, 401);
    assert.deepEqual(handled.toSorted(), ['/between', '/victim']);
  });

  test('a judge that throws keeps nothing, and the request gets a response', async (t) => {
    const { port, log } = await start(t, engine, {
      handle: responding,
      admit: () => {
        throw new Error('on purpose');
      },
    });
    const connection = await RawConnection.open(t, port);
    connection.write(post('/', 'x'.repeat(200_000)).slice(0, -1));
    assert.equal((await connection.nextResponse()).status, 401);
    assert.equal(log.length, 1);
  });
});

overEachEngine('bodies that compete for memory', (engine) => {
  const limits = { bodiesBytesMax: 3_000_000, requestDeadlineMs: 3_600_000 };

  test('the one that has held most for longest gives way', async (t) => {
    const started = await start(t, engine, { handle: responding, limits });
    const slow = await unfinished(t, started, post('/slow', 'x'.repeat(900_000)));
    started.clock.advance(5_000);
    const newer = [];
    for (let i = 0; i < 2; i += 1)
      newer.push(await unfinished(t, started, post('/newer', 'x'.repeat(900_000))));
    started.clock.advance(1_000);
    const last = await unfinished(t, started, post('/last', 'x'.repeat(900_000)));
    const refused = await slow.nextResponse();
    assert.deepEqual([refused.status, refused.headers.get('x-refused')], [503, 'yes']);
    await slow.closed();
    for (const connection of [...newer, last]) {
      connection.write('x');
      assert.equal((await connection.nextResponse()).status, 200);
    }
  });

  test('a client that spreads its bytes over many connections gives way to one with more on a single one', async (t) => {
    const started = await start(t, engine, { ...onlyWithToken, limits });
    const large = await unfinished(t, started, admitted('/large', 'x'.repeat(900_000)));
    started.clock.advance(5_000);
    const spread = admitted('/spread', 'x'.repeat(100_000)).replace('token', 'other');
    const first = await unfinished(t, started, spread);
    for (let i = 1; i < 20; i += 1) await unfinished(t, started, spread);
    started.clock.advance(5_000);
    const last = await RawConnection.open(t, started.port);
    last.write(spread.slice(0, -1));
    const late = await RawConnection.open(t, started.port);
    late.write(spread.slice(0, -1));
    assert.equal((await first.nextResponse()).status, 503);
    large.write('x');
    assert.equal((await large.nextResponse()).status, 200);
  });

  test('a body takes no more memory in a hundred thousand pieces than in one', async (t) => {
    const started = await start(t, engine, { handle: responding });
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const connection = await RawConnection.open(t, started.port);
    connection.write(request('/pieces', { method: 'POST', headers: [CHUNKED], body: '' }));
    await until(() => started.transport.openRequests === 1);
    collect();
    const before = process.memoryUsage().heapUsed;
    const PIECES = 100_000;
    connection.write('1\r\nx\r\n'.repeat(PIECES));
    await fetchRaw(t, started.port, request('/behind'));
    collect();
    const added = process.memoryUsage().heapUsed - before;
    connection.write('0\r\n\r\n');
    assert.equal((await connection.nextResponse()).body, `/pieces ${PIECES}`);
    assert(added < 4_000_000, `${added} bytes`);
  });

  test('large bodies do not keep small ones out', async (t) => {
    const started = await start(t, engine, { handle: responding, limits });
    for (let i = 0; i < 3; i += 1) {
      await unfinished(t, started, post('/large', 'x'.repeat(990_000)));
      started.clock.advance(1_000);
    }
    const small = [];
    for (let i = 0; i < 50; i += 1) {
      const connection = await RawConnection.open(t, started.port);
      connection.write(post('/small', 'x'.repeat(10_000)).slice(0, -1));
      small.push(connection);
    }
    await until(() => started.transport.openRequests === 52);
    for (const connection of small) {
      connection.write('x');
      assert.equal((await connection.nextResponse()).status, 200);
    }
  });

  test('what clients leave behind when they go can be used by others', async (t) => {
    const started = await start(t, engine, { handle: responding, limits });
    for (let round = 0; round < 5; round += 1) {
      const gone = [];
      for (let i = 0; i < 3; i += 1) gone.push(await unfinished(t, started, post('/', 'x'.repeat(990_000))));
      for (const connection of gone) connection.destroy();
      await until(() => started.transport.openRequests === 0);
    }
    assert.equal((await fetchRaw(t, started.port, post('/', 'x'.repeat(990_000)))).status, 200);
  });
});
