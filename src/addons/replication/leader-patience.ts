/**
 * How long a node waits for a leader before it stands itself: from the last word of one that leads, or may come to. The jitter keeps
 * nodes from standing at once. It decides only when a node tries to take over; the log decides whether it may.
 */

/** A leader that is silent for so long, and for up to the jitter more, is taken for gone. */
export const SILENCE_MS = 3_000;
export const SILENCE_JITTER_MS = 1_000;

export interface PatienceClock {
  /** Milliseconds, monotonic. */
  monotonic(): number;
  /** From 0 to 1. */
  random(): number;
}

export class LeaderPatience {
  readonly #clock: PatienceClock;
  #heardAtMs = 0;
  #patienceMs = 0;

  constructor(clock: PatienceClock) {
    this.#clock = clock;
  }

  /** Nobody stands for leadership before the leader was silent for a while from now on. */
  waitForLeader(): void {
    this.#heardAtMs = this.#clock.monotonic();
    this.#patienceMs = SILENCE_MS + SILENCE_JITTER_MS * this.#clock.random();
  }

  /** For an empty log: nobody has ever led it, so there is nobody to hear of. */
  waitForOthers(): void {
    this.#patienceMs = SILENCE_JITTER_MS * this.#clock.random();
  }

  /** The leader has said that it hands over. */
  end(): void {
    this.#heardAtMs = this.#clock.monotonic();
    this.#patienceMs = 0;
  }

  get isOver(): boolean {
    return this.#clock.monotonic() - this.#heardAtMs >= this.#patienceMs;
  }
}
