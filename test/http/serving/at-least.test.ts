/** Requests that may wait for an event that this node does not have yet. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  AtLeast,
  STRANGERS_WAITING_MAX,
  WAITING_BODIES_BYTES_MAX,
  WAITING_MAX,
} from '../../../src/http/serving/cluster.ts';

function atLeast() {
  let tell = (): void => undefined;
  const subscribe = (hear: () => void): void => {
    tell = hear;
  };
  const engine = { durableId: 5, feed: { subscribe } };
  const waits = new AtLeast(engine as never, () => () => undefined);
  return {
    waits: (waiting: { bytes?: number; isKnown?: boolean }) =>
      waits.check('6', { bytes: 0, isKnown: true, ...waiting }, () => undefined) === undefined,
    reach: (id: number) => {
      engine.durableId = id;
      tell();
    },
  };
}

test('callers that nobody knows cannot take the places of those whose tokens are good', () => {
  const { waits, reach } = atLeast();
  for (let at = 0; at < STRANGERS_WAITING_MAX; at += 1) assert(waits({ isKnown: false }));
  assert(!waits({ isKnown: false }));
  for (let at = 0; at < WAITING_MAX; at += 1) assert(waits({}));
  assert(!waits({}));
  reach(6);
  reach(5);
  assert(waits({ isKnown: false }) && waits({}));
});

test('the bodies of those that wait are bounded', () => {
  const { waits, reach } = atLeast();
  assert(waits({ bytes: WAITING_BODIES_BYTES_MAX }));
  assert(!waits({ bytes: 1 }));
  reach(6);
  reach(5);
  assert(waits({ bytes: 1 }));
});
