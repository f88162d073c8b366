/** The index of events that a start leaves unread: nothing is searched before it is made, and it is the same whatever comes meanwhile. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isRefusal } from '../../src/domain/state/refusal.ts';
import type { EventQuery } from '../../src/persistence/event-log/event-filter.ts';
import { createFlag, FOLDER, openTestEngine, settle, type TestEngine } from '../support/engine.ts';
import type { MemoryFileSystem } from '../support/memory-file-system.ts';

const SEGMENT_BYTES = 1_500;

/** A folder of several segments, closed cleanly. */
async function stopped(): Promise<MemoryFileSystem> {
  const first = await openTestEngine({ segmentBytes: SEGMENT_BYTES });
  for (let number = 0; number < 30; number += 1) await first.execute(createFlag(`flag-${number}`));
  first.manual.runFreely();
  await first.store.close();
  return first.disk;
}

interface Held {
  readonly engine: TestEngine;
  /** Lets the reading go on to its next pause, and whatever else waits for time to pass. */
  goOn(): Promise<void>;
}

/** An engine that has left its history unread, and whose time stands still until the test lets it go on. */
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
  assert.equal(engine.store.engine.eventLog.isWhole, false, 'there is something left to read');
  const goOn = async (): Promise<void> => {
    for (const run of waiting.splice(0)) run();
    engine.manual.runTurns();
    await settle();
  };
  return { engine, goOn };
}

async function finish({ engine, goOn }: Held): Promise<void> {
  for (let pauses = 0; !engine.store.engine.eventLog.isWhole; pauses += 1) {
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

describe('the index of history that a start leaves unread', () => {
  it('is that of a start that has read all, once the reading is done', async () => {
    const one = await held(await stopped());
    await finish(one);
    await assertWhole(one.engine);
  });

  it('has every read of events refused with 503 and the reason until then, and none after', async () => {
    const one = await held(await stopped());
    const { reads, engine } = one.engine.store;
    const asked = () =>
      reads.search({ feature: 'flag-7', limit: 1, offset: 0 }, engine.durableId, {
        name: 'tester',
        signal: new AbortController().signal,
        charge: () => undefined,
      } as Parameters<typeof reads.search>[2]);
    const refusal = await asked();
    assert(isRefusal(refusal) && refusal.name === 'ServiceUnavailableError');
    assert.match(refusal.message, /still reads its history/);
    await finish(one);
    assert(!isRefusal(await asked()));
  });

  it('has the events that come while it is made, in old and new segments', async () => {
    const one = await held(await stopped());
    const segments = () =>
      one.engine.disk.namesIn(`${FOLDER}/journal`).filter((name) => name.endsWith('.journal')).length;
    const before = segments();
    for (let number = 30; number < 45; number += 1) await one.engine.execute(createFlag(`flag-${number}`));
    assert(segments() > before + 1, 'new segments have begun');
    await finish(one);
    await assertWhole(one.engine);
  });

  it('is made anew by the next start where a stop or a crash came first', async () => {
    const one = await held(await stopped());
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
    for (const disk of [crashed, one.engine.disk]) {
      const again = await held(disk.copy());
      await finish(again);
      await assertWhole(again.engine);
    }
  });
});
