/**
 * The times at which attempts begin. While the server is busy they are few, so that deliveries take little of what serves requests;
 * they come later then, and none is lost.
 */

/** The busy share of a window from which on the server counts as busy. */
const BUSY_SHARE = 0.3;

/** Shorter windows would call one long turn busy. */
const WINDOW_MS = 100;

/** Between two attempts while the server is busy. An attempt takes some tenths of a millisecond of the event loop. */
const GAP_MS = 20;

export interface PaceClock {
  /** Milliseconds, monotonic. */
  nowMs(): number;
  /** The share, from 0 to 1, of the time since the last call in which the event loop was busy. */
  busyShare(): number;
  /** Resolves after so many milliseconds. */
  pause(pauseMs: number): Promise<void>;
}

export class Pace {
  readonly #clock: PaceClock;
  #windowMs = Number.NEGATIVE_INFINITY;
  #isBusy = false;
  #nextMs = Number.NEGATIVE_INFINITY;

  constructor(clock: PaceClock) {
    this.#clock = clock;
  }

  /** Resolves when an attempt may begin. */
  async turn(): Promise<void> {
    const nowMs = this.#clock.nowMs();
    if (nowMs - this.#windowMs >= WINDOW_MS) {
      this.#windowMs = nowMs;
      this.#isBusy = this.#clock.busyShare() >= BUSY_SHARE;
    }
    if (!this.#isBusy) return;
    this.#nextMs = Math.max(nowMs, this.#nextMs + GAP_MS);
    if (this.#nextMs > nowMs) await this.#clock.pause(this.#nextMs - nowMs);
  }
}

/** Measures the event loop of the process. */
export function processClock(): PaceClock {
  let last = performance.eventLoopUtilization();
  return {
    nowMs: () => performance.now(),
    busyShare: () => {
      const now = performance.eventLoopUtilization();
      const { utilization } = performance.eventLoopUtilization(now, last);
      last = now;
      return utilization;
    },
    pause: (pauseMs) => new Promise((resolve) => void setTimeout(resolve, pauseMs).unref()),
  };
}
