import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EventIndex } from '../../../src/persistence/event-log/event-index.ts';
import { type Walk, walkIds } from '../../../src/persistence/event-log/event-walk.ts';
import { SEGMENT_HEADER_BYTES } from '../../../src/persistence/journal/segment.ts';
import { event } from '../../support/event-journal.ts';

const EVENTS = 130_000;
const SECOND_SEGMENT = 110_001;

/** Every event a frame of its own; flag `f<id % 1000>`, type `even` or `odd`. */
function largeIndex(): EventIndex {
  const index = new EventIndex();
  for (let id = 1; id <= EVENTS; id++) {
    const segment = id < SECOND_SEGMENT ? 1 : SECOND_SEGMENT;
    const events = [
      event({ featureName: `f${id % 1000}`, type: id % 2 === 0 ? 'even' : 'odd', project: 'p' }),
    ];
    const offset = SEGMENT_HEADER_BYTES + (id - segment) * 10;
    index.add({ id, at: id, by: 'a', userId: 1, events }, { segment, offset, length: 10 });
  }
  return index;
}

const index = largeIndex();

async function walk(options: Partial<Walk>): Promise<{ ids: number[]; batches: number[]; turns: number }> {
  const ids: number[] = [];
  const batches: number[] = [];
  let turns = 0;
  const giveWay = async (): Promise<void> => {
    turns++;
  };
  for await (const batch of walkIds(index, { from: 1, to: EVENTS, ...options }, giveWay)) {
    ids.push(...batch);
    batches.push(batch.length);
  }
  return { ids, batches, turns };
}

const idsFrom = (first: number, last: number): number[] => {
  const ids = Array.from({ length: Math.abs(last - first) + 1 }, (_, place) => Math.min(first, last) + place);
  return first <= last ? ids : ids.reverse();
};

test('a batch holds the frames of 128 KiB, or one that is larger', async () => {
  const large = new EventIndex();
  let offset = SEGMENT_HEADER_BYTES;
  for (let id = 1; id <= 60; id += 1) {
    const length = id === 30 ? 200_000 : 40_000;
    large.add({ id, at: id, by: 'a', userId: 1, events: [event({})] }, { segment: 1, offset, length });
    offset += length;
  }
  for (const newestFirst of [false, true]) {
    const batches: number[][] = [];
    for await (const ids of walkIds(large, { from: 1, to: 60, newestFirst }, async () => undefined))
      batches.push(ids);
    assert(batches.every((ids) => ids.length <= 3 && (ids.length === 1 || !ids.includes(30))));
    assert.deepEqual(batches.flat(), newestFirst ? idsFrom(60, 1) : idsFrom(1, 60));
  }
});

test('a walk over everything meets every id once and in order, in either direction', async () => {
  assert.deepEqual((await walk({})).ids, idsFrom(1, EVENTS));
  assert.deepEqual((await walk({ newestFirst: true })).ids, idsFrom(EVENTS, 1));
  for (const newestFirst of [false, true]) {
    for (const [from, to] of [
      [1, 1],
      [EVENTS, EVENTS],
      [49_999, 100_001],
      [110_000, 110_001],
      [110_001, 129_999],
    ] as const) {
      const expected = newestFirst ? idsFrom(to, from) : idsFrom(from, to);
      assert.deepEqual((await walk({ from, to, newestFirst })).ids, expected);
    }
  }
  assert.deepEqual((await walk({ from: 5, to: 4 })).ids, []);
  assert.deepEqual((await walk({ from: -3, to: 2 })).ids, [1, 2]);
});

test('what none of the filters wants is passed over', async () => {
  const anyOf = [
    { feature: 'f7' },
    { feature: 'f8', type: ['odd'] },
    { feature: 'f9', project: 'elsewhere' },
  ];
  const { ids } = await walk({ anyOf, newestFirst: true });
  assert.deepEqual(
    ids,
    idsFrom(EVENTS, 1).filter((id) => id % 1000 === 7),
  );
});

test('ids come a hundred at a time, and the event loop gets its turn between slices', async () => {
  const { batches, turns } = await walk({ anyOf: [{ type: ['even'] }] });
  assert(batches.slice(0, -1).every((length) => length === 100));
  assert.equal(
    batches.reduce((sum, length) => sum + length),
    EVENTS / 2,
  );
  assert.equal(turns, 2, '110,000 rows of one segment, 20,000 of the other');
});

test('filters that no event can match give no ids', async () => {
  assert.deepEqual((await walk({ anyOf: [{ feature: 'nowhere' }] })).batches, []);
  assert.deepEqual((await walk({ anyOf: [] })).batches, []);
});

test('a walk beyond the last event is a mistake of the caller', async () => {
  await assert.rejects(walk({ to: EVENTS + 1 }), /where the walk ends, exists/);
});
