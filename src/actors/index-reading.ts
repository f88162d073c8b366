/**
 * Reads, beside requests, what a start has left of the index of events: what the old ones are about. Until it is done, searches for
 * some of the events wait, and so does what else looks for them. The newest events, any event by its id, and all changes of the state do
 * without.
 *
 * Damage that it meets ends the server, as it would have kept it from starting.
 */
import { DamagedHistoryError, DataFolderError } from '../persistence/disk/data-folder-error.ts';
import type { EventLog } from '../persistence/event-log/event-log.ts';
import type { RecoveryLog } from '../persistence/recovery/recovery.ts';
import { SLICE_MS } from '../persistence/snapshots/snapshot-writer.ts';
import type { Pace } from './pace.ts';

/** Shorter than between other slices, because somebody may wait: half of the processor while requests are served. */
const PAUSE_MS = 5;

export interface IndexReadingOptions {
  readonly eventLog: EventLog;
  readonly pace: Pace;
  readonly log: RecoveryLog;
  /** Milliseconds, monotonic. */
  monotonicMs(): number;
  stop(error: Error): void;
}

/** Thrown by the pause of a reading that is over. */
class Stopped extends Error {}

export class IndexReading {
  readonly #options: IndexReadingOptions;
  #isStopped = false;
  #sliceEndMs = Number.NEGATIVE_INFINITY;

  constructor(options: IndexReadingOptions) {
    this.#options = options;
  }

  /** Gives false where the reading was stopped, or has found damage. */
  async run(): Promise<boolean> {
    const { eventLog, log, monotonicMs, stop } = this.#options;
    if (eventLog.isWhole) return true;
    const begunAt = monotonicMs();
    try {
      await eventLog.readNames(() => this.#pause());
      const durationMs = Math.round(monotonicMs() - begunAt);
      log.info({ events: eventLog.count, durationMs }, 'All events can be searched');
      return true;
    } catch (error) {
      if (!(error instanceof Stopped)) stop(asDamage(error));
      return false;
    }
  }

  /** The next start begins anew. */
  stop(): void {
    this.#isStopped = true;
  }

  async #pause(): Promise<void> {
    const { pace, monotonicMs } = this.#options;
    if (monotonicMs() >= this.#sliceEndMs) {
      await pace.betweenSlices(PAUSE_MS);
      this.#sliceEndMs = monotonicMs() + SLICE_MS;
    }
    if (this.#isStopped) throw new Stopped();
  }
}

function asDamage(error: unknown): Error {
  if (!(error instanceof DataFolderError)) return error instanceof Error ? error : new Error(String(error));
  const { problem, file, offset, lastGoodEventId, advice } = error;
  return new DamagedHistoryError(problem, {
    ...{ file, advice, cause: error },
    ...(offset !== null && { offset }),
    ...(lastGoodEventId !== null && { lastGoodEventId }),
  });
}
