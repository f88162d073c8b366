/** Callers that wait until an event is on disk, or until it is known that it never will be. */
import assert from 'node:assert/strict';
import type { JournalFailure } from './journal-failure.ts';

interface Waiter {
  readonly id: number;
  readonly resolve: () => void;
  readonly reject: (reason: JournalFailure) => void;
}

export class FlushWaiters {
  #waiters: Waiter[] = [];
  #durableId: number;

  constructor(durableId: number) {
    this.#durableId = durableId;
  }

  /** Resolves when event `id` is on disk; it is not yet. */
  until(id: number): Promise<void> {
    assert(id > this.#durableId, 'nobody waits for what is on disk');
    return new Promise((resolve, reject) => this.#waiters.push({ id, resolve, reject }));
  }

  advance(durableId: number): void {
    assert(durableId > this.#durableId, 'what is on disk becomes more');
    this.#durableId = durableId;
    if (this.#waiters.length === 0) return;
    const woken = this.#waiters.filter((waiter) => waiter.id <= durableId);
    this.#waiters = this.#waiters.filter((waiter) => waiter.id > durableId);
    for (const waiter of woken) waiter.resolve();
  }

  fail(failure: JournalFailure): void {
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const waiter of waiters) waiter.reject(failure);
  }

  /** For the simulation. */
  audit(durableId: number, appendedId: number): void {
    assert.equal(this.#durableId, durableId, 'who waits is told of all that is on disk');
    for (const { id } of this.#waiters)
      assert(id > durableId && id <= appendedId, `event ${id} is waited for, and will not come`);
  }
}
