/**
 * Cheap deadlines for many requests.
 *
 * All entries of a queue have the same duration, so the order in which they enter is the order in which they
 * expire, and one coarse tick looks at the oldest only. A timer per request would cost more than answering it.
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

/** An entry of a queue, in one at a time. */
export interface DeadlineEntry {
  queue: DeadlineQueue | null;
  enteredAt: number;
  /** Called once the deadline has passed, after the entry has left the queue. */
  expire(): void;
}

export class DeadlineQueue {
  readonly #durationMs: number;
  readonly #clock: TransportClock;
  readonly #stop: () => void;
  /** The oldest first. */
  readonly #entries = new Set<DeadlineEntry>();

  constructor(durationMs: number, clock: TransportClock) {
    this.#durationMs = durationMs;
    this.#clock = clock;
    this.#stop = clock.every(Math.min(TICK_MS, durationMs), () => this.#sweep());
  }

  get size(): number {
    return this.#entries.size;
  }

  enter(entry: DeadlineEntry): void {
    entry.queue?.leave(entry);
    entry.queue = this;
    entry.enteredAt = this.#clock.now();
    this.#entries.add(entry);
  }

  leave(entry: DeadlineEntry): void {
    if (entry.queue === this) entry.queue = null;
    this.#entries.delete(entry);
  }

  close(): void {
    this.#stop();
  }

  #sweep(): void {
    const now = this.#clock.now();
    for (const entry of this.#entries) {
      if (now - entry.enteredAt < this.#durationMs) return;
      this.leave(entry);
      entry.expire();
    }
  }
}
