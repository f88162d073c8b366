import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { contentionBackOff } from '../../src/process/schedule-times.ts';

function watched(): {
  readonly rests: number[];
  wait(ms: number): void;
  readonly backOff: () => Promise<void>;
} {
  let waitedMs = 1_000;
  const rests: number[] = [];
  const backOff = contentionBackOff(
    () => waitedMs,
    async (restMs) => void rests.push(restMs),
  );
  return {
    rests,
    wait: (ms) => {
      waitedMs += ms;
    },
    backOff,
  };
}

describe('back-off under contention', () => {
  it('rests for three times as long as it had to wait for a core, and after small waits once they add up', async () => {
    const { rests, wait, backOff } = watched();
    await backOff();
    wait(4);
    await backOff();
    await backOff();
    for (let piece = 0; piece < 4; piece += 1) {
      wait(0.125);
      await backOff();
    }
    assert.deepEqual(rests, [12, 1.125]);
  });

  it('rests for 20 ms at most', async () => {
    const { rests, wait, backOff } = watched();
    wait(500);
    await backOff();
    await backOff();
    assert.deepEqual(rests, [20]);
  });
});
