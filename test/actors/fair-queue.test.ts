import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FairQueue, type FairQueueLimits } from '../../src/actors/fair-queue.ts';
import { isRefusal } from '../../src/domain/state/refusal.ts';
import { settle } from '../support/engine.ts';

/** A queue whose reads end when the test says so. */
class Reads {
  readonly queue: FairQueue;
  /** The reads, in the order in which they started. */
  readonly started: string[] = [];
  readonly refused: string[] = [];
  readonly #ends = new Map<string, () => void>();

  constructor(limits: Partial<FairQueueLimits> = {}) {
    this.queue = new FairQueue({ runningMax: 1, runningPerRequesterMax: 1, waitingMax: 100, ...limits });
  }

  /** `label` is the name of the requester and a number, such as `a1`. */
  async ask(label: string, signal = new AbortController().signal): Promise<unknown> {
    const read = (): Promise<string> => {
      this.started.push(label);
      return new Promise((resolve) => this.#ends.set(label, () => resolve(label)));
    };
    const outcome = await this.queue.run(read, { name: label.slice(0, 1), signal });
    if (isRefusal(outcome)) this.refused.push(label);
    return outcome;
  }

  async end(label: string): Promise<void> {
    const end = this.#ends.get(label);
    assert(end !== undefined, `${label} is running`);
    end();
    await settle();
  }
}

test('whoever asks often waits for himself: callers take turns', async () => {
  const reads = new Reads();
  const all = ['a1', 'a2', 'a3', 'a4', 'b1', 'c1', 'b2'].map((label) => reads.ask(label));
  for (let turn = 0; turn < all.length; turn += 1) await reads.end(reads.started[turn] ?? '');
  assert.deepEqual(reads.started, ['a1', 'a2', 'b1', 'c1', 'a3', 'b2', 'a4']);
  assert.deepEqual(await Promise.all(all), ['a1', 'a2', 'a3', 'a4', 'b1', 'c1', 'b2']);
  assert.deepEqual([reads.queue.runningCount, reads.queue.waitingCount], [0, 0]);
});

test('one caller never has all places, so that somebody else starts at once', async () => {
  const reads = new Reads({ runningMax: 3, runningPerRequesterMax: 2 });
  for (const label of ['a1', 'a2', 'a3', 'b1']) void reads.ask(label);
  await settle();
  assert.deepEqual(reads.started, ['a1', 'a2', 'b1']);
  await reads.end('b1');
  assert.deepEqual(reads.started, ['a1', 'a2', 'b1'], 'not even while nobody else asks');
  await reads.end('a1');
  assert.deepEqual(reads.started, ['a1', 'a2', 'b1', 'a3']);
});

test('a full queue refuses the last read of whoever has the most of them', async () => {
  const reads = new Reads({ waitingMax: 3 });
  for (const label of ['a0', 'a1', 'a2', 'a3']) void reads.ask(label);
  void reads.ask('a4');
  await settle();
  assert.deepEqual(reads.refused, ['a4']);
  for (const label of ['b1', 'c1']) void reads.ask(label);
  await settle();
  assert.deepEqual(reads.refused, ['a4', 'a3', 'a2']);
  void reads.ask('d1');
  await settle();
  assert.deepEqual(reads.refused, ['a4', 'a3', 'a2', 'd1'], 'nobody has more than the newcomer');
  assert.equal(reads.queue.waitingCount, 3);
});

test('a caller who goes leaves the queue; a read that runs keeps its place until it has ended', async () => {
  const reads = new Reads();
  const [running, waiting] = [new AbortController(), new AbortController()];
  const gone = assert.rejects(reads.ask('a1', running.signal), /gone/);
  const left = assert.rejects(reads.ask('a2', waiting.signal), /left/);
  const third = reads.ask('b1');
  waiting.abort(new Error('left'));
  await left;
  running.abort(new Error('gone'));
  await settle();
  assert.deepEqual(reads.started, ['a1']);
  await reads.end('a1');
  await gone;
  await reads.end('b1');
  assert.equal(await third, 'b1');
  await assert.rejects(reads.ask('a3', AbortSignal.abort(new Error('before'))), /before/);
  assert.deepEqual([reads.queue.runningCount, reads.queue.waitingCount], [0, 0]);
});

test('a read that fails makes room as one that succeeds does', async () => {
  const { queue } = new Reads();
  const requester = { name: 'a', signal: new AbortController().signal };
  await assert.rejects(
    queue.run(() => Promise.reject(new Error('bad bytes')), requester),
    /bad bytes/,
  );
  assert.equal(await queue.run(async () => 7, requester), 7);
});
