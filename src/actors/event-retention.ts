/**
 * Deletes old events after a snapshot, where the operator has set how long they are kept (retention.ts). A deletion that
 * fails is logged and tried again after the next snapshot, because the journal only keeps more than it has to.
 */
import { dataFolder } from '../persistence/disk/data-folder.ts';
import type { FileSystem } from '../persistence/disk/file-system.ts';
import type { EventLog } from '../persistence/event-log/event-log.ts';
import { dropOldEvents } from '../persistence/event-log/retention.ts';

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

  /** `durableId`: the newest event on disk. */
  async apply(durableId: number): Promise<void> {
    const { fs, folder, eventLog, retentionDays, log, now } = this.#options;
    if (retentionDays === null) return;
    try {
      const source = { fs, folder: dataFolder(folder), eventLog };
      const dropped = await dropOldEvents(source, { keptMs: retentionDays * DAY_MS, now: now(), durableId });
      if (dropped !== null) {
        log.info({ ...dropped, eventRetentionDays: retentionDays }, 'old events deleted');
      }
    } catch (error) {
      log.error(
        { err: error },
        'old events could not be deleted; the journal keeps more than the setting asks for',
      );
    }
  }
}
