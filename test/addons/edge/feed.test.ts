/** The ways in which an edge reads its upstream: the best one that works, with a way back, and waits that spare an upstream in trouble. */
import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { describe, it, type TestContext } from 'node:test';
import { setImmediate as nextRound } from 'node:timers/promises';
import { FEED_WAYS, Feed, type FeedWay } from '../../../src/addons/edge/feed.ts';
import { Mirror } from '../../../src/addons/edge/mirror.ts';
import { readSettings } from '../../../src/addons/edge/settings.ts';
import {
  CONNECTIONS_MAX,
  type SentEvent,
  UpstreamClient,
  UpstreamError,
  type UpstreamResponse,
} from '../../../src/addons/edge/upstream-client.ts';
import { CLIENT, documents, edgeFor, FRONTEND, flag, stubFor, until } from './edges.ts';

const MINUTE_MS = 60_000;

const hydration = (name: string, eventId: number) =>
  JSON.stringify({ events: [{ type: 'hydration', eventId, features: [flag(name)], segments: [] }] });

const responseWith = (status: number, body = '', more: Partial<UpstreamResponse> = {}): UpstreamResponse => ({
  ...{ status, body: Buffer.from(body), etag: '"1"', retryAfterMs: null },
  ...more,
});

interface FedBy {
  stream?(lastEventId: number | null): AsyncGenerator<SentEvent>;
  delta?(): UpstreamResponse;
  polling?(): UpstreamResponse;
}

/** A feed of an upstream that does what the test says; what it does not say is not there. Waits pass at once, and are noted; after the last one it stops. */
function feedOf(t: TestContext, upstream: FedBy, waitsMax = Number.POSITIVE_INFINITY) {
  const noted = { waits: [] as number[], ways: [] as FeedWay[], warnings: 0, revoked: 0, nowMs: 0 };
  const mirror = new Mirror({
    ...{ environment: 'development', memoryBudgetBytes: 2 ** 30, monotonicMs: () => 0 },
    onFault: (error) => assert.fail(String(error)),
  });
  const asked = (way: FeedWay): void => void noted.ways.push(way);
  const feed = new Feed({
    ...{ token: CLIENT, mirror, ways: FEED_WAYS, pollMs: 15_000, now: () => noted.nowMs },
    log: { info: () => undefined, warn: () => (noted.warnings += 1) },
    client: {
      get: async (path) => {
        const way = path.endsWith('/delta') ? 'delta' : 'polling';
        asked(way);
        return upstream[way]?.() ?? responseWith(404);
      },
      async *stream(_, lastEventId) {
        asked('streaming');
        if (upstream.stream === undefined) throw new UpstreamError(404, 'there is no stream');
        yield* upstream.stream(lastEventId);
      },
    },
    wait: async (delayMs) => {
      noted.waits.push(delayMs);
      noted.nowMs += delayMs;
      if (noted.waits.length >= waitsMax) feed.stop();
      await nextRound();
    },
    onConfirmed: () => undefined,
    onRevoked: () => (noted.revoked += 1),
  });
  t.after(() => feed.stop());
  return { feed, mirror, noted };
}

async function* never(): AsyncGenerator<SentEvent> {
  await new Promise(() => undefined);
}

async function* lasting(...events: readonly SentEvent[]): AsyncGenerator<SentEvent> {
  yield* events;
  yield* never();
}

const connected = (name: string, eventId: number): SentEvent => ({
  ...{ type: 'unleash-connected', data: Buffer.from(hydration(name, eventId)) },
});

const flagsIn = (mirror: Mirror): readonly string[] => [...mirror.world.flagProjects.keys()];

describe('the feed of a mirror', () => {
  it('takes the stream, and goes on behind the last event after it ended', async (t) => {
    const askedFrom: (number | null)[] = [];
    const { feed, mirror } = feedOf(t, {
      async *stream(lastEventId) {
        askedFrom.push(lastEventId);
        if (askedFrom.length === 1) yield connected('a', 7);
        else yield* never();
      },
    });
    feed.start();
    await until(() => askedFrom.length === 2);
    feed.stop();
    assert.deepEqual(askedFrom, [null, 7]);
    assert.deepEqual([flagsIn(mirror), mirror.lastId], [['a'], 7]);
  });

  it('takes deltas where there is no stream, and documents where there are no deltas either', async (t) => {
    let hasDeltas = true;
    const { feed, mirror, noted } = feedOf(t, {
      delta: () => (hasDeltas ? responseWith(200, hydration('of-a-delta', 3)) : responseWith(404)),
      polling: () => responseWith(200, JSON.stringify({ features: [flag('of-a-document')] })),
    });
    feed.start();
    await until(() => feed.way === 'delta' && mirror.isFilled);
    assert.deepEqual(flagsIn(mirror), ['of-a-delta']);
    hasDeltas = false;
    await until(() => flagsIn(mirror)[0] === 'of-a-document');
    feed.stop();
    assert.equal(feed.way, 'polling');
    assert.deepEqual(noted.ways.slice(0, 2), ['streaming', 'delta']);
    assert.deepEqual(new Set(noted.waits), new Set([15_000]), 'another way is tried at once');
  });

  it('comes back to the better way after five minutes', async (t) => {
    let isStreaming = false;
    const { feed, mirror, noted } = feedOf(t, {
      async *stream() {
        if (!isStreaming) throw new UpstreamError(404, 'there is no stream');
        yield* lasting(connected('of-a-stream', 9));
      },
      polling: () => responseWith(200, JSON.stringify({ features: [flag('of-a-document')] })),
    });
    feed.start();
    await until(() => mirror.isFilled);
    isStreaming = true;
    await until(() => flagsIn(mirror)[0] === 'of-a-stream');
    // The mirror has what a message brought a moment before the message is confirmed.
    await until(() => feed.ageMs === 0);
    assert.equal(feed.way, 'streaming');
    assert.ok(noted.nowMs >= 5 * MINUTE_MS);
    feed.stop();
  });

  it('reads in a lower way where the stream fails twice while the upstream is there', async (t) => {
    const upstream: FedBy = {
      // biome-ignore lint/correctness/useYield: it fails before its first event.
      async *stream() {
        throw new UpstreamError(503, 'too many streams are open');
      },
      delta: () => responseWith(200, hydration('a', 1)),
    };
    const { feed, mirror, noted } = feedOf(t, upstream, 8);
    feed.start();
    await until(() => noted.waits.length === 8);
    assert.deepEqual(noted.ways.slice(0, 3), ['streaming', 'streaming', 'delta']);
    assert.deepEqual(new Set(noted.ways.slice(3)), new Set(['delta']), 'and stays with it for a while');
    assert.deepEqual([flagsIn(mirror), noted.warnings], [['a'], 1]);
  });

  it('stays with the stream where the upstream is away, and waits longer and longer, up to a minute', async (t) => {
    let isAway = true;
    const away = (): never => {
      throw new UpstreamError(0, 'it cannot be reached');
    };
    const { feed, mirror, noted } = feedOf(t, {
      async *stream() {
        if (isAway) away();
        yield* lasting(connected('a', 1));
      },
      ...{ delta: away, polling: away },
    });
    feed.start();
    await until(() => noted.waits.length > 12);
    for (const [failures, waitMs] of noted.waits.slice(0, 12).entries()) {
      const mostMs = Math.min(500 * 2 ** (failures + 1), MINUTE_MS);
      assert.ok(waitMs >= mostMs / 2 && waitMs <= mostMs, `wait ${failures} of ${waitMs} ms`);
    }
    isAway = false;
    await until(() => mirror.isFilled);
    assert.equal(feed.way, 'streaming');
    assert.equal(noted.warnings, 1, 'one line a fault');
    feed.stop();
  });

  it('warns once where the upstream ends its stream in good order and is away then', async (t) => {
    let streams = 0;
    const { feed, noted } = feedOf(
      t,
      {
        async *stream() {
          streams += 1;
          if (streams > 1) throw new UpstreamError(0, 'it cannot be reached');
          yield connected('a', 1);
        },
      },
      4,
    );
    feed.start();
    await until(() => noted.waits.length === 4);
    assert.equal(noted.warnings, 1);
  });

  it('gives up for a while a stream that ends five times within a minute', async (t) => {
    const upstream: FedBy = {
      async *stream() {
        yield connected('a', 1);
      },
      delta: () => responseWith(304),
    };
    const { feed, noted } = feedOf(t, upstream, 12);
    feed.start();
    await until(() => noted.waits.length === 12);
    const expected = FEED_WAYS.flatMap((way) =>
      Array.from({ length: { streaming: 5, delta: 8, polling: 0 }[way] }, () => way),
    );
    assert.deepEqual(noted.ways, expected);
  });

  it('does as the upstream says that asks for polls, or to wait', async (t) => {
    let answers = 0;
    const { feed, mirror, noted } = feedOf(t, {
      async *stream() {
        yield { type: 'fetch-mode', data: Buffer.from('polling') };
        yield* never();
      },
      polling: () => {
        answers += 1;
        if (answers > 1) return responseWith(200, JSON.stringify({ features: [flag('a')] }));
        return responseWith(429, '', { retryAfterMs: 20_000 });
      },
    });
    feed.start();
    await until(() => mirror.isFilled);
    feed.stop();
    assert.equal(noted.waits[0], 20_000);
  });

  for (const status of [401, 403])
    it(`ends where the upstream refuses the token with ${status}`, async (t) => {
      const { feed, noted } = feedOf(t, { polling: () => responseWith(status) });
      feed.start();
      await until(() => noted.revoked > 0);
      await nextRound();
      assert.deepEqual([noted.revoked, noted.waits], [1, []]);
    });
});

describe('an edge whose upstream changes the ways in which it can be read', () => {
  it('serves each change, and says in its metrics which way it uses', async (t) => {
    const offered = new Set<FeedWay>(FEED_WAYS);
    const streams = new Set<ServerResponse>();
    let name = 'a';
    let eventId = 1;
    const whole = documents(() => ({ features: [flag(name)] }));
    const upstream = await stubFor(t, (request, response) => {
      const way = request.path === '/api/client/streaming' ? 'streaming' : 'delta';
      if (request.path === '/api/client/features') return whole(request, response);
      if (!offered.has(way)) return void response.writeHead(404).end('{}');
      if (way === 'delta') return void response.end(hydration(name, eventId));
      streams.add(response.writeHead(200, { 'content-type': 'text/event-stream' }));
      response.write(`event: unleash-connected\ndata: ${hydration(name, eventId)}\n\n`);
    });
    let nowMs = 0;
    const tokens = `${CLIENT},${FRONTEND}`;
    const edge = await edgeFor(t, { 'upstream-url': upstream.origin, tokens }, { now: () => nowMs });
    const change = async (to: string, way: FeedWay): Promise<void> => {
      [name, eventId] = [to, eventId + 1];
      for (const stream of streams) stream.end();
      streams.clear();
      await until(async () => {
        const { body } = await edge.call('/api/frontend')('GET', '?userId=1', undefined, { token: FRONTEND });
        return body.toggles[0]?.name === to;
      });
      const lines = FEED_WAYS.map((one) => `flagstaff_edge_feeds{way="${one}"} ${one === way ? 1 : 0}`);
      // The page is made at most once a second.
      await until(async () => {
        const metrics = await (await fetch(`${edge.origin}/internal-backstage/metrics`)).text();
        return lines.every((line) => metrics.split('\n').includes(line));
      });
    };
    await change('b', 'streaming');
    offered.delete('streaming');
    await change('c', 'delta');
    offered.delete('delta');
    await change('d', 'polling');
    offered.add('streaming');
    nowMs += 5 * MINUTE_MS;
    await change('e', 'streaming');
  });

  it('reads deltas where something on the way holds the stream back', async (t) => {
    const upstream = await stubFor(t, ({ path }, response) => {
      if (path === '/api/client/delta') response.end(hydration('a', 1));
      else if (path === '/api/client/streaming')
        response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
      else response.writeHead(404).end();
    });
    const edge = await edgeFor(t, {
      ...{ 'upstream-url': upstream.origin, tokens: CLIENT, 'upstream-request-timeout': '0.5' },
    });
    assert.equal([...edge.edge.mirrors][0]?.feed.way, 'delta');
  });
});

describe('the streams of very many mirrors', () => {
  it('take no connection from other requests to the upstream', async (t) => {
    const upstream = await stubFor(t, ({ path }, response) => {
      if (path !== '/api/client/streaming') return void response.end('{}');
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(`event: unleash-connected\ndata: ${hydration('a', 1)}\n\n`);
    });
    const client = new UpstreamClient(readSettings({ 'upstream-url': upstream.origin }, {}).upstream);
    t.after(() => client.close());
    const ended = new AbortController();
    t.after(() => ended.abort());
    for (let mirrors = 0; mirrors <= CONNECTIONS_MAX; mirrors += 1) {
      const { value } = await client.stream(CLIENT, null, ended.signal).next();
      assert.equal(value?.type, 'unleash-connected');
    }
    assert.equal((await client.get('/api/client/features', CLIENT)).status, 200);
  });
});
