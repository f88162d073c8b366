/** Responses that wait for events to be durable. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DurabilityWaiters } from '../../src/actors/durability-waiters.ts';

describe('the durability waiters', () => {
  it('lets on at once, synchronously, who waits for what is durable', () => {
    const waiters = new DurabilityWaiters(5);
    const done: number[] = [];
    for (const id of [0, 4, 5]) waiters.whenDurable(id, () => done.push(id));
    assert.deepEqual([done, waiters.waitingCount], [[0, 4, 5], 0]);
  });

  it('lets the others on in the order of their events, those of one event in the order of their coming', () => {
    const waiters = new DurabilityWaiters(0);
    const done: string[] = [];
    for (const [id, name] of [
      [2, 'a'],
      [3, 'b'],
      [1, 'c'],
      [2, 'd'],
      [3, 'e'],
    ] as const) {
      waiters.whenDurable(id, () => done.push(name));
    }
    waiters.advance(1);
    assert.deepEqual(done, ['c']);
    waiters.advance(3);
    assert.deepEqual(done, ['c', 'a', 'd', 'b', 'e']);
    assert.equal(waiters.waitingCount, 0);
  });

  it('lets nobody wait for ever who comes while others are let on', () => {
    const waiters = new DurabilityWaiters(0);
    const done: string[] = [];
    waiters.whenDurable(1, () => {
      done.push('first');
      waiters.whenDurable(1, () => done.push('at once'));
      waiters.whenDurable(2, () => done.push('later'));
    });
    waiters.advance(1);
    assert.deepEqual(done, ['first', 'at once']);
    waiters.advance(2);
    assert.deepEqual(done, ['first', 'at once', 'later']);
  });

  it('does not let durability go back', () => {
    const waiters = new DurabilityWaiters(3);
    assert.throws(() => waiters.advance(2), /went back/);
    assert.equal(waiters.durableId, 3);
  });

  it('lets everybody on, even when one of them fails', () => {
    const waiters = new DurabilityWaiters(0);
    const done: string[] = [];
    waiters.whenDurable(1, () => {
      throw new Error('its client is gone');
    });
    waiters.whenDurable(1, () => done.push('next'));
    assert.throws(() => waiters.advance(1), /its client is gone/);
    assert.deepEqual(done, ['next']);
  });
});
