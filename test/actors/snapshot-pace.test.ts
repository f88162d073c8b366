/** How a snapshot shares the processor with requests: pauses while they are served, none at a stop. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { PAUSE_MS_MIN, SnapshotKeeper } from '../../src/actors/snapshot-keeper.ts';
import { Background, PAUSE_MS, TURNS_WHEN_IDLE } from '../../src/actors/turn.ts';
import { createFlag, openTestEngine, settle, type TestEngine } from '../support/engine.ts';

const EVENTS_PER_SNAPSHOT = 10;

interface Paced {
  readonly keeper: SnapshotKeeper;
  /** Milliseconds of each pause so far. */
  readonly pauses: number[];
  /** Records an event. */
  change(): Promise<unknown>;
  readonly execute: TestEngine['execute'];
  /** The newest event of the engine. */
  lastId(): number;
  /** Ends the pause that is being made, in which the process was busy for this share, 1 unless given. */
  resume(busyShare?: number): void;
}

/** A keeper whose every look at the clock ends a turn, and whose pauses last until the test ends them. */
async function openPaced(flags: number): Promise<Paced> {
  const { store, disk, manual, execute } = await openTestEngine();
  for (let index = 0; index < flags; index += 1) await execute(createFlag(`f${index}`));
  manual.runFreely();
  const pauses: number[] = [];
  let resume: (busyShare: number) => void = () => undefined;
  let now = 0;
  const monotonicMs = (): number => {
    now += 1000;
    return now;
  };
  const background = new Background({
    monotonicMs,
    yieldToEventLoop: async () => undefined,
    pause: (pauseMs) => {
      pauses.push(pauseMs);
      return new Promise((resolve) => {
        resume = resolve;
      });
    },
  });
  const keeper = new SnapshotKeeper({
    ...{ background, monotonicMs },
    engine: store.engine,
    fs: disk,
    folder: '/data/snapshots',
    newestId: 0,
    replayedBytes: 0,
    now: () => 0,
    keepOlder: async () => [],
    eventsPerSnapshot: EVENTS_PER_SNAPSHOT,
    onTaken: async () => undefined,
    onFailed: (error) => {
      throw error;
    },
  });
  let changes = 0;
  const change = (): Promise<unknown> => {
    changes += 1;
    return execute(createFlag(`change-${changes}`));
  };
  const lastId = (): number => store.engine.lastId;
  return { keeper, pauses, change, execute, lastId, resume: (busyShare = 1) => resume(busyShare) };
}

/** Ends each pause at once, until the snapshot is taken. */
async function finish({ resume }: Paced, taking: Promise<unknown>, busyShare: number): Promise<void> {
  let isTaken = false;
  const taken = taking.then(() => {
    isTaken = true;
  });
  while (!isTaken) {
    await settle();
    resume(busyShare);
  }
  await taken;
}

describe('the pace of a snapshot', () => {
  it('leaves a pause after each turn, and goes on only after it', async () => {
    const paced = await openPaced(20);
    const taking = paced.keeper.take();
    await settle();
    assert.deepEqual(paced.pauses, [PAUSE_MS], 'one turn, then a pause');
    await finish(paced, taking, 1);
    assert.ok(paced.pauses.length > 3, `a snapshot of many turns made ${paced.pauses.length} pauses`);
  });

  it('spares the pauses after some turns when the process has nothing to do, and then looks again', async () => {
    const [busy, idle] = [await openPaced(20), await openPaced(20)];
    await finish(busy, busy.keeper.take(), 1);
    await finish(idle, idle.keeper.take(), 0);
    assert.equal(idle.pauses.length, Math.ceil(busy.pauses.length / (TURNS_WHEN_IDLE + 1)));
  });

  it('shortens the pauses while events pass, so that a busy server does not leave its snapshots behind', async () => {
    const paced = await openPaced(20);
    const taking = paced.keeper.take();
    await settle();
    for (let event = 0; event < 5; event += 1) await paced.change();
    paced.resume();
    await settle();
    for (let event = 0; event < 50; event += 1) await paced.change();
    paced.resume();
    await settle();
    assert.deepEqual(paced.pauses.slice(0, 3), [PAUSE_MS, PAUSE_MS / 2, PAUSE_MS_MIN]);
    await finish(paced, taking, 1);
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
