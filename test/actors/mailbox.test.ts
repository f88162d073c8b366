/** The bounded queue before an actor. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { Mailbox } from '../../src/actors/scheduler.ts';

describe('a mailbox', () => {
  it('refuses what does not fit, and takes it again once there is room', () => {
    const mailbox = new Mailbox<number>(2);
    assert.deepEqual([mailbox.offer(1), mailbox.offer(2), mailbox.offer(3)], [true, true, false]);
    assert.equal(mailbox.length, 2);
    assert.equal(mailbox.take(), 1);
    assert.equal(mailbox.offer(4), true);
    assert.deepEqual([mailbox.take(), mailbox.take(), mailbox.take()], [2, 4, undefined]);
  });

  it('hands out what it took in, in order, never holding more than its limit, however it is used', () => {
    const steps = fc.array(fc.boolean(), { maxLength: 200 });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 5 }), steps, (lengthMax, offers) => {
        const mailbox = new Mailbox<number>(lengthMax);
        const model: number[] = [];
        for (const [index, isOffer] of offers.entries()) {
          if (isOffer) {
            const fits = model.length < lengthMax;
            assert.equal(mailbox.offer(index), fits);
            if (fits) model.push(index);
          } else {
            assert.equal(mailbox.take(), model.shift());
          }
          assert.equal(mailbox.length, model.length);
        }
      }),
    );
  });
});
