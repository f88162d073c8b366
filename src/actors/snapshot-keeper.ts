/**
 * Takes snapshots: every so many events, at a clean stop, and on demand. One at a time; a request while one is
 * being written gets the next. A snapshot that fails harms nothing, since the journal has everything: it is logged and
 * tried again at the next occasion.
 */
import type { FileSystem } from '../persistence/disk/file-system.ts';
import { type WrittenSnapshot, writeSnapshot } from '../persistence/snapshots/snapshot-writer.ts';
import type { Engine } from './engine.ts';
import { snapshotSections } from './world-snapshot.ts';

/**
 * Between two slices of a snapshot (5 ms each, see snapshot-writer.ts) that is taken while requests are served: it so
 * gets a ninth of the processor at most. Slices one after the other took four fifths of the throughput of writes
 * while a snapshot of 100,000 flags lasted, and nobody waits for one.
 */
export const SLICE_PAUSE_MS = 40;

/** After a pause in which the process had less to do than this share of it, so many slices follow without one. */
const IDLE_SHARE = 0.3;
export const SLICES_WHEN_IDLE = 4;

/** Events between snapshots: replaying that many takes well under a second at a start. */
export const EVENTS_PER_SNAPSHOT = 100_000;

export interface TakenSnapshot extends WrittenSnapshot {
  /** Id of the last event that the state contains. */
  readonly id: number;
  readonly durationMs: number;
  /** When it was begun, milliseconds since 1970. */
  readonly at: number;
}

export interface SnapshotKeeperOptions {
  readonly engine: Engine;
  readonly fs: FileSystem;
  /** The folder of the snapshots. */
  readonly folder: string;
  /** Id of the newest good snapshot in the folder; 0 without one. */
  readonly newestId: number;
  readonly eventsPerSnapshot?: number;
  /** Milliseconds since 1970. */
  now(): number;
  /** Milliseconds, monotonic. */
  clock(): number;
  yieldToEventLoop(): Promise<void>;
  /** Resolves after so many milliseconds with the share of them, 0 to 1, in which the process was busy. */
  pause(pauseMs: number): Promise<number>;
  /** What follows each snapshot; the next one waits for it. */
  onTaken(snapshot: TakenSnapshot): Promise<void>;
  onFailed(error: unknown): void;
}

export class SnapshotKeeper {
  readonly #options: SnapshotKeeperOptions;
  #newestId: number;
  /** The next one is due at this event. */
  #dueId: number;
  #lastTaken: TakenSnapshot | null = null;
  #running: Promise<TakenSnapshot | null> | null = null;
  #hurries = false;
  #slicesWithoutPause = 0;

  constructor(options: SnapshotKeeperOptions) {
    this.#options = options;
    this.#newestId = options.newestId;
    this.#dueId = options.newestId + this.#interval;
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

  /** To be called after each sync: begins a snapshot when one is due. */
  noticed(durableId: number): void {
    // On a disk that is nearly full a snapshot would take the room that the journal needs.
    if (durableId < this.#dueId || this.#running !== null || !this.#options.engine.journal.writable) return;
    // Moved before it succeeds: one that fails is not tried again at each sync.
    this.#dueId = durableId + this.#interval;
    void this.take().catch(this.#options.onFailed);
  }

  /** A snapshot of the state as it is now; null when the newest one is of this state already. */
  async take(): Promise<TakenSnapshot | null> {
    while (this.#running !== null) await this.#running.catch(() => null);
    this.#running = this.#write();
    try {
      return await this.#running;
    } finally {
      this.#running = null;
    }
  }

  /** No requests are served any more: what is being written, and what follows, takes the whole processor. */
  hurry(): void {
    this.#hurries = true;
  }

  async #betweenSlices(): Promise<void> {
    if (this.#hurries || this.#slicesWithoutPause > 0) {
      this.#slicesWithoutPause -= 1;
      return this.#options.yieldToEventLoop();
    }
    const busyShare = await this.#options.pause(SLICE_PAUSE_MS);
    this.#slicesWithoutPause = busyShare < IDLE_SHARE ? SLICES_WHEN_IDLE : 0;
  }

  async #write(): Promise<TakenSnapshot | null> {
    const { engine, fs, folder, clock, now } = this.#options;
    const id = engine.lastId;
    if (id === this.#newestId) return null;
    const at = now();
    const startedAt = clock();
    // Id, chain and state are of one moment: nothing may be awaited before all are taken.
    const written = writeSnapshot({
      fs,
      folder,
      id,
      at: engine.lastAt,
      chain: engine.journal.appendedChain,
      sections: snapshotSections(engine.world),
      durable: () => engine.journal.flush(),
      clock,
      yieldToEventLoop: () => this.#betweenSlices(),
    });
    const taken = { ...(await written), id, at, durationMs: clock() - startedAt };
    this.#newestId = id;
    this.#dueId = id + this.#interval;
    this.#lastTaken = taken;
    await engine.eventLog.saveIndex(engine.durableId);
    await this.#options.onTaken(taken);
    return taken;
  }
}
