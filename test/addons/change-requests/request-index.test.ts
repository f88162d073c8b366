/** The index of open requests, which is made in steps after a start. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { REQUEST, requestEvent, type StoredRequest } from '../../../src/addons/change-requests/kind.ts';
import { findRequests, flagKey, prepareIndex } from '../../../src/addons/change-requests/request-index.ts';
import { addonRecordLists } from '../../../src/domain/state/addon-records.ts';
import { TestWorld } from '../../support/test-world.ts';

const FLAGS = ['one', 'two', 'three'];

/** More requests with the following ids, of one flag after the other. */
function request(state: TestWorld, count: number): void {
  for (let at = 0; at < count; at += 1) {
    const id = (state.world.addonRecords.get(REQUEST.name)?.lastId ?? 0) + 1;
    const request = {
      ...{ id, project: 'default', environment: 'production', state: 'In review', schedule: null },
      changes: [{ feature: FLAGS[id % FLAGS.length], action: 'addStrategy', payload: {} }],
    } as unknown as StoredRequest;
    state.record([requestEvent('change-request-created', null, request)]);
  }
}

const found = ({ world }: TestWorld): readonly (readonly number[])[] =>
  FLAGS.map((flag) => findRequests(world, flagKey('default', flag)).map(({ id }) => id));

it('finds the same when it is made in steps, also where somebody asks and requests come meanwhile', () => {
  for (const asked of [1, 2, Number.POSITIVE_INFINITY]) {
    const state = new TestWorld();
    request(state, 400);
    const lists = addonRecordLists(state.world, REQUEST);
    assert(lists.length > 3);
    let steps = 0;
    for (const _ of prepareIndex(state.world)) {
      steps += 1;
      if (steps !== asked) continue;
      request(state, 5);
      found(state);
    }
    assert.equal(steps, Math.min(asked, lists.length));
    request(state, 5);
    const ids = Array.from({ length: state.world.addonRecords.get(REQUEST.name)!.lastId }, (_, at) => at + 1);
    assert.deepEqual(
      found(state),
      FLAGS.map((_, at) => ids.filter((id) => id % FLAGS.length === at).reverse()),
    );
    assert.deepEqual([...prepareIndex(state.world)], []);
  }
});
