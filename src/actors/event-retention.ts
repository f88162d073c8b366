/**
 * Deletes old events after a snapshot, where the operator has set how long they are kept (retention.ts). A deletion that
 * fails is logged and tried again after the next snapshot, because the journal only keeps more than it has to.
 */
import assert from 'node:assert/strict';
import { dataFolder } from '../persistence/disk/data-folder.ts';
import type { FileSystem } from '../persistence/disk/file-system.ts';
import type { EventLog } from '../persistence/event-log/event-log.ts';
import { dropOldEvents, type Present, snapshotsToKeep } from '../persistence/event-log/retention.ts';
import type { SnapshotFile } from '../persistence/snapshots/snapshot-files.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

export interface EventRetentionOptions {
  readonly fs: FileSystem;
  /** The data folder. */
  readonly folder: string;
  readonly eventLog: EventLog;
  /** Null keeps all. */
  readonly retentionDays: number | null;
  readonly log: {
    info(details: object, message: string): void;
    error(details: object, message: string): void;
  };
  /** Milliseconds since 1970. */
  now(): number;
}

export class EventRetention {
  readonly #options: EventRetentionOptions;

  constructor(options: EventRetentionOptions) {
    this.#options = options;
  }

  /** Returns the snapshots to keep besides the newest ones; `durableId`: the newest event on disk. */
  async keepOlder(older: readonly SnapshotFile[], durableId: number): Promise<readonly SnapshotFile[]> {
    const present = this.#present(durableId);
    if (present === null) return [];
    try {
      const kept = await snapshotsToKeep(this.#options, older, present);
      assert(kept.length <= older.length, 'nothing is kept that is not there');
      return kept;
    } catch (error) {
      // Operators: look at `err`
      this.#options.log.error({ err: error }, 'old snapshots could not be read; all of them are kept');
      return older;
    }
  }

  async apply(durableId: number): Promise<void> {
    const { fs, folder, eventLog, log } = this.#options;
    const present = this.#present(durableId);
    if (present === null) return;
    try {
      const dropped = await dropOldEvents({ fs, folder: dataFolder(folder), eventLog }, present);
      const { retentionDays: eventRetentionDays } = this.#options;
      assert(eventLog.lastId >= durableId, 'retention takes the oldest events and leaves the newest');
      assert(
        eventLog.count === 0 || eventLog.firstId <= durableId + 1,
        'retention leaves what is not durable',
      );
      // Operators: nothing
      if (dropped !== null) log.info({ ...dropped, eventRetentionDays }, 'old events deleted');
    } catch (error) {
      // Operators: look at `err`
      log.error(
        { err: error },
        'old events could not be deleted; the journal keeps more than the setting asks for',
      );
    }
  }

  /** Null when all is kept. */
  #present(durableId: number): Present | null {
    const { retentionDays, now } = this.#options;
    return retentionDays === null ? null : { keptMs: retentionDays * DAY_MS, now: now(), durableId };
  }
}
