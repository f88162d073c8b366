/**
 * Who waits for which event to be durable. An answer that shows a change, or anything decided or read from state
 * that a crash could still take back, leaves only after the sync of that event (invariants 3 and 4).
 */

interface Waiter {
  readonly id: number;
  readonly resume: () => void;
}

export class Settlement {
  #durableId: number;
  /** In order of id: waits are mostly for the newest event, so insertion is at the end. */
  #waiters: Waiter[] = [];

  constructor(durableId: number) {
    this.#durableId = durableId;
  }

  get durableId(): number {
    return this.#durableId;
  }

  get waitingCount(): number {
    return this.#waiters.length;
  }

  /** Runs `resume` once event `id` is durable: at once, synchronously, when it already is. */
  whenDurable(id: number, resume: () => void): void {
    if (id <= this.#durableId) {
      resume();
      return;
    }
    let at = this.#waiters.length;
    while (at > 0 && (this.#waiters[at - 1]?.id ?? 0) > id) at -= 1;
    if (at === this.#waiters.length) this.#waiters.push({ id, resume });
    else this.#waiters.splice(at, 0, { id, resume });
  }

  /** Events up to `id` are on disk: their waiters go on, in order. */
  advance(id: number): void {
    if (id < this.#durableId) throw new Error(`durability went back from event ${this.#durableId} to ${id}`);
    this.#durableId = id;
    const due = this.#waiters.findIndex((waiter) => waiter.id > id);
    const ready = due === -1 ? this.#waiters : this.#waiters.slice(0, due);
    this.#waiters = due === -1 ? [] : this.#waiters.slice(due);
    resumeAll(ready);
  }
}

/** One that throws must not keep the others waiting for ever; the first fault comes out at the end. */
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
