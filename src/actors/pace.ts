/** Shares the processor between background work and requests: in slices, with pauses between them while requests are served. */

/**
 * The pause between two slices while requests are served. The work thus gets at most a ninth of the processor. Without
 * pauses, a snapshot of 100,000 flags took four fifths of the write throughput as long as it lasted, and nobody waits for
 * a snapshot.
 */
export const SLICE_PAUSE_MS = 40;

/** The busy share of a pause below which the process counts as idle: SLICES_WHEN_IDLE slices then follow without a pause. */
const IDLE_SHARE = 0.3;
export const SLICES_WHEN_IDLE = 4;

export interface PaceOptions {
  yieldToEventLoop(): Promise<void>;
  /** Resolves after that many milliseconds, with the share of them (0 to 1) in which the process was busy. */
  pause(pauseMs: number): Promise<number>;
}

export class Pace {
  readonly #options: PaceOptions;
  #slicesWithoutPause = 0;
  #hurries = false;

  constructor(options: PaceOptions) {
    this.#options = options;
  }

  /** To be called when no requests are served any more: the work then takes the whole processor. */
  hurry(): void {
    this.#hurries = true;
  }

  /** To be awaited after each slice. */
  async betweenSlices(pauseMs = SLICE_PAUSE_MS): Promise<void> {
    if (this.#hurries || this.#slicesWithoutPause > 0) {
      this.#slicesWithoutPause -= 1;
      return this.#options.yieldToEventLoop();
    }
    const busyShare = await this.#options.pause(pauseMs);
    this.#slicesWithoutPause = busyShare < IDLE_SHARE ? SLICES_WHEN_IDLE : 0;
  }
}
