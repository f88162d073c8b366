/**
 * Cheap deadlines for many requests.
 *
 * All entries of a queue have the same duration, so the order in which they enter is the order in which they
 * expire: entering and leaving cost a few pointer writes, and one coarse tick looks at the oldest only. A timer per
 * request would cost more than answering it.
 */
import { performance } from 'node:perf_hooks';

/** How late a deadline may be noticed. Deadlines are tens of seconds, so a second more does no harm. */
const TICK_MS = 1_000;

/** The clock of the engines, which tests replace. */
export interface TransportClock {
  /** Milliseconds from any fixed point; never goes backwards. */
  now(): number;
  /** Calls back every `periodMs` until the returned function is called. Must not keep the process alive. */
  every(periodMs: number, callback: () => void): () => void;
}

export const systemClock: TransportClock = {
  now: () => performance.now(),
  every(periodMs, callback) {
    const timer = setInterval(callback, periodMs);
    timer.unref();
    return () => clearInterval(timer);
  },
};

/** An entry of a queue, in one at a time. The fields are the links of the queue's list. */
export interface DeadlineEntry {
  queue: DeadlineQueue | null;
  older: DeadlineEntry | null;
  newer: DeadlineEntry | null;
  enteredAt: number;
  /** Called once the deadline has passed, after the entry has left the queue. */
  expire(): void;
}

export class DeadlineQueue {
  readonly #durationMs: number;
  readonly #clock: TransportClock;
  readonly #stop: () => void;
  #oldest: DeadlineEntry | null = null;
  #newest: DeadlineEntry | null = null;
  #size = 0;

  constructor(durationMs: number, clock: TransportClock) {
    this.#durationMs = durationMs;
    this.#clock = clock;
    this.#stop = clock.every(Math.min(TICK_MS, durationMs), () => this.#sweep());
  }

  get size(): number {
    return this.#size;
  }

  enter(entry: DeadlineEntry): void {
    entry.queue?.leave(entry);
    entry.queue = this;
    entry.enteredAt = this.#clock.now();
    entry.older = this.#newest;
    if (this.#newest === null) this.#oldest = entry;
    else this.#newest.newer = entry;
    this.#newest = entry;
    this.#size += 1;
  }

  leave(entry: DeadlineEntry): void {
    if (entry.queue !== this) return;
    if (entry.older === null) this.#oldest = entry.newer;
    else entry.older.newer = entry.newer;
    if (entry.newer === null) this.#newest = entry.older;
    else entry.newer.older = entry.older;
    entry.queue = null;
    entry.older = null;
    entry.newer = null;
    this.#size -= 1;
  }

  close(): void {
    this.#stop();
  }

  #sweep(): void {
    const now = this.#clock.now();
    while (this.#oldest !== null && now - this.#oldest.enteredAt >= this.#durationMs) {
      const expired = this.#oldest;
      this.leave(expired);
      expired.expire();
    }
  }
}
