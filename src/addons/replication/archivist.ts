/**
 * Archives for nodes that join later: the leader puts its journal and its newest snapshots into the archive, and has
 * the log forget what is there.
 *
 * Guarantees
 * - The log forgets only what the archive holds without a gap, back to where this journal begins.
 * - It keeps what a node that was heard of lately has not read yet, a joining one included, and a margin besides.
 * - Everything may be interrupted, and repeated by any leader: each step looks at what the archive holds, and what two leaders
 *   archived says the same.
 *
 * It works in the background, one file at a time, and holds one file in memory. Its failures harm nothing but the room
 * that the log takes.
 */

import type { DataFolder } from '../../persistence/disk/data-folder.ts';
import { type FileSystem, isMissing, withFile } from '../../persistence/disk/file-system.ts';
import { FRAME_FORMAT } from '../../persistence/journal/frame-format.ts';
import { type JournalSource, listSegments, withSegment } from '../../persistence/journal/segment-file.ts';
import { listSnapshots } from '../../persistence/snapshots/snapshot-files.ts';
import { recordBefore } from './alignment.ts';
import {
  type ArchivedRun,
  type ArchiveIndex,
  archivedHistoryName,
  archivedSegmentName,
  firstRun,
  forgettableId,
  readArchiveIndex,
  snapshotPartName,
} from './archive-index.ts';
import { ARCHIVE_FILE_BYTES, type ArchivedFile, type FileArchive } from './file-archive.ts';
import { type ArchivePlace, JournalGatherer } from './journal-gatherer.ts';
import type { NodeHistory } from './node-history.ts';
import type { ArchiveView } from './node-view.ts';
import type { NodeIdentity } from './record-format.ts';
import type { Replica } from './replica.ts';
import type { ReplicaClock, ReplicaLog, ReplicatedEngine } from './replica-options.ts';
import type { ReplicatedLog } from './replicated-log.ts';

/** Between two looks at whether there is something to archive. */
export const ARCHIVE_PAUSE_MS = 5_000;

/** Between two files while there is more. Leaves the log's servers to the changes. */
const FILE_PAUSE_MS = 250;

/** So many looks go by what the archive held before, unless this node has changed it meanwhile. */
const LOOKS_PER_LIST = 12;

/** Snapshots in the archive; older ones are deleted. */
export const SNAPSHOTS_ARCHIVED = 2;

export interface ArchivistOptions {
  readonly fs: FileSystem;
  readonly files: DataFolder;
  readonly log: ReplicatedLog;
  readonly archive: FileArchive;
  readonly identity: NodeIdentity;
  readonly history: NodeHistory;
  readonly engine: Pick<ReplicatedEngine, 'durableId'>;
  readonly replica: Pick<Replica, 'isLeading' | 'view'>;
  readonly clock: Pick<ReplicaClock, 'timer'>;
  readonly notes: Pick<ReplicaLog, 'warn'>;
  /** Archived events that the log keeps all the same, in bytes of archived files. */
  readonly archiveMarginBytes: number;
  /** Whether retention removes journal, so that what it removed goes from the archive too. */
  readonly hasRetention: boolean;
  /** For tests. */
  readonly archiveFileBytes?: number;
}

export class Archivist {
  readonly #options: ArchivistOptions;
  #cancel: (() => void) | null = null;
  #isClosed = false;
  #gatherer: JournalGatherer | null = null;
  #view: ArchiveView | null = null;
  #seen = '';
  #index: ArchiveIndex | null = null;
  #looks = 0;
  #forgottenId = 0;
  #firstPosition = 0;
  #problem: string | null = null;

  constructor(options: ArchivistOptions) {
    this.#options = options;
  }

  /** The archive as this node sees it while it leads; null otherwise. */
  get view(): ArchiveView | null {
    return this.#options.replica.isLeading ? this.#view : null;
  }

  start(): void {
    this.#schedule(ARCHIVE_PAUSE_MS);
  }

  /** Does not wait for work under way: a stop must not wait for an archive that does not respond. */
  close(): void {
    this.#isClosed = true;
    this.#cancel?.();
  }

  #schedule(delayMs: number): void {
    if (this.#isClosed) return;
    this.#cancel = this.#options.clock.timer(delayMs, () => {
      void this.#work().then((isMore) => this.#schedule(isMore ? FILE_PAUSE_MS : ARCHIVE_PAUSE_MS));
    });
  }

  /** Whether there is more to do at once. */
  async #work(): Promise<boolean> {
    const { replica, notes } = this.#options;
    try {
      if (replica.isLeading) return await this.step();
    } catch (error) {
      const { message } = error as Error;
      if (!this.#isClosed && message !== this.#problem)
        // Operators: nothing, unless it repeats: see [fail-over](docs/cluster.md#fail-over)
        notes.warn(
          { err: error },
          'The archive could not be kept up to date; the log keeps everything meanwhile',
        );
      this.#tell(message);
    }
    this.#gatherer = null;
    this.#index = null;
    this.#seen = '';
    this.#forgottenId = 0;
    return false;
  }

  /** One file, or what is to be deleted and forgotten. Resolves with whether there may be more at once. */
  async step(): Promise<boolean> {
    const { archive, engine, replica } = this.#options;
    const segments = await this.#ownSegments();
    const snapshots = await listSnapshots(this.#options.fs, this.#options.files.snapshots);
    const seen = JSON.stringify([segments, snapshots.at(-1)?.id, engine.durableId, this.#neededFrom]);
    if (seen === this.#seen) return false;
    this.#looks += 1;
    if (this.#index === null || this.#looks % LOOKS_PER_LIST === 0)
      this.#index = readArchiveIndex(await archive.list());
    const index = this.#index;
    const run = firstRun(index);
    const [oldest] = segments;
    if (oldest === undefined || !replica.isLeading || !(await this.#isOwn(index))) return false;
    if (this.#options.hasRetention && (await this.#deleteDropped(index, run, oldest))) return true;
    const place = run === null ? await this.#beginning(oldest) : { id: run.lastId, chain: run.chain };
    if (place === null) return false;
    if (this.#gatherer?.firstId !== place.id + 1) this.#gatherer = await this.#gathererAt(place);
    if (this.#gatherer === null)
      return this.#refuse(`the archive ends with event ${place.id} of another history than the journal`);
    await this.#forget(index, run);
    const file = await this.#gatherer.next(engine.durableId);
    if (file !== null) {
      if (!replica.isLeading) return false;
      this.#index = null;
      await archive.put(archivedSegmentName(file), file.content);
      return true;
    }
    if (run !== null && (await this.#putSnapshot(index, run))) return true;
    await this.#deleteUseless(index);
    this.#seen = seen;
    return false;
  }

  /** Whether the archive is of the history of this node. One that names none gets its name. */
  async #isOwn({ history }: ArchiveIndex): Promise<boolean> {
    const { id: own } = this.#options.history;
    if (own === null || history === own) return true;
    if (history !== null) return this.#refuse(`the archive belongs to another history, ${history}`);
    this.#index = null;
    await this.#options.archive.put(archivedHistoryName(own), new Uint8Array());
    return true;
  }

  #refuse(problem: string): false {
    if (this.#problem !== problem)
      // Operators: delete [the bucket](docs/cluster.md#the-archive)
      this.#options.notes.warn({}, `Nothing is archived and the log keeps everything: ${problem}`);
    this.#tell(problem);
    return false;
  }

  /** Also while the archive is behind the journal: under load it may be for long. */
  async #forget(index: ArchiveIndex, run: ArchivedRun | null): Promise<void> {
    const { log, archiveMarginBytes } = this.#options;
    const forgottenId = run === null ? 0 : Math.min(forgettableId(run, archiveMarginBytes), this.#neededFrom);
    if (forgottenId > this.#forgottenId || this.#firstPosition === 0) {
      this.#firstPosition = await forget(log, forgottenId);
      this.#forgottenId = forgottenId;
    }
    this.#problem = null;
    this.#view = {
      archivedFrom: run?.firstId ?? 0,
      archivedId: run?.lastId ?? 0,
      snapshotId: index.snapshots.at(-1)?.id ?? 0,
      forgottenId: this.#forgottenId,
      firstPosition: this.#firstPosition,
      problem: null,
    };
  }

  /** The first event that a node which was heard of lately may still need is the next one; infinite where none needs any. */
  get #neededFrom(): number {
    return Math.min(...this.#options.replica.view.peers.map(({ durableId }) => durableId));
  }

  #tell(problem: string): void {
    this.#problem = problem;
    const nothing = { archivedFrom: 0, archivedId: 0, snapshotId: 0, forgottenId: 0, firstPosition: 0 };
    this.#view = { ...(this.#view ?? nothing), problem };
  }

  get #journal(): JournalSource {
    return { fs: this.#options.fs, folder: this.#options.files.journal };
  }

  /** First events of the segments whose frames can lie anywhere: those of release 0.1.0 cannot. */
  async #ownSegments(): Promise<readonly number[]> {
    const segments = await listSegments(this.#journal);
    for (const [at, firstId] of segments.entries()) {
      const header = await withSegment(this.#journal, firstId, async (segment) => segment.header);
      if (header?.format === FRAME_FORMAT) return segments.slice(at);
    }
    return [];
  }

  #gathererAt(place: ArchivePlace): Promise<JournalGatherer | null> {
    return JournalGatherer.at(this.#journal, this.#options.archiveFileBytes ?? ARCHIVE_FILE_BYTES, place);
  }

  /** Before the first event of the journal. */
  #beginning(oldest: number): Promise<ArchivePlace | null> {
    return withSegment(this.#journal, oldest, async ({ header }) =>
      header === null ? null : { id: oldest - 1, chain: header.chain },
    );
  }

  /**
   * Deletes what retention removed from the journal, if a snapshot in the archive makes up for it or it was not archived in time.
   */
  async #deleteDropped(
    { segments, snapshots }: ArchiveIndex,
    run: ArchivedRun | null,
    oldest: number,
  ): Promise<boolean> {
    const isCutOff = run !== null && run.lastId + 1 < oldest;
    const madeUpFor = isCutOff ? Number.POSITIVE_INFINITY : (snapshots[0]?.id ?? 0);
    const dropped = segments.filter(({ lastId }) => lastId < oldest && lastId <= madeUpFor);
    await this.#delete(dropped);
    return dropped.length > 0;
  }

  /** Whether it has put one: the newest, when the archive holds all events up to it. */
  async #putSnapshot({ snapshots }: ArchiveIndex, { lastId }: ArchivedRun): Promise<boolean> {
    const { fs, files, archive, identity, replica } = this.#options;
    const { archiveFileBytes: partBytes = ARCHIVE_FILE_BYTES } = this.#options;
    const own = (await listSnapshots(fs, files.snapshots)).findLast(({ id }) => id <= lastId);
    if (own === undefined || own.id <= (snapshots.at(-1)?.id ?? 0)) return false;
    this.#index = null;
    try {
      await withFile(fs, own.path, async (file) => {
        const size = await file.size();
        const parts = Math.ceil(size / partBytes);
        for (let part = 1; part <= parts && replica.isLeading; part += 1) {
          const bytes = Buffer.allocUnsafe(Math.min(partBytes, size - (part - 1) * partBytes));
          await file.read(bytes, 0, bytes.length, (part - 1) * partBytes);
          await archive.put(snapshotPartName(own.id, identity.run, part, parts), bytes);
        }
      });
    } catch (error) {
      // A newer snapshot may have taken its place.
      if (!isMissing(error)) throw error;
    }
    return true;
  }

  /** Snapshots but for the newest two, and what another leader did not finish. */
  async #deleteUseless({ snapshots, useless }: ArchiveIndex): Promise<void> {
    const old = snapshots.slice(0, -SNAPSHOTS_ARCHIVED).flatMap(({ parts }) => parts);
    await this.#delete([...old, ...useless]);
  }

  async #delete(files: readonly ArchivedFile[]): Promise<void> {
    if (files.length > 0) this.#index = null;
    for (const { name } of files) await this.#options.archive.delete(name);
  }
}

/** Has the log forget what a node with all events up to this one does not need; its first position. */
async function forget(log: ReplicatedLog, id: number): Promise<number> {
  const extent = await log.extent();
  const from = extent.last === 0 ? null : await recordBefore(log, extent, id);
  if (from === null || from <= extent.first) return extent.first;
  await log.purge(from);
  return from;
}
