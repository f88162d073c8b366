/** How a snapshot shares the processor with requests: pauses while they are served, none at a stop. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SLICE_PAUSE_MS, SnapshotKeeper } from '../../src/actors/snapshot-keeper.ts';
import { createFlag, openTestEngine, settle } from '../support/engine.ts';

interface Paced {
  readonly keeper: SnapshotKeeper;
  /** Milliseconds of each pause so far. */
  readonly pauses: number[];
  /** Ends the pause that is being made. */
  resume(): void;
}

/** A keeper whose every look at the clock ends a slice, and whose pauses last until the test ends them. */
async function openPaced(flags: number): Promise<Paced> {
  const { store, disk, manual, execute } = await openTestEngine();
  for (let index = 0; index < flags; index += 1) await execute(createFlag(`f${index}`));
  manual.runFreely();
  const pauses: number[] = [];
  let resume = (): void => undefined;
  let now = 0;
  const keeper = new SnapshotKeeper({
    engine: store.engine,
    fs: disk,
    folder: '/data/snapshots',
    newestId: 0,
    now: () => 0,
    clock: () => {
      now += 1000;
      return now;
    },
    yieldToEventLoop: async () => undefined,
    pause: (pauseMs) => {
      pauses.push(pauseMs);
      return new Promise((resolve) => {
        resume = resolve;
      });
    },
    onTaken: async () => undefined,
    onFailed: (error) => {
      throw error;
    },
  });
  return { keeper, pauses, resume: () => resume() };
}

describe('the pace of a snapshot', () => {
  it('leaves a pause after each slice, and goes on only after it', async () => {
    const { keeper, pauses, resume } = await openPaced(20);
    let isTaken = false;
    const taking = keeper.take().then(() => {
      isTaken = true;
    });
    await settle();
    assert.deepEqual(pauses, [SLICE_PAUSE_MS], 'one slice, then a pause');
    while (!isTaken) {
      resume();
      await settle();
    }
    await taking;
    assert.ok(pauses.length > 3, `a snapshot of many slices made ${pauses.length} pauses`);
  });

  it('makes no further pause once told to hurry, also when it is under way already', async () => {
    const { keeper, pauses, resume } = await openPaced(20);
    const taking = keeper.take();
    await settle();
    keeper.hurry();
    resume();
    assert.ok((await taking) !== null);
    assert.equal(pauses.length, 1);
  });
});
