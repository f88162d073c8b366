/**
 * Reads, beside requests, the old history that a start has not read: frames from before the snapshot (deferred-part.ts). The same
 * reading verifies and indexes them, and until it is done, the event log responds with 503. Then it reads all of the journal again at an interval, because bytes that are never read can rot, and
 * the observer of the journal may check what it knows of it.
 *
 * The state depends on none of it, so damage does not end the server: it continues to serve flags and changes, names the damaged file on `/health`, in a
 * metric and in the log, and fails the requests that need damaged events. A start that has to read a
 * damaged file itself refuses. In a cluster the file is restored where the archive has its events.
 */
import assert from 'node:assert/strict';
import { basename } from 'node:path';
import { DataFolderError } from '../persistence/disk/data-folder.ts';
import type { EventLog } from '../persistence/event-log/event-log.ts';
import { damageOf, type JournalDamage } from '../persistence/event-log/log-reader.ts';
import type { JournalPart } from '../persistence/journal/deferred-part.ts';
import { segmentFileName } from '../persistence/journal/segment.ts';
import type { RecoveryLog } from '../persistence/recovery/recovery.ts';
import type { Timer } from '../process/timers.ts';
import type { Background } from './turn.ts';

/** Shorter than between other turns, because searches wait; a thread does the work. */
const PAUSE_MS = 5;

export interface HistoryCheckOptions {
  readonly eventLog: Pick<EventLog, 'check' | 'parts'>;
  /** Oldest first. */
  readonly parts: readonly JournalPart[];
  readonly background: Background;
  readonly log: RecoveryLog & { error(details: object, message: string): void };
  /** Between the end of a pass and the next one; null for no pass after the first. */
  readonly intervalMs: number | null;
  readonly timer: Timer;
  durableId(): number;
  /** Restores the file of the segment from elsewhere; false where it could not. Rejects where it may be able to later. */
  mendSegment?(segment: number): Promise<boolean>;
  /** Awaited after a pass over the whole journal. Must not reject. */
  afterPass?(): Promise<void>;
  /** Milliseconds since 1970. */
  now(): number;
  /** Milliseconds, monotonic. */
  monotonicMs(): number;
}

export class HistoryCheck {
  readonly #options: HistoryCheckOptions;
  /** By file. */
  readonly #damages = new Map<string, JournalDamage>();
  #bytesLeft: number;
  #lastPassAt: number | null = null;
  #running: Promise<void> | null = null;
  #cancelNext: () => void = () => undefined;
  #isStopped = false;

  constructor(options: HistoryCheckOptions) {
    const { parts, intervalMs } = options;
    assert(
      parts.every(({ segment }, at) => at === 0 || segment > parts[at - 1]!.lastId),
      'the parts that a start leaves unread follow each other',
    );
    assert(intervalMs === null || intervalMs > 0, 'time passes between two readings of the journal');
    this.#options = options;
    this.#bytesLeft = options.parts.reduce((bytes, { end }) => bytes + end, 0);
  }

  /** Bytes not read since the server started, unreadable ones included. */
  get bytesLeft(): number {
    return this.#bytesLeft;
  }

  /** The first damage of each file that was damaged when it was last read. */
  get damages(): readonly JournalDamage[] {
    return [...this.#damages.values()];
  }

  /** The end of the last pass over the whole journal, in milliseconds since 1970; null before the first. */
  get lastPassAt(): number | null {
    return this.#lastPassAt;
  }

  /** Resolves when everything that the start left unread is read. Called again, it gives the same promise. */
  run(): Promise<void> {
    this.#running ??= this.#readDeferred();
    return this.#running;
  }

  /** Reads all of the journal that is on disk, and the same again at each interval. */
  async pass(): Promise<void> {
    const { eventLog, log, monotonicMs, durableId } = this.#options;
    const begunAt = monotonicMs();
    const parts = eventLog.parts(durableId());
    for (const part of parts) if (!(await this.#read(part))) return;
    const kept = new Set(parts.map(({ segment }) => segmentFileName(segment)));
    for (const file of this.#damages.keys()) if (!kept.has(basename(file))) this.#damages.delete(file);
    await this.#options.afterPass?.();
    if (this.#isStopped) return;
    const bytes = parts.reduce((sum, { end }) => sum + end, 0);
    const durationMs = Math.round(monotonicMs() - begunAt);
    // Operators: nothing, if `damagedFiles` is 0
    log.info({ bytes, durationMs, damagedFiles: this.#damages.size }, 'The whole journal was read again');
    this.#passed();
  }

  /** Leaves the rest to be read after the next start. */
  stop(): void {
    this.#isStopped = true;
    this.#cancelNext();
  }

  /** Remembers the damage, if it is one, that a read has met. */
  met(error: unknown): void {
    if (error instanceof DataFolderError) this.#damaged(damageOf(error));
  }

  async #readDeferred(): Promise<void> {
    const { parts, log, monotonicMs } = this.#options;
    const bytes = this.#bytesLeft;
    const begunAt = monotonicMs();
    for (const part of parts) {
      if (!(await this.#read(part, () => this.#subtract(part.end)))) return;
    }
    const durationMs = Math.round(monotonicMs() - begunAt);
    if (parts.length > 0 && this.#bytesLeft === 0 && this.#damages.size === 0)
      // Operators: nothing
      log.info({ bytes, durationMs }, 'The journal that the start left unread is intact');
    this.#passed();
  }

  #subtract(bytes: number): void {
    this.#bytesLeft -= bytes;
    assert(this.#bytesLeft >= 0, 'each part is read once');
  }

  #passed(): void {
    const { intervalMs, timer, now } = this.#options;
    this.#lastPassAt = now();
    if (intervalMs !== null && !this.#isStopped) this.#cancelNext = timer(intervalMs, () => void this.pass());
  }

  /** False where the check is over. Calls `onRead` when the part could be read. */
  async #read(part: JournalPart, onRead?: () => void): Promise<boolean> {
    await this.#options.background.pause(PAUSE_MS);
    if (this.#isStopped) return false;
    try {
      const damage = await this.#options.eventLog.check(part);
      if (damage === null) this.#whole(segmentFileName(part.segment));
      else await this.#mend(part, damage);
      onRead?.();
    } catch (error) {
      if (this.#isStopped) return false;
      // Operators: look at `err`; run `flagstaff verify` on a backup
      this.#options.log.error(
        { err: error, segment: part.segment },
        'A journal file could not be checked; it is checked again later',
      );
    }
    return true;
  }

  async #mend(part: JournalPart, damage: JournalDamage): Promise<void> {
    const { mendSegment, eventLog } = this.#options;
    this.#damaged(damage);
    if ((await mendSegment?.(part.segment)) !== true) return;
    if ((await eventLog.check(part)) === null) this.#whole(segmentFileName(part.segment));
  }

  #whole(name: string): void {
    for (const file of this.#damages.keys()) if (basename(file) === name) this.#damages.delete(file);
  }

  #damaged(damage: JournalDamage): void {
    const isNew = !this.#damages.has(damage.file);
    this.#damages.set(damage.file, damage);
    if (isNew)
      // Operators: run `flagstaff verify`, plan to replace the disk, and [repair the folder](docs/operating-commands.md#when-the-server-refuses-to-start)
      this.#options.log.error({ ...damage }, 'Old history is damaged; flags and changes are not affected');
  }
}
