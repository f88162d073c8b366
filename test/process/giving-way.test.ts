import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { givingWay } from '../../src/process/schedule-times.ts';

function watched(): {
  readonly rests: number[];
  wait(ms: number): void;
  readonly giveWay: () => Promise<void>;
} {
  let waitedMs = 1_000;
  const rests: number[] = [];
  const giveWay = givingWay(
    () => waitedMs,
    async (restMs) => void rests.push(restMs),
  );
  return {
    rests,
    wait: (ms) => {
      waitedMs += ms;
    },
    giveWay,
  };
}

describe('work that gives way', () => {
  it('rests for three times as long as it had to wait for a core, and after small waits once they add up', async () => {
    const { rests, wait, giveWay } = watched();
    await giveWay();
    wait(4);
    await giveWay();
    await giveWay();
    for (let piece = 0; piece < 4; piece += 1) {
      wait(0.125);
      await giveWay();
    }
    assert.deepEqual(rests, [12, 1.125]);
  });

  it('rests for 20 ms at most', async () => {
    const { rests, wait, giveWay } = watched();
    wait(500);
    await giveWay();
    await giveWay();
    assert.deepEqual(rests, [20]);
  });
});
