/**
 * Takes snapshots: after a number of events or bytes of the journal, at a clean stop, and on demand. One at a time; a request while one is being
 * written gets the next. A snapshot that fails harms nothing, since the journal has everything: it is logged and
 * tried again at the next occasion.
 */
import assert from 'node:assert/strict';
import type { FileSystem } from '../persistence/disk/file-system.ts';
import type { KnownBlocks } from '../persistence/snapshots/known-blocks.ts';
import type { SnapshotFile } from '../persistence/snapshots/snapshot-files.ts';
import { type WrittenSnapshot, writeSnapshot } from '../persistence/snapshots/snapshot-writer.ts';
import type { Engine } from './engine.ts';
import { snapshotSections } from './state/world-snapshot.ts';
import { type Background, PAUSE_MS } from './turn.ts';

/**
 * The pause between turns while events pass, until as many have passed as lie between two snapshots. A snapshot then gets
 * half of the processor: under full load it would otherwise fall behind by millions of events, which the next start
 * has to replay.
 */
export const PAUSE_MS_MIN = 5;

/** Events between snapshots: replaying that many takes well under a second at a start. */
export const EVENTS_PER_SNAPSHOT = 100_000;

/** Bytes of the journal between two snapshots where events are large: replaying them takes a few seconds. */
export const BYTES_PER_SNAPSHOT = 2 ** 30;

export interface TakenSnapshot extends WrittenSnapshot {
  /** Id of the last event that the state contains. */
  readonly id: number;
  readonly durationMs: number;
  /** The time of its start, in milliseconds since 1970. */
  readonly at: number;
}

export interface SnapshotKeeperOptions {
  readonly background: Background;
  readonly engine: Engine;
  readonly fs: FileSystem;
  readonly folder: string;
  /** Id of the newest good snapshot in the folder; 0 without one. */
  readonly newestId: number;
  /** Bytes of the journal behind that snapshot. */
  readonly replayedBytes: number;
  readonly eventsPerSnapshot?: number;
  readonly bytesPerSnapshot?: number;
  /** Milliseconds since 1970. */
  now(): number;
  /** Milliseconds, monotonic. */
  monotonicMs(): number;
  /** Blocks that the newest snapshot holds already; without them everything is written again. */
  readonly known?: KnownBlocks;
  /** Also decodes what is taken over from an older snapshot; for the simulation. */
  readonly audited?: boolean;
  /** Returns those of the snapshots older than the newest SNAPSHOTS_KEPT that stay too. */
  keepOlder(older: readonly SnapshotFile[]): Promise<readonly SnapshotFile[]>;
  /** Runs after each snapshot; the next snapshot waits for it. */
  onTaken(snapshot: TakenSnapshot): Promise<void>;
  onFailed(error: unknown): void;
}

export class SnapshotKeeper {
  readonly #options: SnapshotKeeperOptions;
  #newestId: number;
  /** The next one is due at this event. */
  #dueId: number;
  /** And once the journal has appended this many bytes in this process. */
  #dueBytes: number;
  #lastTaken: TakenSnapshot | null = null;
  #running: Promise<TakenSnapshot | null> | null = null;
  #failures = 0;
  /** The event that the snapshot under way ends with. */
  #writtenId = 0;

  constructor(options: SnapshotKeeperOptions) {
    this.#options = options;
    assert(options.newestId <= options.engine.durableId, 'no snapshot is ahead of what is on disk');
    assert((options.eventsPerSnapshot ?? EVENTS_PER_SNAPSHOT) > 0, 'events lie between two snapshots');
    assert((options.bytesPerSnapshot ?? BYTES_PER_SNAPSHOT) > 0, 'bytes lie between two snapshots');
    this.#newestId = options.newestId;
    assert(options.replayedBytes >= 0, 'what was replayed has a length');
    this.#dueId = options.newestId + this.#interval;
    this.#dueBytes = this.#bytesPerSnapshot - options.replayedBytes;
  }

  get #bytesPerSnapshot(): number {
    return this.#options.bytesPerSnapshot ?? BYTES_PER_SNAPSHOT;
  }

  get #appendedBytes(): number {
    return this.#options.engine.journal.stats().bytes;
  }

  get #interval(): number {
    return this.#options.eventsPerSnapshot ?? EVENTS_PER_SNAPSHOT;
  }

  get newestId(): number {
    return this.#newestId;
  }

  /** The last one that this process took; null before. */
  get lastTaken(): TakenSnapshot | null {
    return this.#lastTaken;
  }

  /** How many failed since the start. */
  get failures(): number {
    return this.#failures;
  }

  /** To be called after each sync: begins a snapshot when one is due. */
  noticed(durableId: number): void {
    assert(durableId >= this.#newestId, 'no snapshot is ahead of what is on disk');
    assert(this.#dueId > this.#newestId, 'the next snapshot is due after the newest one');
    // On a disk that is nearly full a snapshot would take the room that the journal needs.
    const isDue = durableId >= this.#dueId || this.#appendedBytes >= this.#dueBytes;
    if (!isDue || this.#running !== null || !this.#options.engine.journal.writable) return;
    // The next one is scheduled before this one succeeds, so that a failing snapshot is not repeated at each sync.
    this.#schedule(durableId, this.#appendedBytes);
    void this.take().catch(this.#options.onFailed);
  }

  /** A snapshot of the state as it is now; null when the newest one is of this state already. */
  async take(): Promise<TakenSnapshot | null> {
    while (this.#running !== null) await this.#running.catch(() => null);
    assert(this.#running === null, 'one snapshot is taken at a time');
    this.#running = this.#write();
    try {
      return await this.#running;
    } catch (error) {
      this.#failures += 1;
      throw error;
    } finally {
      this.#running = null;
    }
  }

  /** To be called when no requests are served any more: snapshots then take the whole processor. */
  hurry(): void {
    this.#options.background.hurry();
  }

  /** From a snapshot of this event, which was the newest when this many bytes had been appended. */
  #schedule(id: number, appendedBytes: number): void {
    assert(id >= this.#newestId, 'no snapshot is due before the newest one');
    this.#dueId = id + this.#interval;
    this.#dueBytes = appendedBytes + this.#bytesPerSnapshot;
  }

  #pauseMs(): number {
    const passed = (this.#options.engine.lastId - this.#writtenId) / this.#interval;
    assert(passed >= 0, 'the state goes on from the snapshot that is being written');
    return Math.max(PAUSE_MS_MIN, PAUSE_MS * (1 - passed));
  }

  async #write(): Promise<TakenSnapshot | null> {
    const { engine, background, fs, folder, monotonicMs, now, known, audited } = this.#options;
    if (engine.lastId === this.#newestId) return null;
    const id = engine.lastId;
    assert(id > this.#newestId, 'the state never goes back behind a snapshot of it');
    this.#writtenId = id;
    const appendedBytes = this.#appendedBytes;
    const at = now();
    const startedAt = monotonicMs();
    background.begin();
    // Id, chain and state must belong to one moment, so nothing may be awaited before all are taken.
    const written = writeSnapshot({
      fs,
      folder,
      id,
      at: engine.lastAt,
      chain: engine.lastChain,
      sections: snapshotSections(engine.world),
      durable: () => engine.journal.flush(),
      ...(known !== undefined && { known }),
      ...(audited !== undefined && { audited }),
      keepOlder: this.#options.keepOlder,
      rest: () => background.rest(this.#pauseMs()),
    });
    const taken = { ...(await written), id, at, durationMs: monotonicMs() - startedAt };
    assert(engine.durableId >= id, 'no snapshot is ahead of the journal');
    assert(id > this.#newestId && this.#writtenId === id, 'snapshots are written one after the other');
    assert(taken.records > 0 && taken.durationMs >= 0, 'a snapshot has a record at least, of the counters');
    this.#newestId = id;
    this.#schedule(id, appendedBytes);
    this.#lastTaken = taken;
    await this.#options.onTaken(taken);
    return taken;
  }
}
