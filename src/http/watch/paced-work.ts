/**
 * Work that never ends while changes go on, such as telling thousands of streams of them. It runs in short slices, with other
 * requests in between; and when there is much of it, it rests after each slice, so that it takes a bounded share of the time
 * and writes go on beside it.
 */

/** How long a slice holds the event loop. */
const SLICE_MS = 5;

/** Of the time, over long. */
const SHARE = 0.1;

/** What may be taken at once after a rest: one change for several thousand streams. */
const BURST_MS = 100;

export interface WorkClock {
  /** Milliseconds, monotonic. */
  now(): number;
  /** Runs `slice` after the current callbacks of the event loop. */
  defer(slice: () => void): void;
  later(delayMs: number, slice: () => void): void;
}

export const WORK_CLOCK: WorkClock = {
  now: () => performance.now(),
  defer: setImmediate,
  later: (delayMs, slice) => {
    setTimeout(slice, delayMs);
  },
};

export class PacedWork {
  readonly #advance: () => boolean;
  readonly #clock: WorkClock;
  #isRunning = false;
  #isWanted = false;
  #creditMs = BURST_MS;
  #creditedAt: number;

  /** `advance` does a little of the work, well below a millisecond; true when nothing is left. Must not throw. */
  constructor(advance: () => boolean, clock: WorkClock = WORK_CLOCK) {
    this.#advance = advance;
    this.#clock = clock;
    this.#creditedAt = clock.now();
  }

  /** There is work, perhaps. */
  want(): void {
    this.#isWanted = true;
    if (this.#isRunning) return;
    this.#isRunning = true;
    this.#clock.defer(() => this.#run());
  }

  #run(): void {
    const startedAt = this.#clock.now();
    this.#creditMs = Math.min(BURST_MS, this.#creditMs + (startedAt - this.#creditedAt) * SHARE);
    const isDone = this.#slice(startedAt + Math.min(SLICE_MS, Math.max(this.#creditMs, 1)));
    this.#creditedAt = this.#clock.now();
    this.#creditMs -= this.#creditedAt - startedAt;
    if (isDone) this.#isRunning = false;
    else if (this.#creditMs > 0) this.#clock.defer(() => this.#run());
    else this.#clock.later(Math.ceil((SLICE_MS - this.#creditMs) / SHARE), () => this.#run());
  }

  /** True when nothing is left. */
  #slice(end: number): boolean {
    do {
      this.#isWanted = false;
      if (this.#advance() && !this.#isWanted) return true;
    } while (this.#clock.now() < end);
    return false;
  }
}
