/** Requests and responses that come at once are taken in rounds. They are counted, and no time passes in a round of no milliseconds. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { UNTIMED_MAX } from '../../../src/http/transport/request-rounds.ts';
import { ResponseHeaders } from '../../../src/http/transport/response.ts';
import type { HttpResponse, Responder } from '../../../src/http/transport/transport.ts';
import { overEachEngine, type Started, start, text, until } from './engines.ts';
import { post, RawConnection, request } from './raw-connection.ts';

const CLIENTS = 60;

/** Counts calls in each turn of the event loop. */
class Turns {
  most = 0;
  #count = 0;

  add(): void {
    if (this.#count === 0)
      setImmediate(() => {
        this.#count = 0;
      });
    this.#count += 1;
    this.most = Math.max(this.most, this.#count);
  }
}

/** A response whose headers are looked at when it is sent. */
function watched(body: string, sent: Turns): HttpResponse {
  const headers = ResponseHeaders.of('content-type', 'text/plain');
  let looks = 0;
  return {
    status: 200,
    body,
    get headers() {
      looks += 1;
      if (looks === 1) sent.add();
      return headers;
    },
  };
}

/** Connections that the server has accepted, so that it reads what all of them send in one turn. */
async function open(t: TestContext, { port, transport }: Started, count: number): Promise<RawConnection[]> {
  const before = transport.openConnections;
  const opened = await Promise.all(Array.from({ length: count }, () => RawConnection.open(t, port)));
  await until(() => transport.openConnections === before + count);
  return opened;
}

/** A turn of the event loop begins with what the timer does; the sockets are read behind it. */
const inOneTurn = (work: () => void): void => void setTimeout(work, 0);

overEachEngine('a storm of requests', (engine) => {
  test('is taken a few requests at a time, and each gets its response', async (t) => {
    const taken = new Turns();
    const server = await start(t, engine, {
      limits: { roundMs: 0 },
      handle: ({ path }, responder) => {
        taken.add();
        responder.send(text(path));
      },
    });
    const connections = await open(t, server, CLIENTS);
    inOneTurn(() => {
      for (const [at, connection] of connections.entries())
        connection.write(at % 2 === 0 ? request(`/${at}`) : post(`/${at}`, '{"some":"body"}'));
    });
    const bodies = await Promise.all(connections.map(async (one) => (await one.nextResponse()).body));
    assert.deepEqual(
      bodies,
      connections.map((_, at) => `/${at}`),
    );
    assert.equal(server.handled.length, CLIENTS);
    assert(taken.most <= UNTIMED_MAX + 1, `${taken.most} in one turn`);
    await until(() => server.transport.openRequests === 0);
  });

  test('that waits elsewhere and ends at once is answered a few responses at a time', async (t) => {
    const sent = new Turns();
    const waiting: Responder[] = [];
    const server = await start(t, engine, {
      limits: { roundMs: 0 },
      handle: (_, responder) => void waiting.push(responder),
    });
    const connections = await open(t, server, CLIENTS);
    for (const connection of connections) connection.write(request('/'));
    await until(() => waiting.length === CLIENTS);
    for (const [at, responder] of waiting.entries()) responder.send(watched(`late ${at}`, sent));
    assert(server.transport.openRequests > CLIENTS - UNTIMED_MAX, 'those that wait are under way');
    for (const connection of connections) assert.match((await connection.nextResponse()).body, /^late \d+$/);
    assert(sent.most <= UNTIMED_MAX + 1, `${sent.most} in one turn`);
    await until(() => server.transport.openRequests === 0);
    assert.equal(server.transport.unreadBytes, 0);
  });

  test('whose clients leave while their requests wait is not handled', async (t) => {
    const leaving: RawConnection[] = [];
    const server = await start(t, engine, {
      limits: { roundMs: 0 },
      handle: ({ path }, responder) => {
        // All have sent their requests by now, and most of these have not been taken.
        for (const connection of leaving) connection.destroy();
        responder.send(text(path));
      },
    });
    leaving.push(...(await open(t, server, CLIENTS)));
    const [staying] = await open(t, server, 1);
    assert(staying !== undefined);
    inOneTurn(() => {
      for (const connection of leaving) connection.write(request('/leaves'));
    });
    await until(() => server.handled.length > 0 && server.transport.openConnections === 1);
    assert(server.handled.length <= 2 * UNTIMED_MAX, `${server.handled.length} were handled`);
    const before = server.handled.length;
    staying.write(request('/stays'));
    assert.equal((await staying.nextResponse()).body, '/stays');
    assert.deepEqual(server.handled.slice(before), ['/stays']);
  });

  test('beyond the bytes that may wait is refused', async (t) => {
    const server = await start(t, engine, {
      limits: { roundMs: 0, waitingBytesMax: 3 * 1_024 },
      handle: ({ path }, responder) => responder.send(text(path)),
    });
    const connections = await open(t, server, CLIENTS);
    inOneTurn(() => {
      for (const connection of connections) connection.write(request('/'));
    });
    const responses = await Promise.all(connections.map((one) => one.nextResponse()));
    const refused = responses.filter(({ status }) => status === 503);
    assert(refused.length > 0 && refused.length < CLIENTS, `${refused.length} were refused`);
    assert.equal(refused[0]?.body, 'Too many requests have come at once.');
    assert.equal(server.handled.length, CLIENTS - refused.length);
  });
});
