import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NO_HEADERS, ResponseHeaders } from '../../../src/http/transport/response.ts';
import type { Responder } from '../../../src/http/transport/transport.ts';
import { overEachEngine, start, text, until } from './engines.ts';
import { fetchRaw, post, RawConnection, request } from './raw-connection.ts';

overEachEngine('handlers that fail', (engine) => {
  for (const [kind, bytes] of [
    ['without a body', request('/')] as const,
    ['with a body', post('/', '{}')] as const,
  ]) {
    test(`one that throws on a request ${kind} answers 500, and the connection goes on`, async (t) => {
      let calls = 0;
      const { port, log, transport } = await start(t, engine, {
        handle: (_, responder) => {
          calls += 1;
          if (calls === 1) throw new Error('secret of the implementation');
          responder.send(text('fine'));
        },
      });
      const connection = await RawConnection.open(t, port);
      connection.write(bytes);
      const { status, headers, body } = await connection.nextResponse();
      assert.deepEqual([status, headers.get('x-refused')], [500, 'yes']);
      assert.doesNotMatch(body, /secret/);
      assert.deepEqual(
        log.map(({ level }) => level),
        ['error'],
      );
      connection.write(bytes);
      assert.equal((await connection.nextResponse()).body, 'fine');
      assert.equal(transport.openRequests, 0);
    });
  }

  test('one whose promise rejects answers 500', async (t) => {
    const { port, log } = await start(t, engine, {
      handle: async () => {
        await null;
        throw new Error('later');
      },
    });
    assert.equal((await fetchRaw(t, port, request('/'))).status, 500);
    assert.equal(log.length, 1);
  });

  test('one that throws after it answered leaves its response as it is', async (t) => {
    const { port, log } = await start(t, engine, {
      handle: (_, responder) => {
        responder.send(text('answered'));
        throw new Error('afterwards');
      },
    });
    const connection = await RawConnection.open(t, port);
    for (let i = 0; i < 2; i += 1) {
      connection.write(request('/'));
      assert.equal((await connection.nextResponse()).body, 'answered');
    }
    assert.deepEqual(
      log.map(({ level }) => level),
      ['error', 'error'],
    );
  });

  test('a second response is ignored and logged', async (t) => {
    const { port, log } = await start(t, engine, {
      handle: (_, responder) => {
        responder.send(text('first'));
        responder.send(text('second'));
      },
    });
    const connection = await RawConnection.open(t, port);
    for (let i = 0; i < 2; i += 1) {
      connection.write(request('/'));
      assert.equal((await connection.nextResponse()).body, 'first');
    }
    assert.deepEqual(
      log.map(({ level }) => level),
      ['warn', 'warn'],
    );
  });

  for (const value of ['a\r\nset-cookie: b', 'a\nb', 'a\rb', 'a\0b', 'ü', '\x7f']) {
    test(`a header value of ${JSON.stringify(value)} is never sent: the client gets 500`, async (t) => {
      const { port, log } = await start(t, engine, {
        handle: (_, responder) =>
          responder.send({ status: 200, headers: ResponseHeaders.of('x-a', value), body: 'never' }),
      });
      const { status, headers, body } = await fetchRaw(t, port, request('/'));
      assert.deepEqual([status, headers.has('x-a'), headers.has('set-cookie')], [500, false, false]);
      assert.notEqual(body, 'never');
      assert.equal(log.length, 1);
    });
  }

  test('a status that is none becomes 500', async (t) => {
    const { port } = await start(t, engine, {
      handle: (_, responder) => responder.send({ status: 999, headers: NO_HEADERS, body: null }),
    });
    assert.equal((await fetchRaw(t, port, request('/'))).status, 500);
  });

  test('when even the refusal fails, the status is answered without words', async (t) => {
    const { port } = await start(t, engine, {
      handle: () => {
        throw new Error('first');
      },
      refuse: () => {
        throw new Error('second');
      },
    });
    const { status, body } = await fetchRaw(t, port, request('/'));
    assert.deepEqual([status, body], [500, '']);
  });
});

overEachEngine('clients that leave', (engine) => {
  test('a response to a client that has gone is dropped, and nothing is logged', async (t) => {
    const responders: Responder[] = [];
    const { port, log, transport } = await start(t, engine, {
      handle: (received, responder) => {
        if (received.path === '/kept') responders.push(responder);
        else responder.send(text('alive'));
      },
    });
    for (const bytes of [request('/kept'), post('/kept', '{}')]) {
      const connection = await RawConnection.open(t, port);
      connection.write(bytes);
      await until(() => transport.openRequests === 1);
      assert.equal(responders.at(-1)!.aborted, false);
      connection.reset();
      await until(() => transport.openRequests === 0);
      assert.equal(responders.at(-1)!.aborted, true);
    }
    for (const responder of responders) responder.send(text('x'.repeat(100_000)));
    assert.equal((await fetchRaw(t, port, request('/'))).body, 'alive');
    assert.deepEqual(log, []);
  });

  test('a client that leaves in the middle of its body is forgotten', async (t) => {
    const { port, handled, transport } = await start(t, engine);
    const connection = await RawConnection.open(t, port);
    connection.write(post('/', 'hello').slice(0, -1));
    await until(() => transport.openRequests === 1);
    connection.destroy();
    await until(() => transport.openRequests === 0 && transport.openConnections === 0);
    assert.deepEqual(handled, []);
  });

  test('a client that leaves in the middle of a large response is forgotten', async (t) => {
    const { port, transport } = await start(t, engine, {
      handle: (_, responder) => responder.send(text('x'.repeat(20_000_000))),
    });
    const connection = await RawConnection.open(t, port);
    connection.stopReading();
    connection.write(request('/'));
    await until(() => transport.openRequests === 1);
    connection.destroy();
    await until(() => transport.openRequests === 0 && transport.openConnections === 0);
  });
});
