/**
 * Reads, beside requests, the old history that a start has not read: frames from before the snapshot, for which index files
 * vouch (deferred-part.ts). The state does not depend on them; what people look up in the log does.
 *
 * Damage ends the server, as it would have kept it from starting. The index file of the damaged segment is removed first, so that
 * the next start reads the segment itself, and refuses.
 */
import assert from 'node:assert/strict';
import { DamagedHistoryError } from '../persistence/disk/data-folder-error.ts';
import type { EventLog } from '../persistence/event-log/event-log.ts';
import type { JournalDamage } from '../persistence/event-log/log-reader.ts';
import type { DeferredPart } from '../persistence/journal/deferred-part.ts';
import type { RecoveryLog } from '../persistence/recovery/recovery.ts';
import type { Pace } from './pace.ts';

export interface HistoryCheckOptions {
  readonly eventLog: Pick<EventLog, 'check'>;
  /** Oldest first. */
  readonly parts: readonly DeferredPart[];
  /** Awaited first; false where nothing is to be checked any more. */
  readonly after?: Promise<boolean>;
  readonly pace: Pace;
  readonly log: RecoveryLog & { error(details: object, message: string): void };
  /** Milliseconds, monotonic. */
  monotonicMs(): number;
  stop(error: Error): void;
}

export class HistoryCheck {
  readonly #options: HistoryCheckOptions;
  #bytesLeft: number;
  #running: Promise<void> | null = null;
  #isStopped = false;

  constructor(options: HistoryCheckOptions) {
    this.#options = options;
    this.#bytesLeft = options.parts.reduce((bytes, { end }) => bytes + end, 0);
  }

  /** What nobody has read since the server started; also what could not be read. */
  get bytesLeft(): number {
    return this.#bytesLeft;
  }

  /** Resolves when all is read, or at the first damage. Called again, it gives the same promise. */
  run(): Promise<void> {
    this.#running ??= this.#readAll();
    return this.#running;
  }

  async #readAll(): Promise<void> {
    const { parts, pace, log, monotonicMs, after } = this.#options;
    if (parts.length === 0 || (await after) === false) return;
    const bytes = this.#bytesLeft;
    const begunAt = monotonicMs();
    for (const part of parts) {
      await pace.betweenSlices();
      if (this.#isStopped || !(await this.#isWhole(part))) return;
    }
    if (this.#bytesLeft > 0) return;
    const durationMs = Math.round(monotonicMs() - begunAt);
    log.info({ bytes, durationMs }, 'What the start had not read of the journal is whole');
  }

  /** What is left is read after the next start. */
  stop(): void {
    this.#isStopped = true;
  }

  /** False where the check is over. */
  async #isWhole(part: DeferredPart): Promise<boolean> {
    try {
      const damage = await this.#options.eventLog.check(part);
      if (damage !== null) return this.#damaged(damage);
      this.#bytesLeft -= part.end;
      assert(this.#bytesLeft >= 0, 'each part is read once');
      return true;
    } catch (error) {
      if (this.#isStopped) return false;
      this.#options.log.error(
        { err: error, segment: part.segment },
        'A journal file could not be checked; it is checked after the next start',
      );
      return true;
    }
  }

  #damaged({ problem, file, offset, lastGoodEventId, advice }: JournalDamage): false {
    const details = {
      ...{ file, advice },
      ...(offset !== null && { offset }),
      ...(lastGoodEventId !== null && { lastGoodEventId }),
    };
    this.#options.stop(new DamagedHistoryError(problem, details));
    return false;
  }
}
