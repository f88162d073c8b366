/** Work that follows changes: how long each turn may take, alone and beside others. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { FollowUp } from '../../src/actors/turn.ts';

/** A step of the work takes as long as the test says, by a clock that only moves so. */
class WorkBench {
  nowMs = 0;
  areOthersWaiting = false;
  stepsLeft = 0;
  stepMs = 1;
  /** The work between two callbacks of the clock. */
  readonly turnsMs: number[] = [];
  #due: (() => void) | null = null;
  readonly work: FollowUp;

  constructor() {
    this.work = new FollowUp({
      advance: () => {
        if (this.stepsLeft === 0) return true;
        this.step();
        return this.stepsLeft === 0;
      },
      areOthersWaiting: () => this.areOthersWaiting,
      clock: {
        now: () => this.nowMs,
        defer: (turn) => {
          this.#due = turn;
        },
      },
    });
  }

  step = (): void => {
    this.stepsLeft -= 1;
    this.nowMs += this.stepMs;
  };

  /** Runs what the clock was given, with `othersMs` of others before each time. */
  run(othersMs: number): void {
    for (let due = this.#due; due !== null; due = this.#due) {
      this.#due = null;
      this.nowMs += othersMs;
      const startedAt = this.nowMs;
      due();
      this.turnsMs.push(this.nowMs - startedAt);
    }
  }
}

describe('work that follows changes', () => {
  it('holds the event loop for 5 ms at a time, and goes on until nothing is left', () => {
    const bench = new WorkBench();
    bench.stepsLeft = 1_000;
    bench.work.want();
    bench.run(0);
    assert.equal(bench.stepsLeft, 0);
    assert.equal(Math.max(...bench.turnsMs), 5);
    assert.equal(bench.nowMs, 1_000, 'alone, it does not rest');
  });

  for (const [whose, areOthersWaiting, othersMs] of [
    ['of others who wait', true, 0.5],
    ['of others who take long', false, 3],
  ] as const) {
    it(`takes a quarter of a millisecond after each round ${whose}`, () => {
      const bench = new WorkBench();
      Object.assign(bench, { areOthersWaiting, stepsLeft: 1_000, stepMs: 0.05 });
      bench.work.want();
      bench.run(othersMs);
      assert.equal(bench.stepsLeft, 0);
      assert(Math.max(...bench.turnsMs) < 0.31, `${Math.max(...bench.turnsMs)}`);
    });
  }

  it('is done again when it is wanted while it is done', () => {
    const bench = new WorkBench();
    bench.stepsLeft = 3;
    bench.work.want();
    bench.run(0);
    bench.stepsLeft = 2;
    bench.work.want();
    bench.work.want();
    bench.run(0);
    assert.deepEqual([bench.stepsLeft, bench.nowMs], [0, 5]);
  });
});
