/**
 * Retention deletes the oldest events when an operator has set how long they are kept, and keeps the snapshots from which
 * the states in that time are rebuilt.
 *
 * The base is the newest snapshot that is older than the time to keep. It stays, and so does the journal behind it, so
 * every moment within that time can be gone back to. Of the snapshots between it and the newest ones a few stay, from
 * which the next base is taken.
 *
 * It deletes only whole segment files whose events are all contained in the oldest kept snapshot, which is the base or
 * older, so that a start from any kept snapshot stays possible. The oldest segment goes first, and each deletion
 * is on disk before the next, so a crash leaves a shorter journal and never one with a gap. The index forgets the
 * events before that, so a reader that asks for one learns that it is no longer kept.
 *
 * The list of files comes from the folder and not from the index, so a file whose deletion failed before comes first
 * this time. Skipping it would leave a gap behind it, and no server starts on a journal with a gap.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { DataFolder } from '../disk/data-folder.ts';
import type { FileSystem } from '../disk/file-system.ts';
import { writeLogBeginning } from '../journal/log-beginning.ts';
import { paddedId, segmentFileName } from '../journal/segment.ts';
import { listSegments, withSegment } from '../journal/segment-file.ts';
import { listSnapshots, readSnapshotHeader, type SnapshotFile } from '../snapshots/snapshot-files.ts';
import type { EventLog } from './event-log.ts';

/** Releases up to 0.2.0 kept an index beside each segment, and make it anew where it is missing. */
const INDEX_FILE_SUFFIX = '.index';

const DAY_MS = 24 * 60 * 60 * 1000;

export interface RetentionOptions {
  readonly fs: FileSystem;
  readonly folder: DataFolder;
  readonly eventLog: EventLog;
  /** Awaited before the events before this one are deleted. They stay where it gives false, and where it rejects, which is a fault. */
  beforeDeletion?(firstId: number): Promise<boolean>;
}

export interface EventRetentionOptions extends RetentionOptions {
  /** Null keeps all. */
  readonly retentionDays: number | null;
  readonly log: {
    info(details: object, message: string): void;
    error(details: object, message: string): void;
  };
  /** Milliseconds since 1970. */
  now(): number;
}

/**
 * Deletes old events after a snapshot. A deletion that fails is logged and tried again after the next snapshot, because the
 * journal only keeps more than it has to.
 */
export class EventRetention {
  readonly #options: EventRetentionOptions;

  constructor(options: EventRetentionOptions) {
    this.#options = options;
  }

  /** Returns the snapshots to keep besides the newest ones; `durableId`: the newest event on disk. */
  async keepOlder(older: readonly SnapshotFile[], durableId: number): Promise<readonly SnapshotFile[]> {
    const present = this.#present(durableId);
    if (present === null) return [];
    if (!this.#options.eventLog.isWhole) return older;
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
    const { eventLog, log, retentionDays: eventRetentionDays } = this.#options;
    const present = this.#present(durableId);
    // Where the journal is still being read, the next snapshot will do.
    if (present === null || !eventLog.isWhole) return;
    try {
      const dropped = await dropOldEvents(this.#options, present);
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

export interface DroppedEvents {
  readonly from: number;
  readonly to: number;
  readonly segments: number;
}

export interface Present {
  /** Milliseconds that an event is kept. */
  readonly keptMs: number;
  /** The time of the clock, in milliseconds since 1970. */
  readonly now: number;
  /** The newest event that is on disk. */
  readonly durableId: number;
}

/** Deletes what is older than `keptMs`; null when there is nothing to delete. */
export async function dropOldEvents(
  options: RetentionOptions,
  present: Present,
): Promise<DroppedEvents | null> {
  const { fs, folder, eventLog } = options;
  const { journal } = folder;
  const [oldest] = await listSnapshots(fs, folder.snapshots);
  const header = oldest === undefined ? null : await readSnapshotHeader(fs, oldest.path);
  if (header === null || header.at >= (await keptSince(eventLog, present))) return null;
  const segments = await listSegments({ fs, folder: journal });
  const keptFrom = segments.findLast((firstId) => firstId <= header.id + 1) ?? 1;
  const dropped = segments.filter((firstId) => firstId < keptFrom);
  if (dropped.length > 0 && (await options.beforeDeletion?.(keptFrom)) === false) return null;
  eventLog.dropSegmentsBefore(header.id + 1);
  assert(dropped.length === 0 || eventLog.firstId === keptFrom, 'the index forgets what is deleted');
  // Before the first deletion: a segment that is missing although the log begins with it was not deleted here.
  if (dropped.length > 0) await recordBeginning(fs, folder, keptFrom);
  for (const firstId of dropped) {
    await fs.remove(join(journal, segmentFileName(firstId)));
    const index = join(journal, `${paddedId(firstId)}${INDEX_FILE_SUFFIX}`);
    if (await fs.exists(index)) await fs.remove(index);
    await fs.syncFolder(journal);
  }
  const [from] = dropped;
  return from === undefined ? null : { from, to: keptFrom - 1, segments: dropped.length };
}

/**
 * The latest time that events of a later day confirm; null when all events are of one day. Times come from the clock,
 * and a clock that is wrong for a moment may be wrong by years. So the newest event proves nothing by itself, before a
 * restart or after one, and the newest event that is at least a day older than it counts instead.
 */
async function confirmedTime(eventLog: EventLog, durableId: number): Promise<number | null> {
  const newest = await eventLog.readFrame(durableId);
  const id = newest && eventLog.idAtOrBefore(newest.at - DAY_MS, durableId);
  return id === null ? null : ((await eventLog.readFrame(id))?.at ?? null);
}

/** The time from which on everything is kept. While no second day confirms any time, that is all there is. */
async function keptSince(eventLog: EventLog, { keptMs, now, durableId }: Present): Promise<number> {
  const confirmed = await confirmedTime(eventLog, durableId);
  return confirmed === null ? Number.NEGATIVE_INFINITY : Math.min(now, confirmed) - keptMs;
}

/**
 * Between the base and the newest snapshots one stays for each so many parts of the time to keep. The journal thus reaches
 * back at most this part further than it has to.
 */
const STEPS_BETWEEN_BASES = 4;

/** Returns those of these snapshots, oldest first, from which the states of the retention time are rebuilt, now and later. */
export async function snapshotsToKeep(
  { fs, eventLog }: Pick<RetentionOptions, 'fs' | 'eventLog'>,
  older: readonly SnapshotFile[],
  present: Present,
): Promise<readonly SnapshotFile[]> {
  const since = await keptSince(eventLog, present);
  const kept: SnapshotFile[] = [];
  let keptAt = Number.NEGATIVE_INFINITY;
  for (const file of older) {
    const header = await readSnapshotHeader(fs, file.path);
    // One that is damaged is recovery's business.
    if (header === null) continue;
    if (header.at < since) kept.length = 0;
    else if (header.at - keptAt < present.keptMs / STEPS_BETWEEN_BASES) continue;
    kept.push(file);
    keptAt = header.at;
  }
  return kept;
}

async function recordBeginning(fs: FileSystem, folder: DataFolder, firstId: number): Promise<void> {
  const beginning = await withSegment({ fs, folder: folder.journal }, firstId, async ({ header }) => header);
  if (beginning === null) throw new Error(`the segment that begins with event ${firstId} has no header`);
  await writeLogBeginning(fs, folder.root, beginning);
}
