/**
 * Deadlines against real clocks, all at once: what uWebSockets.js has built in no simulated clock reaches. Nothing here says how soon a
 * deadline is noticed; only that it is, with what response, and not before its time.
 */
// Own process: it waits by a real clock.
import assert from 'node:assert/strict';
import { performance } from 'node:perf_hooks';
import { describe, type TestContext, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { NO_HEADERS, ResponseHeaders } from '../../../src/http/transport/response.ts';
import type { Transport, TransportOptions } from '../../../src/http/transport/transport.ts';
import { ENGINES, type EngineName } from '../../support/installed-engines.ts';
import { engineOf, text } from './engines.ts';
import { RawConnection, request } from './raw-connection.ts';

/** A body of more bytes than its sender gets through at its pace. */
const LARGE_BYTES = 1024 * 1024;
const PERIOD_MS = 250;

/** More than what the kernel takes for a reader who does not read. */
const UNREAD = Buffer.alloc(16 * 1024 * 1024, 'x');

interface Ending {
  readonly status: number | null;
  readonly afterMs: number;
}

/** Sends the head of a POST, and then so many bytes a second until the connection ends or `durationMs` is over. */
async function sendSlowly(
  t: TestContext,
  port: number,
  { bytesPerSecond, durationMs }: { readonly bytesPerSecond: number; readonly durationMs: number },
): Promise<Ending> {
  const connection = await RawConnection.open(t, port);
  const begunAt = performance.now();
  const total = Math.min(LARGE_BYTES, Math.round((bytesPerSecond * durationMs) / 1000));
  connection.write(request('/', { method: 'POST', headers: [`Content-Length: ${total}`] }));
  let sent = 0;
  while (sent < total && !connection.isClosed && connection.received === '') {
    await wait(PERIOD_MS);
    // By the clock, and not by the wait, which is longer on a busy machine.
    const due = Math.min(total, Math.ceil((bytesPerSecond * (performance.now() - begunAt)) / 1000));
    connection.write('x'.repeat(due - sent));
    sent = due;
  }
  const status = await connection.nextResponse().then(
    (response) => response.status,
    () => null,
  );
  return { status, afterMs: performance.now() - begunAt };
}

/** Reads nothing of a large response for `pauseMs`, then all that comes; whether that was all of it. */
async function readLate(t: TestContext, port: number, pauseMs: number): Promise<boolean> {
  const connection = await RawConnection.open(t, port);
  connection.stopReading();
  connection.write(request('/unread'));
  await wait(pauseMs);
  connection.goOnReading();
  // Taking apart what has come after each piece would take seconds, in which nothing is read.
  return connection.receives(UNREAD.length);
}

/** Sends nothing after `begun`. */
async function silence(t: TestContext, port: number, begun: string): Promise<Ending> {
  const connection = await RawConnection.open(t, port);
  const begunAt = performance.now();
  connection.write(begun);
  await connection.closed();
  const status = connection.received === '' ? null : (await connection.nextResponse()).status;
  return { status, afterMs: performance.now() - begunAt };
}

for (const name of ENGINES)
  describe(`deadlines by a real clock (${name})`, { timeout: 120_000 }, () => {
    test('hold for slow bodies, late readers and silent connections, as docs/limits.md says', async (t) => {
      const transport = await open(name);
      t.after(() => transport.close());
      const { port } = await transport.listen();
      const [slow, steady, early, late, silent, half] = await Promise.all([
        sendSlowly(t, port, { bytesPerSecond: 4_000, durationMs: 60_000 }),
        sendSlowly(t, port, { bytesPerSecond: 40_000, durationMs: 20_000 }),
        readLate(t, port, 5_000),
        readLate(t, port, 25_000),
        silence(t, port, ''),
        silence(t, port, 'GET / HTTP/1.1\r\nHost: te'),
      ]);
      assert.deepEqual([steady.status, early], [200, true], 'what is fast enough is served');
      for (const { status, afterMs } of [silent, half]) {
        assert(afterMs >= 8_000, `a silent connection was closed after ${afterMs} ms`);
        assert.equal(status, name === 'node' ? 408 : null);
      }
      if (name === 'node') {
        assert.equal(slow.status, 408);
        assert(slow.afterMs >= 29_000, `the body was refused after ${slow.afterMs} ms`);
        assert(late, 'a reader may pause for 25 s');
      } else {
        assert.equal(slow.status, null, 'the engine closes the connection by itself');
        assert(slow.afterMs >= 8_000, `the body was cut after ${slow.afterMs} ms`);
        assert(!late, 'a reader may not pause for 25 s');
      }
    });
  });

async function open(name: EngineName): Promise<Transport> {
  const options: TransportOptions = {
    host: '127.0.0.1',
    port: 0,
    log: { warn: () => undefined, error: () => undefined },
    handlers: {
      refuse: (status, reason) => ({ status, headers: ResponseHeaders.of('x-refused', 'yes'), body: reason }),
      handle: ({ path }, responder) =>
        responder.send(path === '/unread' ? { status: 200, headers: NO_HEADERS, body: UNREAD } : text('ok')),
    },
  };
  return engineOf(name).create(options);
}
