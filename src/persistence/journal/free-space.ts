/**
 * The free-space reserve: writes are refused while there is still room to end cleanly (invariant 6).
 *
 * A write that finds the disk full stops the process, since a short write leaves the journal in a state that only
 * recovery may change. Refusing writes earlier keeps the process running: reads go on, and writes resume by
 * themselves once there is space again. The check is not on the hot path and runs at most once a second.
 */
import assert from 'node:assert/strict';
import type { FileSystem } from '../disk/file-system.ts';

/**
 * Room for several seconds of writes at full speed between two checks, and for a snapshot of a small installation.
 */
export const RESERVE_BYTES_DEFAULT = 64 * 1024 * 1024;

/** Between two looks at the free space: a statfs costs a thread of libuv's pool for some microseconds. */
export const SPACE_CHECK_INTERVAL_MS = 1000;

/** The free space is up to a second old, so what could be done without takes only a part of what seems to be left. */
const SPARE_FACTOR = 16;

export interface FreeSpaceOptions {
  readonly fs: FileSystem;
  readonly folder: string;
  /** 0: none. */
  readonly reserveBytes: number;
  readonly monotonicMs: () => number;
}

export class FreeSpace {
  readonly #options: FreeSpaceOptions;
  #checkedAt = Number.NEGATIVE_INFINITY;
  #checking = false;
  #freeBytes = Number.POSITIVE_INFINITY;

  constructor(options: FreeSpaceOptions) {
    assert(options.reserveBytes >= 0, 'a reserve takes space, or there is none');
    this.#options = options;
  }

  /** Without a reserve there always is: a write finds out by itself whether it fits. */
  get enough(): boolean {
    const { reserveBytes } = this.#options;
    return reserveBytes === 0 || this.#freeBytes >= reserveBytes;
  }

  /** Whether so many bytes that could be done without would fit well above the reserve. */
  hasRoomFor(bytes: number): boolean {
    assert(bytes > 0, 'room is looked for where something is to be written');
    return this.#freeBytes - this.#options.reserveBytes >= bytes * SPARE_FACTOR;
  }

  /**
   * Counts bytes that were written since the last look. Those that overwrite zeros written ahead take no more space, so
   * the count is too low for a second at most, and never too high.
   */
  wrote(bytes: number): void {
    assert(bytes >= 0, 'writing frees no space');
    this.#freeBytes -= bytes;
  }

  get freeBytes(): number {
    return this.#freeBytes;
  }

  async check(): Promise<void> {
    assert(!this.#checking, 'one look at the free space is under way at a time');
    this.#checkedAt = this.#options.monotonicMs();
    this.#checking = true;
    try {
      this.#freeBytes = await this.#options.fs.freeBytes(this.#options.folder);
    } finally {
      this.#checking = false;
    }
  }

  /**
   * Starts a check unless one ran within the last second. A clock that was set back counts as elapsed.
   * A check that fails changes nothing: the disk reports its trouble through the next write, where it is fatal.
   */
  checkIfDue(): void {
    if (this.#checking) return;
    const elapsedMs = this.#options.monotonicMs() - this.#checkedAt;
    if (elapsedMs >= 0 && elapsedMs < SPACE_CHECK_INTERVAL_MS) return;
    this.check().catch(() => undefined);
  }
}
