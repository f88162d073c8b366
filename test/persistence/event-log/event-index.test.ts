import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BYTES_PER_EVENT, frameExtent } from '../../../src/persistence/event-log/event-columns.ts';
import { compileFilter, IdPage, matchingRows } from '../../../src/persistence/event-log/event-filter.ts';
import { EventIndex } from '../../../src/persistence/event-log/event-index.ts';
import type { Frame, FramePosition } from '../../../src/persistence/journal/frame.ts';
import { SEGMENT_HEADER_BYTES } from '../../../src/persistence/journal/segment.ts';
import { event } from '../../support/event-journal.ts';

interface Place {
  readonly segment: number;
  readonly offset: number;
}

function frame(id: number, features: readonly string[], by = 'alice'): Frame {
  return { id, at: id, by, userId: 1, events: features.map((featureName) => event({ featureName })) };
}

const at = ({ segment, offset }: Place, length = 100): FramePosition => ({ segment, offset, length });

/** Two segments: events 1–5 in two frames, events 6–7 in one. */
function smallIndex(): EventIndex {
  const index = new EventIndex();
  index.add(frame(1, ['a', 'b', 'a']), at({ segment: 1, offset: SEGMENT_HEADER_BYTES }));
  index.add(frame(4, ['b', 'c']), at({ segment: 1, offset: SEGMENT_HEADER_BYTES + 100 }, 50));
  index.add(frame(6, ['a', 'c']), at({ segment: 6, offset: SEGMENT_HEADER_BYTES }));
  return index;
}

function matching(index: EventIndex, feature: string, lastId = index.lastId): number[] {
  const filter = compileFilter({ feature }, index.names);
  const page = new IdPage(lastId, 100);
  for (const view of index.views(lastId).toReversed())
    for (const rows of matchingRows(filter, view)) page.take(view.firstId, rows);
  return page.ids;
}

test('an empty index has no ids', () => {
  const index = new EventIndex();
  assert.deepEqual([index.firstId, index.lastId, index.count], [0, 0, 0]);
  assert.equal(index.viewOf(1), null);
  assert.deepEqual(index.views(10), []);
});

test('ids are found by name across segments, newest first', () => {
  const index = smallIndex();
  assert.deepEqual(matching(index, 'a'), [6, 3, 1]);
  assert.deepEqual(matching(index, 'c'), [7, 5]);
  assert.deepEqual(matching(index, 'A'), []);
});

test('a name that no event carries matches nothing, not everything', () => {
  const index = smallIndex();
  const [view] = index.views(7);
  for (const filter of [{ feature: 'zzz' }, { type: [] }, { type: ['zzz'] }, { ids: [] }])
    assert.deepEqual([...matchingRows(compileFilter(filter, index.names), view!)], [new Uint32Array()]);
});

test('ids are found newest first over a segment of more rows than are filtered at once', () => {
  const index = new EventIndex();
  const features = Array.from({ length: 5000 }, (_, place) => (place % 1000 === 0 ? 'a' : 'b'));
  index.add(frame(1, features), at({ segment: 1, offset: SEGMENT_HEADER_BYTES }));
  assert.deepEqual(matching(index, 'a'), [4001, 3001, 2001, 1001, 1]);
});

test('rows behind the last visible id are not seen', () => {
  const index = smallIndex();
  assert.deepEqual(matching(index, 'a', 5), [3, 1]);
  assert.deepEqual(matching(index, 'c', 3), []);
});

test('an event knows its frame, and where that ends', () => {
  const index = smallIndex();
  const view = index.viewOf(5);
  assert(view !== null);
  assert.deepEqual(frameExtent(view, 4), { offset: 164, bytesEnd: 214 });
  assert.deepEqual(frameExtent(view, 0), { offset: 64, bytesEnd: 164 });
});

test('a view stays what it was while the index grows', () => {
  const index = new EventIndex();
  index.add(frame(1, ['first']), at({ segment: 1, offset: SEGMENT_HEADER_BYTES }));
  const [before] = index.views(1);
  for (let id = 2; id <= 5000; id++)
    index.add(frame(id, [`f${id}`]), at({ segment: 1, offset: 64 + (id - 1) * 100 }));
  assert.equal(before?.count, 1);
  assert.equal(before?.columns.offset[0], SEGMENT_HEADER_BYTES);
  assert.deepEqual(matching(index, 'f5000'), [5000]);
});

test('a sealed segment takes 32 bytes an event, and no slack', () => {
  const index = new EventIndex();
  for (let id = 1; id <= 5000; id++)
    index.add(frame(id, ['f']), at({ segment: 1, offset: 64 + (id - 1) * 100 }));
  assert(
    index.bytesAllocated <= 5000 * BYTES_PER_EVENT * 1.5,
    'the growing segment has less than half slack',
  );
  index.add(frame(5001, ['f']), at({ segment: 5001, offset: SEGMENT_HEADER_BYTES }));
  const newSegment = index.views(5001).at(-1);
  const capacity = newSegment?.columns.offset.length ?? 0;
  assert.equal(index.bytesAllocated, 5000 * 32 + capacity * 32);
});

test('frames that leave a gap, in ids or in bytes, are refused', () => {
  const index = smallIndex();
  assert.throws(
    () => index.add(frame(9, ['a']), at({ segment: 6, offset: 164 })),
    /in the order of their ids/,
  );
  assert.throws(
    () => index.add(frame(8, ['a']), at({ segment: 6, offset: 165 })),
    /begins where the one before it ends/,
  );
  assert.throws(
    () => index.add(frame(8, ['a']), at({ segment: 7, offset: 64 })),
    /a segment is named after its first event/,
  );
});

test('dropping forgets whole segments only, and never the newest', () => {
  const index = smallIndex();
  assert.deepEqual(index.dropSegmentsBefore(5), []);
  assert.deepEqual(index.dropSegmentsBefore(6), [1]);
  assert.deepEqual([index.firstId, index.lastId, index.count], [6, 7, 2]);
  assert.equal(index.viewOf(5), null);
  assert.deepEqual(matching(index, 'a'), [6]);
  assert.deepEqual(index.dropSegmentsBefore(1000), []);
});
