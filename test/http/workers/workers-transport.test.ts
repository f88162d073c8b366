/** Several engines as one: what becomes of requests, streams and the process when a client, a worker or the server ends. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type TestContext, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import type { Worker } from 'node:worker_threads';
import { taggedResponse } from '../../../src/http/dispatch/json-response.ts';
import { ResponseHeaders } from '../../../src/http/transport/response-headers.ts';
import type { RequestHandler, Responder, ResponseStream } from '../../../src/http/transport/transport.ts';
import { startWorker } from '../../../src/http/workers/start-worker.ts';
import {
  createWorkersTransport,
  type WorkersTransport,
} from '../../../src/http/workers/workers-transport.ts';
import { text, until } from '../transport/engines.ts';
import { RawConnection, request } from '../transport/raw-connection.ts';

interface Started {
  readonly transport: WorkersTransport;
  readonly port: number;
  readonly threads: readonly Worker[];
  readonly stops: readonly Error[];
}

async function start(t: TestContext, handle: RequestHandler, count = 2): Promise<Started> {
  const threads: Worker[] = [];
  const stops: Error[] = [];
  const transport = await createWorkersTransport({
    ...{ host: '127.0.0.1', port: 0, basePath: '', keeps: true, metered: true, count, handle },
    refuse: (status, reason) => text(reason, status),
    log: {
      warn: () => undefined,
      error: (fields, message) => assert.fail(`${message} ${JSON.stringify(fields)}`),
    },
    stop: (error) => stops.push(error),
    start: (options) => {
      const thread = startWorker(options);
      threads.push(thread);
      return thread;
    },
  });
  t.after(() => transport.close());
  return { transport, port: (await transport.listen()).port, threads, stops };
}

test('connections are spread evenly, and counted over all workers', async (t) => {
  const { transport, port } = await start(t, (_, responder) => responder.send(text('ok')));
  const connections = await Promise.all(Array.from({ length: 6 }, () => RawConnection.open(t, port)));
  await until(() => transport.openConnections === 6);
  for (const connection of connections) {
    connection.write(request('/'));
    assert.equal((await connection.nextResponse()).body, 'ok');
  }
  connections[0]?.destroy();
  await until(() => transport.openConnections === 5);
});

test('a handler hears of a client that leaves, and the others are served', async (t) => {
  const waiting: Responder[] = [];
  const { port, transport } = await start(t, ({ path }, responder) => {
    if (path === '/waits') waiting.push(responder);
    else responder.send(text(path));
  });
  const [leaving, staying] = [await RawConnection.open(t, port), await RawConnection.open(t, port)];
  leaving.write(request('/waits'));
  await until(() => waiting.length === 1);
  const [responder] = waiting as [Responder];
  assert.ok(responder.isAwaited && !responder.signal.aborted);
  assert.equal(transport.openRequests, 1);
  leaving.destroy();
  await once(responder.signal, 'abort');
  assert.ok(responder.aborted && !responder.isWanted);
  responder.send(text('nobody reads it'));
  await until(() => transport.openRequests === 0);
  staying.write(request('/still'));
  assert.equal((await staying.nextResponse()).body, '/still');
});

test('a stream waits for a client that does not read, goes on when it does, and hears of its end', async (t) => {
  let stream: ResponseStream | null = null;
  const { port, transport } = await start(t, (_, responder) => {
    stream = responder.stream({ status: 200, headers: ResponseHeaders.of('content-type', 'text/plain') });
  });
  const client = await RawConnection.open(t, port);
  client.write(request('/'));
  await until(() => stream !== null);
  const opened = stream as unknown as ResponseStream;
  await until(() => transport.openStreams === 1);
  let drained = 0;
  opened.onDrain(() => {
    drained += 1;
  });
  let ended = 0;
  opened.onAborted(() => {
    ended += 1;
  });
  const piece = Buffer.alloc(16 * 1024, 'x');
  let written = 0;
  while (opened.write(piece)) written += 1;
  assert.ok(written >= 1 && opened.bufferedBytes > 0, 'the owner is told to wait');
  await until(() => drained === 1);
  assert.equal(opened.bufferedBytes, 0, 'the client has read it');
  assert.equal(opened.carrier?.sharedMs(), 0, 'no request has come meanwhile');
  client.destroy();
  await until(() => ended === 1);
  assert.ok(!opened.isOpen);
  await until(() => transport.openStreams === 0);
});

test('flags beside one that was asked for are given by every worker without asking', async (t) => {
  const names = Array.from({ length: 8 }, (_, at) => `f${at}`);
  const near = names.map((name) => ({ name, etag: `"${name}"`, body: Buffer.from(name), untilMs: 8e15 }));
  const neighbors = { group: {}, now: () => near };
  const handled: string[] = [];
  const { port } = await start(t, ({ path }, responder) => {
    handled.push(path);
    const name = path.slice(path.lastIndexOf('/') + 1);
    const response = taggedResponse(`"${name}"`, Buffer.from(name));
    responder.keep?.(response, { untilMs: 8e15, expiresAt: 8e15, readsAll: true }, neighbors);
    responder.send(response);
  });
  const clients = [await RawConnection.open(t, port), await RawConnection.open(t, port)];
  const ask = async (client: RawConnection, name: string): Promise<void> => {
    client.write(request(`/api/admin/projects/p/features/${name}`));
    assert.equal((await client.nextResponse()).body, name);
  };
  // Each worker has to know the caller; and nothing is sent right after a start.
  for (const client of clients) await ask(client, 'other');
  await setTimeout(100);
  // Enough for them to be sent again, whatever was sent before.
  for (let at = 0; at < 10; at += 1) await ask(clients[0] as RawConnection, `more-${at}`);
  await ask(clients[1] as RawConnection, 'another');
  handled.length = 0;
  for (const client of clients) for (const name of names) await ask(client, name);
  assert.deepEqual(handled, []);
});

test('a worker that fails ends the process: the reason is told', async (t) => {
  const { threads, stops } = await start(t, (_, responder) => responder.send(text('ok')));
  threads[0]?.postMessage({ kind: 'parcel', parcel: null });
  await until(() => stops.length === 1);
  assert.match(stops[0]?.message ?? '', /^An HTTP worker failed/);
  assert.match(String(stops[0]?.cause), /TypeError.*null/);
});

test('a drained server ends streams, responds to what is under way, and then has nothing open', async (t) => {
  const waiting: Responder[] = [];
  const { port, transport } = await start(t, ({ path }, responder) => {
    if (path === '/waits') return void waiting.push(responder);
    responder.stream({ status: 200, headers: ResponseHeaders.of() })?.write(Buffer.from('begun'));
  });
  const [asking, streaming] = [await RawConnection.open(t, port), await RawConnection.open(t, port)];
  asking.write(request('/waits'));
  streaming.write(request('/streams'));
  await until(() => waiting.length === 1 && transport.openStreams === 1);
  transport.drain();
  await until(() => transport.openStreams === 0);
  assert.equal(transport.openRequests, 1);
  waiting[0]?.send(text('late'));
  assert.equal((await asking.nextResponse()).body, 'late');
  await until(() => transport.openRequests === 0);
  const refused = waiting[0]?.stream({ status: 200, headers: ResponseHeaders.of() });
  assert.equal(refused, null);
});
