import assert from 'node:assert/strict';
import { performance } from 'node:perf_hooks';
import { describe, it } from 'node:test';
import {
  atOnce,
  inBriefTurns,
  inGroups,
  inTurns,
  ownTurn,
  TOGETHER_MAX,
  until,
} from '../../src/actors/turn.ts';
import { LoopRounds } from './loop-rounds.ts';

/** Longer than a turn, so that each call is one. */
function spin(): void {
  const end = performance.now() + 6;
  while (performance.now() < end);
}

describe('work in turns', () => {
  it('takes one turn in each round of the event loop, however much work is under way', async () => {
    const passed = new LoopRounds();
    const turns: { readonly round: number; readonly job: number }[] = [];
    const work = (job: number): Promise<void> => {
      let left = 3;
      return inTurns(
        until(() => {
          turns.push({ round: passed.count, job });
          spin();
          left -= 1;
          return left === 0;
        }),
      );
    };
    await Promise.all([1, 2, 3, 4].map(work));
    passed.stop();
    const rounds = turns.map(({ round }) => round);
    assert.equal(new Set(rounds).size, 12, `two turns in one round: ${rounds}`);
    const early = new Set(turns.slice(0, 6).map(({ job }) => job));
    assert.equal(early.size, 4, 'nobody waits until others are done');
  });

  it('lets those who waited for the same thing go on a few in a round, in their order', async () => {
    const passed = new LoopRounds();
    const shared = Promise.resolve();
    const gone: { readonly caller: number; readonly round: number }[] = [];
    const callers = Array.from({ length: 3 * TOGETHER_MAX }, (_, caller) => caller);
    await Promise.all(
      callers.map(async (caller) => {
        await shared;
        await inGroups();
        gone.push({ caller, round: passed.count });
      }),
    );
    passed.stop();
    assert.deepEqual(
      gone.map(({ caller }) => caller),
      callers,
    );
    for (let at = TOGETHER_MAX; at < gone.length; at += 1)
      assert(gone[at]!.round > gone[at - TOGETHER_MAX]!.round, `caller ${at} goes on in a later round`);
  });

  it('gives turns of their own, and none in a round with another', async () => {
    const passed = new LoopRounds();
    const rounds: number[] = [];
    const take = async (): Promise<void> => {
      await ownTurn();
      rounds.push(passed.count);
    };
    const other = inTurns(
      until(() => {
        rounds.push(passed.count);
        return true;
      }),
    );
    await Promise.all([other, ...Array.from({ length: 20 }, take)]);
    passed.stop();
    assert.equal(rounds.length, 21);
    assert.equal(new Set(rounds).size, 21, `two in one round: ${rounds}`);
  });

  it('leaves the first turn to a later round where work was not done at once', async () => {
    // The turn of the test before was in an earlier round.
    await new Promise((resolve) => setImmediate(resolve));
    const passed = new LoopRounds();
    const rounds: number[] = [];
    const step = (): boolean => {
      rounds.push(passed.count);
      spin();
      return rounds.length === 2;
    };
    assert.equal(atOnce(until(step)), null);
    await inTurns(until(step));
    passed.stop();
    assert.equal(new Set(rounds).size, 2, `two steps in one round: ${rounds}`);
  });

  it('takes few steps at once where many requests come in one round', async () => {
    const [jobs, stepMs] = [60, 1];
    let steps = 0;
    const step = (): boolean => {
      steps += 1;
      const end = performance.now() + stepMs;
      while (performance.now() < end);
      return false;
    };
    for (let job = 0; job < jobs; job += 1) atOnce(until(step));
    assert(steps <= jobs + 5, `${steps} steps in one round: those beyond the first take one each`);
    // On a busy machine a round may pass while the process waits for a processor.
    for (let round = 0, taken = 0; taken < 2; round += 1) {
      assert(round < 50, 'a later round has room again');
      await new Promise((resolve) => setImmediate(resolve));
      steps = 0;
      atOnce(until(step));
      taken = steps;
    }
  });

  it('in brief turns begins in a later round, and yields after each step that takes long', async () => {
    const passed = new LoopRounds();
    const rounds: number[] = [];
    const done = inBriefTurns(
      until(() => {
        rounds.push(passed.count);
        spin();
        return rounds.length === 3;
      }),
    );
    assert.deepEqual(rounds, []);
    await done;
    passed.stop();
    assert.equal(new Set(rounds).size, 3, `two steps in one round: ${rounds}`);
  });

  it('charges its requester for each turn', async () => {
    const charged: number[] = [];
    let left = 3;
    await inTurns(
      until(() => {
        spin();
        left -= 1;
        return left === 0;
      }),
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
    const abandoned = inTurns(
      until(() => {
        calls += 1;
        spin();
        given.abort();
        return false;
      }),
      given,
    );
    await assert.rejects(abandoned, (error) => error === given.signal.reason);
    assert.equal(calls, 1);
    let isDone = false;
    await inTurns(
      until(() => {
        isDone = true;
        return true;
      }),
    );
    assert(isDone);
  });
});
