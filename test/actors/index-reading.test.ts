/** The part of the index of events that a start leaves unread: searches wait for it, and it is the same whatever happens to files and events meanwhile. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DamagedHistoryError } from '../../src/persistence/disk/data-folder.ts';
import type { EventQuery } from '../../src/persistence/event-log/event-filter.ts';
import { createFlag, FOLDER, openTestEngine, settle, type TestEngine } from '../support/engine.ts';
import type { MemoryFileSystem } from '../support/memory-file-system.ts';

const JOURNAL = `${FOLDER}/journal`;
const SEGMENT_BYTES = 1_500;

/** A folder of several segments, closed cleanly. */
async function stopped(): Promise<MemoryFileSystem> {
  const first = await openTestEngine({ segmentBytes: SEGMENT_BYTES });
  for (let number = 0; number < 30; number += 1) await first.execute(createFlag(`flag-${number}`));
  first.manual.runFreely();
  await first.store.close();
  return first.disk;
}

const filesOf = (disk: MemoryFileSystem, suffix: string): string[] =>
  disk
    .namesIn(JOURNAL)
    .filter((name) => name.endsWith(suffix))
    .sort()
    .map((name) => `${JOURNAL}/${name}`);

interface Held {
  readonly engine: TestEngine;
  /** Lets the reading go on to its next pause, and whatever else waits for time to pass. */
  goOn(): Promise<void>;
}

/** An engine that has left the index for later, and whose time stands still until the test lets it go on; each slice is short then. */
async function held(disk: MemoryFileSystem): Promise<Held> {
  let waiting: (() => void)[] = [];
  const engine = await openTestEngine({
    disk,
    segmentBytes: SEGMENT_BYTES,
    deferredBytesMin: 0,
    timer: (_, run) => {
      waiting.push(run);
      return () => {
        waiting = waiting.filter((other) => other !== run);
      };
    },
  });
  let now = 0;
  Object.defineProperty(engine.manual, 'monotonicMs', {
    get: () => {
      now += 3;
      return now;
    },
  });
  assert.equal(engine.store.engine.eventLog.isWhole, false, 'there is something left to read');
  const goOn = async (): Promise<void> => {
    for (const run of waiting.splice(0)) run();
    await settle();
  };
  return { engine, goOn };
}

async function finish({ engine, goOn }: Held): Promise<number> {
  for (let pauses = 0; ; pauses += 1) {
    if (engine.store.engine.eventLog.isWhole || engine.stops.length > 0) return pauses;
    assert(pauses < 10_000, 'the reading ends');
    await goOn();
  }
}

const QUERIES: readonly Omit<EventQuery, 'limit' | 'offset'>[] = [
  {},
  { type: 'feature-created' },
  { feature: 'flag-7' },
  { project: 'default', type: 'feature-created' },
  { authors: ['tester'] },
  { feature: 'none such' },
  { query: 'flag-2' },
];

async function search({ store }: TestEngine, query: Omit<EventQuery, 'limit' | 'offset'>): Promise<unknown> {
  const { eventLog, durableId } = store.engine;
  const page = await eventLog.search({ limit: 7, offset: 0, ...query }, durableId);
  return { ...page, json: JSON.parse(Buffer.from(page.json).toString()) };
}

/** The searches find what an engine finds that has read all at once. */
async function assertWhole(engine: TestEngine): Promise<void> {
  const { eventLog } = engine.store.engine;
  eventLog.audit();
  const atOnce = await openTestEngine({ disk: engine.disk.copy() });
  assert(atOnce.store.engine.eventLog.isWhole);
  assert.equal(atOnce.store.engine.lastId, engine.store.engine.lastId);
  for (const query of QUERIES)
    assert.deepEqual(await search(engine, query), await search(atOnce, query), JSON.stringify(query));
}

describe('the index of old events', () => {
  it('is read after the start, in slices, and is then that of a start that has read all', async () => {
    const one = await held(await stopped());
    assert((await finish(one)) > 10);
    await assertWhole(one.engine);
    assert.deepEqual(one.engine.stops, []);
  });

  it('has searches wait, but not those for the newest events and for events by id', async () => {
    const one = await held(await stopped());
    const { eventLog, lastId } = one.engine.store.engine;
    const newest = (await search(one.engine, {})) as { readonly totalEvents: number };
    assert.equal(newest.totalEvents, lastId);
    assert.notEqual(await eventLog.readFrame(3), null);
    const found: unknown[] = [];
    const asked = QUERIES.slice(1).map((query) => search(one.engine, query).then((page) => found.push(page)));
    for (let pauses = 0; pauses < 5; pauses += 1) await one.goOn();
    assert.deepEqual([found.length, eventLog.isWhole], [0, false]);
    await finish(one);
    await Promise.all(asked);
    assert.equal(found.length, QUERIES.length - 1);
  });

  it('is not waited for by whoever has gone', async () => {
    const one = await held(await stopped());
    const { eventLog, durableId } = one.engine.store.engine;
    const gone = new AbortController();
    const query = { type: 'feature-created', limit: 1, offset: 0 };
    const asked = eventLog.search(query, durableId, { signal: gone.signal });
    gone.abort(new Error('nobody waits'));
    await assert.rejects(asked, /nobody waits/);
    await assert.rejects(eventLog.search(query, durableId, { signal: gone.signal }), /nobody waits/);
    assert.equal(eventLog.isWhole, false);
  });

  it('has the events that come while it is read, in old and new segments', async () => {
    const one = await held(await stopped());
    const before = filesOf(one.engine.disk, '.journal').length;
    for (let number = 30; !one.engine.store.engine.eventLog.isWhole; number += 1) {
      await one.engine.execute(createFlag(`flag-${number}`));
      await one.goOn();
    }
    assert(filesOf(one.engine.disk, '.journal').length > before + 1, 'new segments have begun');
    await one.engine.execute(createFlag('the-last'));
    await assertWhole(one.engine);
  });

  it('is read from the segments where an index file is gone or damaged when it is read again', async () => {
    for (const spoil of [
      (disk: MemoryFileSystem, path: string) => disk.take(path),
      (disk: MemoryFileSystem, path: string) => disk.put(path, disk.bytesOf(path).subarray(0, 50)),
      (disk: MemoryFileSystem, path: string) => {
        const bytes = Buffer.from(disk.bytesOf(path));
        bytes[bytes.length - 3]! ^= 4;
        disk.put(path, bytes);
      },
    ]) {
      const one = await held(await stopped());
      const { disk } = one.engine;
      const [, second] = filesOf(disk, '.index');
      assert(second !== undefined);
      spoil(disk, second);
      await finish(one);
      await assertWhole(one.engine);
      assert.deepEqual(one.engine.stops, []);
    }
  });

  it('ends the server where neither an index file nor its segment can be read, and names the place', async () => {
    const one = await held(await stopped());
    const { disk } = one.engine;
    const segment = filesOf(disk, '.journal')[1];
    const index = filesOf(disk, '.index')[1];
    assert(segment !== undefined && index !== undefined);
    disk.take(index);
    const bytes = Buffer.from(disk.bytesOf(segment));
    bytes[bytes.length - 20]! ^= 1;
    disk.put(segment, bytes);
    await finish(one);
    const [stop, ...more] = one.engine.stops;
    assert(stop instanceof DamagedHistoryError && more.length === 0);
    assert.equal(stop.file, segment);
    await assert.rejects(openTestEngine({ disk: disk.copy() }), /damaged/);
  });

  it('is read anew by the next start where a stop or a crash came first', async () => {
    const one = await held(await stopped());
    for (let pauses = 0; pauses < 3; pauses += 1) await one.goOn();
    await one.engine.execute(createFlag('flag-30'));
    const crashed = one.engine.disk.copy().crash();
    one.engine.manual.runFreely();
    const closing = one.engine.store.close();
    let isClosed = false;
    void closing.then(() => {
      isClosed = true;
    });
    for (let pauses = 0; !isClosed && pauses < 1_000; pauses += 1) await one.goOn();
    await closing;
    assert.equal(one.engine.store.engine.eventLog.isWhole, false, 'nobody waited for it');
    for (const disk of [crashed, one.engine.disk]) {
      const again = await held(disk.copy());
      await finish(again);
      await assertWhole(again.engine);
    }
  });
});
