import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DEBTORS_MAX, FORGIVEN_SHARE, LoopAccounts, OWED_MS_MAX } from '../../src/actors/loop-accounts.ts';

function accounts(): { readonly made: LoopAccounts; pass(ms: number): void } {
  let nowMs = 0;
  return {
    made: new LoopAccounts(() => nowMs),
    pass: (ms) => {
      nowMs += ms;
    },
  };
}

describe('accounts of the event loop', () => {
  it('charge nobody for small requests, whatever their number', () => {
    const { made } = accounts();
    for (let request = 0; request < 100_000; request += 1) made.chargeCaller('a', 0.5);
    assert.deepEqual([made.isEmpty, made.isOverdrawn('a')], [true, false]);
  });

  it('charge who holds the loop for long, and nobody else', () => {
    const { made } = accounts();
    made.chargeCaller('a', OWED_MS_MAX + 2);
    made.charge({ userId: 1, name: 'b' }, OWED_MS_MAX + 2);
    assert.deepEqual(
      ['a', '1 b', 'c'].map((name) => made.isOverdrawn(name)),
      [true, true, false],
    );
  });

  it('forgive with time, all callers together no more than one alone', () => {
    const { made, pass } = accounts();
    const owedMs = OWED_MS_MAX + 10;
    const alone = (2 * (owedMs - OWED_MS_MAX)) / FORGIVEN_SHARE;
    made.chargeCaller('a', owedMs + 1);
    pass(alone);
    assert.equal(made.isOverdrawn('a'), false);
    const many = accounts();
    for (let caller = 0; caller < 10; caller += 1) many.made.chargeCaller(`${caller}`, owedMs + 1);
    many.pass(alone);
    assert.equal(many.made.isOverdrawn('0'), true);
    many.pass(10 * alone);
    assert.equal(many.made.isOverdrawn('0'), false);
  });

  it('forget who was charged longest ago where too many owe something', () => {
    const { made } = accounts();
    for (const caller of ['first', 'again']) made.chargeCaller(caller, OWED_MS_MAX + 2);
    for (let caller = 2; caller < DEBTORS_MAX; caller += 1) made.chargeCaller(`${caller}`, 2);
    made.chargeCaller('again', 2);
    made.chargeCaller('one more', 2);
    assert.deepEqual([made.isOverdrawn('first'), made.isOverdrawn('again')], [false, true]);
    made.audit();
  });

  it('charge no time in which the process had no core', () => {
    let usedMs = 0;
    const made = new LoopAccounts(
      () => 0,
      () => usedMs,
    );
    for (let piece = 0; piece < 100; piece += 1) {
      usedMs += 0.5;
      made.chargeCaller('preempted', 20);
    }
    assert.equal(made.isEmpty, true);
    for (let piece = 0; piece < 4; piece += 1) {
      usedMs += 20;
      made.chargeCaller('at work', 40);
    }
    assert.deepEqual(
      ['preempted', 'at work'].map((name) => made.isOverdrawn(name)),
      [false, true],
    );
  });

  it('look at the processor time for large pieces, and for small ones only now and then', () => {
    let [nowMs, looks] = [0, 0];
    const made = new LoopAccounts(
      () => nowMs,
      () => {
        looks += 1;
        return nowMs;
      },
    );
    const piece = (ms: number): void => {
      nowMs += ms;
      made.chargeCaller('a', ms);
    };
    piece(OWED_MS_MAX + 2);
    for (let small = 0; small < 1_000; small += 1) piece(0.01);
    assert(looks <= 6, `${looks} looks in 10 ms`);
    assert.equal(made.isOverdrawn('a'), false);
    looks = 0;
    piece(OWED_MS_MAX + 2);
    piece(OWED_MS_MAX + 2);
    assert.equal(looks, 2);
    assert.equal(made.isOverdrawn('a'), true);
  });

  it('let many small requests make up for a pause that was not of their making', () => {
    const { made } = accounts();
    made.chargeCaller('a', OWED_MS_MAX + 2);
    for (let request = 0; request < 10_000; request += 1) made.chargeCaller('a', 0.1);
    assert(made.isEmpty);
  });

  it('tell how long those held the loop who had to wait, once', () => {
    const { made } = accounts();
    made.chargeCaller('a', OWED_MS_MAX + 2);
    assert.equal(made.takeOverdrawnMs(), 0, 'it did not have to wait before that');
    made.chargeCaller('a', 5);
    made.chargeCaller('b', 7);
    assert.deepEqual([made.takeOverdrawnMs(), made.takeOverdrawnMs()], [5, 0]);
  });
});
