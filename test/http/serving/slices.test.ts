import assert from 'node:assert/strict';
import { performance } from 'node:perf_hooks';
import { describe, it } from 'node:test';
import { doneAtOnce, inBriefSlices, inSlices, turn } from '../../../src/http/serving/slices.ts';
import { LoopRounds } from './loop-rounds.ts';

/** Longer than a slice, so that each call is one. */
function spin(): void {
  const end = performance.now() + 6;
  while (performance.now() < end);
}

describe('work in slices', () => {
  it('runs one slice in each round of the event loop, however much work is under way', async () => {
    const passed = new LoopRounds();
    const slices: { readonly round: number; readonly job: number }[] = [];
    const work = (job: number): Promise<void> => {
      let left = 3;
      return inSlices(() => {
        slices.push({ round: passed.count, job });
        spin();
        left -= 1;
        return left === 0;
      });
    };
    await Promise.all([1, 2, 3, 4].map(work));
    passed.stop();
    const rounds = slices.map((slice) => slice.round);
    assert.equal(new Set(rounds).size, 12, `two slices in one round: ${rounds}`);
    const early = new Set(slices.slice(0, 6).map(({ job }) => job));
    assert.equal(early.size, 4, 'nobody waits until others are done');
  });

  it('gives one turn in each round, and none in a round with a slice', async () => {
    const passed = new LoopRounds();
    const rounds: number[] = [];
    const take = async (): Promise<void> => {
      await turn();
      rounds.push(passed.count);
    };
    const slice = inSlices(() => {
      rounds.push(passed.count);
      return true;
    });
    await Promise.all([slice, ...Array.from({ length: 20 }, take)]);
    passed.stop();
    assert.equal(rounds.length, 21);
    assert.equal(new Set(rounds).size, 21, `two in one round: ${rounds}`);
  });

  it('leaves the first slice to a later round where work was not done at once', async () => {
    // The slice of the test before was in an earlier round.
    await new Promise((resolve) => setImmediate(resolve));
    const passed = new LoopRounds();
    const rounds: number[] = [];
    const step = (): boolean => {
      rounds.push(passed.count);
      spin();
      return rounds.length === 2;
    };
    assert.equal(doneAtOnce(step), false);
    await inSlices(step);
    passed.stop();
    assert.equal(new Set(rounds).size, 2, `two steps in one round: ${rounds}`);
  });

  it('in brief slices begins in a later round, and yields after each step that takes long', async () => {
    const passed = new LoopRounds();
    const rounds: number[] = [];
    const done = inBriefSlices(() => {
      rounds.push(passed.count);
      spin();
      return rounds.length === 3;
    });
    assert.deepEqual(rounds, []);
    await done;
    passed.stop();
    assert.equal(new Set(rounds).size, 3, `two steps in one round: ${rounds}`);
  });

  it('charges its asker for each slice', async () => {
    const charged: number[] = [];
    let left = 3;
    await inSlices(
      () => {
        spin();
        left -= 1;
        return left === 0;
      },
      { charge: (heldMs) => charged.push(heldMs) },
    );
    assert.equal(charged.length, 3);
    assert(
      charged.every((heldMs) => heldMs >= 6),
      `${charged}`,
    );
  });

  it('stops with its signal, and what comes after it goes on', async () => {
    const given = new AbortController();
    let calls = 0;
    const abandoned = inSlices(() => {
      calls += 1;
      spin();
      given.abort();
      return false;
    }, given);
    await assert.rejects(abandoned, (error) => error === given.signal.reason);
    assert.equal(calls, 1);
    let isDone = false;
    await inSlices(() => {
      isDone = true;
      return true;
    });
    assert(isDone);
  });
});
