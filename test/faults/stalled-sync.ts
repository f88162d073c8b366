/**
 * Offers the engine far more writes than it can hold while the disk hangs. What waits is bounded, the rest is refused
 * at once, settled reads go on, and once the disk is back everything that waited is answered.
 */
import assert from 'node:assert/strict';
import { UNSYNCED_FRAMES_MAX } from '../../src/actors/engine.ts';
import { MAILBOX_LENGTH_MAX } from '../../src/actors/scheduler.ts';
import { createFlag, openTestEngine, type Submitted, settle, type TestEngine } from '../support/engine.ts';

/** Commands that arrive between two turns of the event loop. */
const ARRIVALS_PER_TURN = 500;

export interface FloodResult {
  readonly offered: number;
  readonly refused: number;
  readonly responded: number;
  readonly waitingMost: number;
}

export async function flood({ writes }: { readonly writes: number }): Promise<FloodResult> {
  const engine = await openTestEngine();
  const settled = engine.store.engine.durableId;
  engine.gate.close();
  const { submitted, waitingMost } = offer(engine, writes);
  assert(waitingMost <= MAILBOX_LENGTH_MAX + UNSYNCED_FRAMES_MAX, `${waitingMost} waited`);
  readsGoOn(engine, settled);
  const refusedCount = submitted.filter(({ outcome }) => outcome?.kind === 'refusal').length;
  assert.equal(
    submitted.filter(({ outcome }) => outcome?.kind === 'response').length,
    0,
    'nothing is answered early',
  );
  engine.gate.open();
  while (engine.store.engine.queuedCount > 0 || engine.store.engine.durableId < engine.store.engine.lastId) {
    engine.manual.runTurns();
    await settle();
  }
  const responded = submitted.filter(({ outcome }) => outcome?.kind === 'response').length;
  assert.equal(responded + refusedCount, writes, 'whatever was not refused is answered');
  engine.manual.runFreely();
  await engine.store.close();
  return { offered: writes, refused: refusedCount, responded, waitingMost };
}

function offer(engine: TestEngine, writes: number): { submitted: Submitted[]; waitingMost: number } {
  const submitted: Submitted[] = [];
  let waitingMost = 0;
  for (let number = 0; number < writes; number += 1) {
    submitted.push(engine.submit(createFlag(`flag-${number}`)));
    if (number % ARRIVALS_PER_TURN === 0) engine.manual.runTurns();
    const { queuedCount, journal } = engine.store.engine;
    waitingMost = Math.max(waitingMost, queuedCount + journal.pendingFrames);
  }
  return { submitted, waitingMost };
}

function readsGoOn(engine: TestEngine, settledId: number): void {
  let hasResponded = false;
  engine.store.engine.whenDurable(settledId, () => {
    hasResponded = true;
  });
  assert(hasResponded, 'settled state is read at once');
}
