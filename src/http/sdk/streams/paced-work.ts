/**
 * Work that never ends while changes go on, such as telling thousands of streams of them. It runs in short slices, with other
 * requests in between. While others want the event loop too, it also rests between slices, so that it takes a bounded share of
 * the time, and writes go on beside it.
 */
/** How long a slice holds the event loop. */
const SLICE_MS = 5;

/** The share of the time that the work gets, over long, while others want it. */
const SHARE = 0.1;

/** Milliseconds of work after a rest, even if others are waiting: enough for one change to several thousand streams. */
const BURST_MS = 100;

/** Milliseconds that others may take between two slices without counting as busy. */
const OTHERS_MS = 1;

/** Milliseconds until the next look whether others are still busy. */
const REST_MS = 10;

export interface WorkClock {
  /** Milliseconds, monotonic. */
  now(): number;
  /** Runs `slice` after the current callbacks of the event loop. */
  defer(slice: () => void): void;
  later(delayMs: number, slice: () => void): void;
}

const WORK_CLOCK: WorkClock = {
  now: () => performance.now(),
  defer: (slice) => void setImmediate(slice),
  later: (delayMs, slice) => void setTimeout(slice, delayMs),
};

export interface PacedWorkOptions {
  /** Does a little of the work, well below a millisecond; true when nothing is left. Must not throw. */
  advance(): boolean;
  /** Whether others wait for something that a slice would delay. */
  areOthersWaiting(): boolean;
  readonly clock?: WorkClock;
}

export class PacedWork {
  readonly #options: PacedWorkOptions;
  readonly #clock: WorkClock;
  #isRunning = false;
  #isWanted = false;
  #creditMs = BURST_MS;
  #creditedAt: number;

  constructor(options: PacedWorkOptions) {
    this.#options = options;
    this.#clock = options.clock ?? WORK_CLOCK;
    this.#creditedAt = this.#clock.now();
  }

  /** There is work, perhaps. */
  want(): void {
    this.#isWanted = true;
    if (this.#isRunning) return;
    this.#isRunning = true;
    this.#defer();
  }

  #defer(): void {
    const deferredAt = this.#clock.now();
    this.#clock.defer(() => this.#run(this.#clock.now() - deferredAt));
  }

  #run(othersMs: number): void {
    const startedAt = this.#clock.now();
    this.#creditMs = Math.min(BURST_MS, this.#creditMs + (startedAt - this.#creditedAt) * SHARE);
    this.#creditedAt = startedAt;
    const isShared = othersMs > OTHERS_MS || this.#options.areOthersWaiting();
    if (isShared && this.#creditMs <= 0) return this.#clock.later(REST_MS, () => this.#defer());
    const isDone = this.#slice(startedAt + SLICE_MS);
    if (isShared) this.#creditMs -= this.#clock.now() - startedAt;
    if (isDone) this.#isRunning = false;
    else this.#defer();
  }

  /** True when nothing is left. */
  #slice(end: number): boolean {
    do {
      this.#isWanted = false;
      if (this.#options.advance() && !this.#isWanted) return true;
    } while (this.#clock.now() < end);
    return false;
  }
}
