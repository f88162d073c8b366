/**
 * Holds responses until the event that they depend on is durable. A response that shows a change, or anything that
 * was decided or read from state that a crash could take back, is sent only after the sync of that event (invariants
 * 3 and 4).
 */
import assert from 'node:assert/strict';
import { refuse } from '../domain/state/refusal.ts';

/** The refusal of a change whose outcome is unknown. */
export const MAY_HAVE_HAPPENED = refuse(
  'ServiceUnavailableError',
  'The change may have happened: this node does not reach the replicated log, or its disk. Send the request again with the same Idempotency-Key, to any node, which makes it once at most; without a key, read first whether it happened.',
);

/** The refusal of a request that changed nothing, where the response would have shown what may never have happened. */
export const NOTHING_DONE = refuse(
  'ServiceUnavailableError',
  'Nothing was done: this node does not reach the replicated log, or its disk. Send the request again, to any node.',
);

interface Waiter {
  readonly id: number;
  readonly resume: () => void;
  /** Called in place of `resume` where it takes too long. */
  readonly giveUp?: (() => void) | undefined;
}

export class DurabilityWaiters {
  #durableId: number;
  /** Waiters in order of id. Most responses wait for the newest event, so they are inserted at the end. */
  #waiters: Waiter[] = [];

  constructor(durableId: number) {
    assert(Number.isSafeInteger(durableId) && durableId >= 0, 'what is durable is an event, or nothing');
    this.#durableId = durableId;
  }

  get durableId(): number {
    return this.#durableId;
  }

  get waitingCount(): number {
    return this.#waiters.length;
  }

  /** Runs `resume` once event `id` is durable: at once, synchronously, when it already is. */
  whenDurable(id: number, resume: () => void, giveUp?: () => void): void {
    if (id <= this.#durableId) {
      resume();
      return;
    }
    let at = this.#waiters.length;
    while (at > 0 && (this.#waiters[at - 1]?.id ?? 0) > id) at -= 1;
    if (at === this.#waiters.length) this.#waiters.push({ id, resume, giveUp });
    else this.#waiters.splice(at, 0, { id, resume, giveUp });
    const after = this.#waiters[at + 1];
    assert(after === undefined || after.id > id, 'who waits for an older event is released first');
  }

  /** Releases, in order, everything that waits for events up to `id`, which are now on disk. */
  advance(id: number): void {
    const before = this.#durableId;
    if (id < before) assert.fail(`durability went back from event ${before} to ${id}`);
    this.#durableId = id;
    const due = this.#waiters.findIndex((waiter) => waiter.id > id);
    const ready = due === -1 ? this.#waiters : this.#waiters.slice(0, due);
    this.#waiters = due === -1 ? [] : this.#waiters.slice(due);
    assert((ready.at(-1)?.id ?? 0) <= id, 'nobody is released before the event is on disk');
    assert((ready[0]?.id ?? id + 1) > before, 'nobody waits for what was durable already');
    resumeAll(ready);
  }

  /** Releases the waiters that prefer to stop waiting. */
  giveUp(): void {
    const waiters = this.#waiters;
    this.#waiters = waiters.filter(({ giveUp }) => giveUp === undefined);
    for (const { giveUp } of waiters) giveUp?.();
  }

  /** Asserts that the waiters are in order and complete; for the simulation. */
  audit(): void {
    let before = this.#durableId;
    for (const { id } of this.#waiters) {
      assert(id > this.#durableId && id >= before, `a response waits for event ${id} behind event ${before}`);
      before = id;
    }
  }
}

/** A waiter that throws must not keep the others waiting; the first error is thrown at the end. */
function resumeAll(waiters: readonly Waiter[]): void {
  const faults: unknown[] = [];
  for (const { resume } of waiters) {
    try {
      resume();
    } catch (error) {
      faults.push(error);
    }
  }
  if (faults.length > 0) throw faults[0];
}
