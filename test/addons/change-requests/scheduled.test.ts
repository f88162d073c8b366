/** Scheduled requests that a change names. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { StoredChange, StoredRequest } from '../../../src/addons/change-requests/kind.ts';
import { scheduledBeside } from '../../../src/addons/change-requests/scheduled.ts';

const add = (feature: string) => ({ feature, action: 'addStrategy', payload: {} });
const edit = (feature: string, id: string) => ({ feature, action: 'updateStrategy', payload: { id } });
const segment = (id: number) => ({ feature: null, action: 'updateSegment', payload: { id } });

/** Scheduled requests of production with the ids from 1, newest first. */
const scheduled = (...all: readonly (readonly object[])[]): readonly StoredRequest[] =>
  all
    .map((changes, at) => ({ id: at + 1, environment: 'production', state: 'Scheduled', changes }))
    .toReversed() as unknown as readonly StoredRequest[];

const besideOf = (requests: readonly StoredRequest[], change: object, own: object = {}): readonly number[] =>
  scheduledBeside(
    requests,
    { id: 99, environment: 'production', ...own } as unknown as StoredRequest,
    change as unknown as StoredChange,
  ).map(({ id }) => id);

it('are those about the same strategy, all of the flag, or the same segment, in the same environment', () => {
  const requests = scheduled(
    [edit('shop', 'a'), edit('shop', 'b')],
    [edit('shop', 'b')],
    [add('shop')],
    [add('cart'), segment(1)],
  );
  assert.deepEqual(besideOf(requests, edit('shop', 'a')), [3, 1]);
  assert.deepEqual(besideOf(requests, edit('shop', 'a'), { id: 1 }), [3]);
  assert.deepEqual(besideOf(requests, add('shop')), [3, 2, 1]);
  assert.deepEqual(besideOf(requests, add('shop'), { environment: 'development' }), []);
  assert.deepEqual([besideOf(requests, segment(1)), besideOf(requests, segment(2))], [[4], []]);
});

it('are the 20 newest, so that 500 changes beside 10,000 schedules are shown in bounded time and size', () => {
  const requests = scheduled(...Array.from({ length: 30 }, () => [add('shop')]));
  assert.deepEqual(
    besideOf(requests, edit('shop', 'a'), { id: 30 }),
    Array.from({ length: 20 }, (_, at) => 29 - at),
  );
});
