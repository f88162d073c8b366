/** An observer of a store's journal: at most one, which an add-on brings. It may hold up nothing but the deletion of old events. */
import type { FileSystem } from '../persistence/disk/file-system.ts';
import type { DurableFrames } from '../persistence/journal/batch.ts';
import type { RecoveryLog } from '../persistence/recovery/recovery.ts';
import type { Timer } from '../process/timers.ts';

export interface ObservedJournal {
  readonly fs: FileSystem;
  /** The data folder. */
  readonly folder: string;
  readonly log: RecoveryLog & { error(details: object, message: string): void };
  readonly timer: Timer;
  /** The oldest event that is kept; the next one where none is. */
  firstId(): number;
  /** The last event on disk, and the checksum of its frame. */
  durable(): { readonly id: number; readonly chain: number };
  /** Milliseconds since 1970. */
  now(): number;
  /** Awaited between two readings of the journal. */
  pause(): Promise<void>;
  /** Tells clients that copy the log. */
  notify(notice: Notice): void;
}

/** A message about the log to clients that copy it. */
export interface Notice {
  readonly type: string;
  /** The last event that it is about, by which notices differ. */
  readonly id: number;
  readonly data: object;
}

export interface JournalObserver {
  /** Called once the store is open. */
  start?(): void;
  /** Called with each batch that is on disk, in order. */
  durable?(frames: DurableFrames): void;
  /** Awaited before the events before this one are deleted. They stay where it gives false, and where it rejects, which is a fault. */
  beforeDeletion?(firstId: number): Promise<boolean>;
  /** Awaited after all of the journal was read again. Must not reject. */
  check?(): Promise<void>;
  /** Awaited when the journal is closed. */
  close?(): Promise<void>;
}
