/** The requests that a follower hands on, and what it holds while the leader does not respond. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import {
  FORWARDED_BYTES_MAX,
  FORWARDED_MAX,
  LeaderClient,
} from '../../../src/addons/replication/leader-client.ts';
import { isRefusal } from '../../../src/domain/state/refusal.ts';
import type { TransportRequest } from '../../../src/http/transport/transport.ts';

interface Leader {
  readonly client: LeaderClient;
  readonly server: Server;
  /** The address at which the client believes the leader; null for nowhere. */
  address: string | null;
}

/** A client whose leader is a server that does this. */
async function leaderThat(t: TestContext, respond: RequestListener): Promise<Leader> {
  const server = createServer({ keepAlive: true }, respond);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const leader: Leader = {
    server,
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    client: new LeaderClient({ node: 'follower', hopKey: 'key', leaderAddress: () => leader.address }),
  };
  t.after(() => {
    leader.client.close();
    server.closeAllConnections();
    server.close();
  });
  return leader;
}

function requestOf(more: Partial<TransportRequest> = {}): TransportRequest {
  return {
    ...{ method: 'POST', path: '/api/admin/projects', query: '', body: new Uint8Array(0) },
    ...{ hasBody: (more.body?.byteLength ?? 0) > 0, bodyDropped: false },
    header: () => '',
    remoteAddress: () => '',
    host: () => '',
    ...more,
  };
}

const forwarded = (leader: Leader, more: Partial<TransportRequest> = {}) =>
  leader.client.forward(requestOf(more), new AbortController().signal);

const messageOf = (response: unknown): string => (isRefusal(response) ? response.message : 'no refusal');

test('the path and the query arrive byte for byte, also where a URL would be written anew', async (t) => {
  const seen: string[] = [];
  const leader = await leaderThat(t, (request, response) => {
    seen.push(request.url ?? '');
    response.end();
  });
  const targets = [
    ['/a\\b/..\\c', ''],
    ['//other.example/x', ''],
    ['/a/%2e%2e/b', 'q=%zz|"<>'],
    ['/a#b', 'c#d'],
  ] as const;
  for (const [path, query] of targets) await forwarded(leader, { path, query });
  assert.deepEqual(
    seen,
    targets.map(([path, query]) => (query === '' ? path : `${path}?${query}`)),
  );
});

test('bodies that wait for a leader that stands still are bounded, and give their room back', async (t) => {
  const waiting: (() => void)[] = [];
  const leader = await leaderThat(t, (_request, response) => void waiting.push(() => response.end()));
  const body = new Uint8Array(1024 * 1024);
  const held = Array.from({ length: FORWARDED_BYTES_MAX / body.byteLength }, () =>
    forwarded(leader, { body }),
  );
  assert.match(messageOf(await forwarded(leader, { body })), /Too many changes wait .* nothing was done/);
  leader.client.close();
  for (const outcome of await Promise.all(held)) assert(isRefusal(outcome));
  assert.equal(isRefusal(await settled(forwarded(leader, { body }), waiting)), false);
});

test('requests without bodies that wait for the leader are bounded too', async (t) => {
  const leader = await leaderThat(t, () => undefined);
  const stop = new AbortController();
  const held = Array.from({ length: FORWARDED_MAX }, () => leader.client.forward(requestOf(), stop.signal));
  assert.match(messageOf(await forwarded(leader)), /Too many changes wait/);
  stop.abort(new Error('the clients are gone'));
  for (const outcome of await Promise.allSettled(held)) assert.equal(outcome.status, 'rejected');
});

test('responses that do not fit are given up, with a word that the change may have happened', async (t) => {
  const piece = Buffer.alloc(1024 * 1024);
  const leader = await leaderThat(t, (_request, response) => {
    const more = (): void => {
      while (!response.destroyed && response.write(piece));
    };
    response.on('drain', more);
    more();
  });
  assert.match(messageOf(await forwarded(leader)), /the change may have happened/);
});

test('who waits for a leader that stands still is told so when another node leads', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const leader = await leaderThat(t, () => undefined);
  const waits = forwarded(leader);
  await once(leader.server, 'request');
  t.mock.timers.tick(5_000);
  leader.address = 'http://127.0.0.1:1';
  t.mock.timers.tick(2_000);
  assert.match(messageOf(await waits), /the change may have happened.* same Idempotency-Key/);
});

/** Has the leader respond to everything until the outcome is there. */
async function settled<T>(outcome: Promise<T>, waiting: (() => void)[]): Promise<T> {
  const timer = setInterval(() => {
    for (const respond of waiting.splice(0)) respond();
  }, 10);
  return outcome.finally(() => clearInterval(timer));
}
