/** Scheduled requests that a change names. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import {
  requestEvent,
  type StoredChange,
  type StoredRequest,
} from '../../../src/addons/change-requests/kind.ts';
import { pendingChangeRequests } from '../../../src/addons/change-requests/pending.ts';
import { scheduledBeside } from '../../../src/addons/change-requests/scheduled.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { TestWorld } from '../../support/test-world.ts';

const PLACE = { project: 'default', environment: 'production' };

const add = (feature: string) => ({ feature, action: 'addStrategy', payload: {} });
const edit = (feature: string, id: string) => ({ feature, action: 'updateStrategy', payload: { id } });
const segment = (id: number) => ({ feature: null, action: 'updateSegment', payload: { id } });

const request = (id: number, changes: readonly object[], state = 'Scheduled') =>
  ({
    ...PLACE,
    id,
    state,
    changes,
    schedule: null,
    createdAt: '2999-01-01T00:00:00.000Z',
  }) as unknown as StoredRequest;

/** Scheduled requests of production with the ids from 1. */
function scheduled(...all: readonly (readonly object[])[]): TestWorld {
  const state = new TestWorld();
  for (const [at, changes] of all.entries())
    state.record([requestEvent('change-request-created', null, request(at + 1, changes))]);
  return state;
}

const besideOf = ({ world }: TestWorld, change: object, own: object = {}): readonly number[] =>
  scheduledBeside(world, { id: 99, ...PLACE, ...own }, change as unknown as StoredChange).map(({ id }) => id);

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

it('are found in each state as it is, however they have changed and whichever state was looked at before', () => {
  const random = seededRandom(49);
  const state = new TestWorld();
  const open = new Map<number, StoredRequest>();
  const states: { readonly world: TestWorld['world']; readonly open: ReadonlyMap<number, StoredRequest> }[] =
    [];
  for (let step = 1; step <= 2_000; step += 1) {
    const id = random.chance(0.3) ? open.size + 1 : 1 + random.below(300);
    const before = open.get(id) ?? null;
    const names = ['Draft', 'In review', 'Scheduled', 'Applied'];
    const changes = [add(`flag-${random.below(4)}`), edit(`flag-${random.below(4)}`, `${random.below(3)}`)];
    const after =
      before !== null && random.chance(0.1) ? null : request(id, changes, names[random.below(names.length)]);
    state.record([requestEvent('change-request-updated', before, after)]);
    if (after === null) open.delete(id);
    else open.set(id, after);
    states.push({ world: state.world, open: new Map(open) });
    const seen = states[random.chance(0.8) ? states.length - 1 : random.below(states.length)]!;
    const expected = [...seen.open.values()].filter(
      (one) =>
        ['In review', 'Scheduled'].includes(one.state) &&
        one.changes.some(({ feature }) => feature === 'flag-1'),
    );
    assert.deepEqual(
      pendingChangeRequests.ofFlag(seen.world, 'default', 'flag-1', 'production'),
      expected.map(({ id: one }) => one).sort((a, b) => b - a),
      `step ${step}`,
    );
  }
});
