/** The feed of durable changes: who hears of what, when, and what the ring still has. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Change, ChangeFeed, type ChangeFeedOptions } from '../../src/actors/change-feed.ts';
import { createFlag, openTestEngine, settle } from '../support/engine.ts';
import { frameOf } from '../support/journal-fixture.ts';
import { seededRandom } from '../support/seeded-random.ts';

const BYTES = 100;

interface Opened {
  readonly feed: ChangeFeed;
  readonly faults: unknown[];
  /** Adds a change of so many events. */
  add(events?: number, bytes?: number): void;
}

function open(options: Partial<ChangeFeedOptions> = {}): Opened {
  const faults: unknown[] = [];
  const { durableId = 0 } = options;
  const feed = new ChangeFeed({ durableId, onFault: (error) => faults.push(error), ...options });
  let nextId = durableId + 1;
  const add: Opened['add'] = (events = 1, bytes = BYTES) => {
    feed.add(frameOf(nextId, events), bytes);
    nextId += events;
  };
  return { feed, faults, add };
}

const idsOf = (changes: readonly Change[] | string): unknown =>
  typeof changes === 'string' ? changes : changes.map(({ id }) => id);

describe('a change feed', () => {
  it('tells of each batch that became durable once, in order, and of nothing else', () => {
    const { feed, add } = open({ durableId: 5 });
    const told: unknown[] = [];
    feed.subscribe((changes) => told.push(idsOf(changes)));
    add();
    add(2);
    add();
    assert.deepEqual([told, feed.since(5), feed.since(6)], [[], [], 'not-yet'], 'appended is not durable');
    feed.advance(8);
    assert.deepEqual(told, [[6, 7]]);
    feed.advance(8);
    assert.deepEqual(told, [[6, 7]], 'nothing new, nothing told');
    feed.advance(9);
    assert.deepEqual(told, [[6, 7], [9]]);
  });

  it('goes on from any durable event, giving whole a change that the event lies in', () => {
    const { feed, add } = open();
    add();
    add(3);
    add();
    feed.advance(5);
    const since = [0, 1, 2, 3, 4, 5].map((id) => idsOf(feed.since(id)));
    assert.deepEqual(since, [[1, 2, 5], [2, 5], [2, 5], [2, 5], [5], []]);
  });

  it('refuses to be ahead of the journal by part of a change', () => {
    const { feed, add } = open();
    add(2);
    assert.throws(() => feed.advance(1), /part of the change/);
    const late = open();
    assert.throws(() => late.feed.add(frameOf(2), BYTES), /in order/);
  });

  it('keeps so many changes and so many bytes, and says which events it no longer has', () => {
    const few = open({ changesMax: 3 });
    for (let count = 0; count < 10; count += 1) few.add();
    few.feed.advance(10);
    assert.deepEqual([few.feed.kept.changes, idsOf(few.feed.since(7))], [3, [8, 9, 10]]);
    assert.equal(few.feed.since(6), 'too-old');
    const small = open({ bytesMax: 250 });
    for (let count = 0; count < 3; count += 1) small.add();
    small.feed.advance(3);
    assert.deepEqual(small.feed.kept, { changes: 2, bytes: 200 });
    small.add(1, 251);
    small.feed.advance(4);
    assert.deepEqual(
      [small.feed.kept, small.feed.since(3), small.feed.since(4)],
      [{ changes: 0, bytes: 0 }, 'too-old', []],
    );
  });

  it('has the newest changes after very many, whatever was dropped on the way', () => {
    const { feed, add } = open({ changesMax: 7, bytesMax: 500 });
    for (let id = 1; id <= 1000; id += 1) {
      add(1, id % 3 === 0 ? 200 : 50);
      feed.advance(id);
      const kept = feed.since(id - feed.kept.changes);
      assert(typeof kept !== 'string' && kept.length === feed.kept.changes);
      assert(feed.kept.changes <= 7 && feed.kept.bytes <= 500);
      assert.equal(kept.at(-1)?.id, id);
    }
  });

  it('tells the others though one throws, and that one again the next time', () => {
    const { feed, add, faults } = open();
    const told: string[] = [];
    feed.subscribe(() => {
      told.push('bad');
      throw new Error('a listener failed');
    });
    feed.subscribe(() => told.push('good'));
    for (const id of [1, 2]) {
      add();
      feed.advance(id);
    }
    assert.deepEqual(told, ['bad', 'good', 'bad', 'good']);
    assert.equal(faults.length, 2);
  });

  it('tells who subscribes meanwhile of the next batch first, and who has left of none', () => {
    const { feed, add } = open();
    const told: string[] = [];
    const leave = feed.subscribe(() => {
      told.push('first');
      leave();
      feed.subscribe(() => told.push('second'));
    });
    for (const id of [1, 2, 3]) {
      add();
      feed.advance(id);
    }
    assert.deepEqual(told, ['first', 'second', 'second']);
  });
});

describe('the change feed of an engine', () => {
  it('tells of a change when it is durable, and before its response leaves', async () => {
    const { store, submit, gate, manual } = await openTestEngine();
    const { engine } = store;
    const seen: string[] = [];
    engine.feed.subscribe((changes) => {
      assert(changes.every(({ id }) => id <= engine.durableId));
      seen.push(...changes.flatMap(({ events }) => events.map(({ type }) => type)));
    });
    gate.close();
    submit(createFlag('f'), { done: () => seen.push('response') });
    manual.runTurns();
    await settle();
    assert.deepEqual(seen, [], 'applied and appended, and nobody heard of it');
    gate.open();
    await settle();
    assert.deepEqual(seen, ['feature-created', 'response']);
  });

  it('answers every write although a listener throws', async () => {
    const { store, execute, stops } = await openTestEngine();
    store.engine.feed.subscribe(() => {
      throw new Error('a listener failed');
    });
    assert.equal((await execute(createFlag('a'))).kind, 'response');
    assert.equal((await execute(createFlag('b'))).kind, 'response');
    assert.deepEqual(stops, []);
  });

  it('told of nothing that a power cut takes back, and goes on after a restart from the last event', async () => {
    const { store, submit, gate, manual, disk } = await openTestEngine();
    let toldId = store.engine.durableId;
    store.engine.feed.subscribe((changes) => {
      toldId += changes.reduce((sum, { events }) => sum + events.length, 0);
    });
    submit(createFlag('kept'));
    manual.runTurns();
    await settle();
    gate.close();
    submit(createFlag('lost'));
    manual.runTurns();
    await settle();
    const restarted = await openTestEngine({ disk: disk.powerCut('lost', seededRandom(1)) });
    const { engine } = restarted.store;
    assert.equal(engine.lastId, toldId);
    assert.deepEqual([engine.feed.since(toldId), engine.feed.since(toldId - 1)], [[], 'too-old']);
  });
});
