/** Memory that unread responses cost is bounded, and who costs most goes first. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ByteBudget, type ByteHolder } from '../../../src/http/transport/byte-budget.ts';
import { NO_HEADERS } from '../../../src/http/transport/response.ts';
import { overEachEngine, start, text, until } from './engines.ts';
import { fetchRaw, RawConnection, request } from './raw-connection.ts';

const CLOCK = { now: () => 0 };

class Reader implements ByteHolder {
  readonly waiting: Uint8Array[] = [];
  copiedBytes = 0;
  enteredAt = 0;
  isEvicted = false;

  *waitingBytes(): Iterable<Uint8Array> {
    yield* this.waiting;
  }

  evict(): void {
    this.isEvicted = true;
  }
}

function give(budget: ByteBudget, reader: Reader, bytes: Uint8Array): void {
  reader.waiting.push(bytes);
  budget.take(reader, bytes);
}

test('bytes that several readers wait for count once, until the last has them', () => {
  const budget = new ByteBudget(1000, CLOCK);
  const [first, second] = [new Reader(), new Reader()];
  const shared = new Uint8Array(600);
  give(budget, first, shared);
  give(budget, second, shared);
  give(budget, second, shared);
  assert.equal(budget.bytes, 600);
  budget.leave(first);
  assert.equal(budget.bytes, 600);
  budget.leave(second);
  assert.deepEqual([budget.bytes, budget.evictedCount], [0, 0]);
});

test('a part counts as all the memory that it keeps, once for all of its parts', () => {
  const budget = new ByteBudget(1000, CLOCK);
  const [first, second] = [new Reader(), new Reader()];
  const whole = new Uint8Array(900);
  give(budget, first, whole.subarray(0, 10));
  give(budget, second, whole.subarray(10, 20));
  assert.deepEqual([budget.bytes, budget.evictedCount], [900, 0]);
  budget.leave(first);
  assert.equal(budget.bytes, 900);
  budget.leave(second);
  assert.equal(budget.bytes, 0);
});

test('above the limit the reader that costs most goes, not the one that came last', () => {
  const budget = new ByteBudget(1000, CLOCK);
  const [small, large, last] = [new Reader(), new Reader(), new Reader()];
  give(budget, small, new Uint8Array(100));
  give(budget, large, new Uint8Array(700));
  give(budget, last, new Uint8Array(300));
  assert.deepEqual([small.isEvicted, large.isEvicted, last.isEvicted], [false, true, false]);
  assert.deepEqual([budget.bytes, budget.evictedCount], [400, 1]);
});

test('one that waits for much that others wait for too is no better to close than what closing it frees', () => {
  const budget = new ByteBudget(1000, CLOCK);
  const sharing = Array.from({ length: 10 }, () => new Reader());
  const alone = new Reader();
  const shared = new Uint8Array(800);
  for (const reader of sharing) give(budget, reader, shared);
  give(budget, alone, new Uint8Array(300));
  assert.deepEqual([alone.isEvicted, budget.bytes], [true, 800]);
});

test('copies count in full, and a reader too large for the limit goes itself', () => {
  const budget = new ByteBudget(1000, CLOCK);
  const reader = new Reader();
  reader.copiedBytes = 1001;
  budget.takeCopied(reader, 1001);
  assert.deepEqual([reader.isEvicted, budget.bytes], [true, 0]);
});

test('among those who have much, the one that has it for longest goes first', () => {
  const budget = new ByteBudget(1000, { now: () => 100 });
  const [slow, large] = [new Reader(), new Reader()];
  large.enteredAt = 90;
  give(budget, slow, new Uint8Array(300));
  give(budget, large, new Uint8Array(701));
  assert.deepEqual([slow.isEvicted, large.isEvicted, budget.bytes], [true, false, 701]);
});

test('the connections of one client count together, and its dearest one goes first', () => {
  const budget = new ByteBudget(1000, { now: () => 100 });
  const single = Object.assign(new Reader(), { enteredAt: 50 });
  give(budget, single, new Uint8Array(400));
  const spread = [100, 90, 80, 70, 60, 50, 40, 30, 20, 10].map((enteredAt) =>
    Object.assign(new Reader(), { client: 'spread', enteredAt }),
  );
  for (const reader of spread.reverse()) give(budget, reader, new Uint8Array(61));
  assert.deepEqual(
    [single.isEvicted, spread.map(({ isEvicted }) => isEvicted)],
    [false, [true, ...Array(9).fill(false)]],
  );
  assert.deepEqual([budget.bytes, budget.evictedCount], [949, 1]);
});

test('a search for those that give way looks at few clients for each of them', () => {
  const budget = new ByteBudget(50_000, CLOCK);
  let looks = 0;
  for (let at = 0; at < 2_000; at += 1) {
    const reader = new Reader();
    budget.takeCopied(
      Object.defineProperty(reader, 'copiedBytes', {
        get: () => {
          looks += 1;
          return 100;
        },
      }),
      100,
    );
  }
  assert(budget.evictedCount >= 1_500 && budget.bytes > 45_000);
  assert(looks / budget.evictedCount < 25, `${looks} looks for ${budget.evictedCount}`);
});

overEachEngine('unread responses', (engine) => {
  test('those made for one request each stay within the limit, and others are served', async (t) => {
    // More than the kernel takes of a response, little by little, for a client that does not read.
    const bodyBytes = 16_000_000;
    const bytesMax = 5 * bodyBytes;
    const { port, transport } = await start(t, engine, {
      limits: { unreadBytesMax: bytesMax, connectionsMax: 100 },
      handle: ({ path }, responder) =>
        responder.send(
          path === '/list' ? { status: 200, headers: NO_HEADERS, body: Buffer.alloc(bodyBytes) } : text('ok'),
        ),
    });
    const readers: RawConnection[] = [];
    let highest = 0;
    for (let i = 0; i < 60; i += 1) {
      const reader = await RawConnection.open(t, port);
      reader.stopReading();
      reader.write(request('/list'));
      readers.push(reader);
      if (i % 20 === 0) assert.equal((await fetchRaw(t, port, request('/small'))).body, 'ok');
      highest = Math.max(highest, transport.unreadBytes);
    }
    await until(() => transport.evictedReaders > 50);
    assert(highest > bytesMax / 2 && highest <= bytesMax, `${highest} bytes waited`);
    await until(() => transport.openRequests <= bytesMax / bodyBytes);
    for (const reader of readers) reader.destroy();
    await until(() => transport.openRequests === 0 && transport.openConnections === 0);
    assert.equal(transport.unreadBytes, 0);
  });

  test('a body that is shared costs its size once, however many wait for it', async (t) => {
    const body = Buffer.alloc(12_000_000);
    const { port, transport } = await start(t, engine, {
      limits: { unreadBytesMax: 20_000_000 },
      handle: (_, responder) => responder.send({ status: 200, headers: NO_HEADERS, body }),
    });
    const readers: RawConnection[] = [];
    for (let i = 0; i < 20; i += 1) {
      const reader = await RawConnection.open(t, port);
      reader.stopReading();
      reader.write(request('/'));
      readers.push(reader);
    }
    await until(() => transport.openRequests === 20);
    assert.deepEqual([transport.unreadBytes, transport.evictedReaders], [body.byteLength, 0]);
    const [first, ...others] = readers;
    first!.goOnReading();
    await until(() => transport.openRequests === 19);
    assert.equal(transport.unreadBytes, body.byteLength);
    for (const reader of others) reader.destroy();
    await until(() => transport.openRequests === 0);
    assert.equal(transport.unreadBytes, 0);
  });
});
