/** Who waits for which event to be durable. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Settlement } from '../../src/actors/durability-waiters.ts';

describe('a settlement', () => {
  it('lets on at once, synchronously, who waits for what is durable', () => {
    const settlement = new Settlement(5);
    const done: number[] = [];
    for (const id of [0, 4, 5]) settlement.whenDurable(id, () => done.push(id));
    assert.deepEqual([done, settlement.waitingCount], [[0, 4, 5], 0]);
  });

  it('lets the others on in the order of their events, those of one event in the order of their coming', () => {
    const settlement = new Settlement(0);
    const done: string[] = [];
    for (const [id, name] of [
      [2, 'a'],
      [3, 'b'],
      [1, 'c'],
      [2, 'd'],
      [3, 'e'],
    ] as const) {
      settlement.whenDurable(id, () => done.push(name));
    }
    settlement.advance(1);
    assert.deepEqual(done, ['c']);
    settlement.advance(3);
    assert.deepEqual(done, ['c', 'a', 'd', 'b', 'e']);
    assert.equal(settlement.waitingCount, 0);
  });

  it('lets nobody wait for ever who comes while others are let on', () => {
    const settlement = new Settlement(0);
    const done: string[] = [];
    settlement.whenDurable(1, () => {
      done.push('first');
      settlement.whenDurable(1, () => done.push('at once'));
      settlement.whenDurable(2, () => done.push('later'));
    });
    settlement.advance(1);
    assert.deepEqual(done, ['first', 'at once']);
    settlement.advance(2);
    assert.deepEqual(done, ['first', 'at once', 'later']);
  });

  it('does not let durability go back', () => {
    const settlement = new Settlement(3);
    assert.throws(() => settlement.advance(2), /went back/);
    assert.equal(settlement.durableId, 3);
  });

  it('lets everybody on, even when one of them fails', () => {
    const settlement = new Settlement(0);
    const done: string[] = [];
    settlement.whenDurable(1, () => {
      throw new Error('its client is gone');
    });
    settlement.whenDurable(1, () => done.push('next'));
    assert.throws(() => settlement.advance(1), /its client is gone/);
    assert.deepEqual(done, ['next']);
  });
});
