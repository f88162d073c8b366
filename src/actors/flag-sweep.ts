/** Decodes, beside requests, the flags that a start left undecoded, in slices with pauses as those of a snapshot. */
import { SLICE_MS } from '../persistence/snapshots/snapshot-writer.ts';
import type { Pace } from './pace.ts';
import type { PackedFlags } from './state/packed-flags.ts';

export interface FlagSweepOptions {
  readonly packed: PackedFlags;
  readonly pace: Pace;
  /** Milliseconds, monotonic. */
  monotonicMs(): number;
}

export class FlagSweep {
  readonly #options: FlagSweepOptions;
  #isStopped = false;

  constructor(options: FlagSweepOptions) {
    this.#options = options;
  }

  /** Begins with a pause: the first requests come first. */
  async run(): Promise<void> {
    const { packed, pace, monotonicMs } = this.#options;
    let sliceEndMs = Number.NEGATIVE_INFINITY;
    await packed.sweep(async () => {
      if (monotonicMs() >= sliceEndMs) {
        await pace.betweenSlices();
        sliceEndMs = monotonicMs() + SLICE_MS;
      }
      return !this.#isStopped;
    });
  }

  /** Leaves the remaining flags undecoded until they are read. */
  stop(): void {
    this.#isStopped = true;
  }
}
