/**
 * Notices that the journal is written to a file that nobody will find again, or by a server that no longer owns the
 * folder.
 *
 * A file that is deleted, moved or replaced while it is open can still be written, and every write to it succeeds. So
 * once a second a batch is acknowledged only after the name was seen to lead to the open file still, and the lock file
 * to be the one that was locked. That also holds for the first batch after a time without any.
 */
import assert from 'node:assert/strict';
import type { OpenFile } from '../disk/file-system.ts';

/** Looking costs two calls to the kernel. Writes of so long at most are lost with a file that is deleted. */
export const PRESENCE_INTERVAL_MS = 1000;

/** The journal's writes may be lost, though no call to the disk failed. The message says why. */
export class LostFileError extends Error {
  override readonly name = 'LostFileError';
}

export const lostFile = (path: string): LostFileError =>
  new LostFileError(
    `The file ${path} was deleted, moved or replaced while the server was writing it. Events that were acknowledged in the last second may be lost with it. Put the file back if it was moved; otherwise "flagstaff verify" says what is missing, and a backup has it.`,
  );

export interface PresenceOptions {
  /** Milliseconds, monotonic. */
  monotonicMs(): number;
  /** Whether the lock on the data folder is still this process's. */
  holdsLock(): Promise<boolean>;
}

export class Presence {
  readonly #options: PresenceOptions;
  #checkedAt: number;

  constructor(options: PresenceOptions) {
    this.#options = options;
    this.#checkedAt = options.monotonicMs();
  }

  /** Throws `LostFileError`. Does nothing when it was asked within the last second. */
  async checkIfDue(file: OpenFile, path: string): Promise<void> {
    const now = this.#options.monotonicMs();
    assert(now >= this.#checkedAt, 'the monotonic clock does not go back');
    if (now - this.#checkedAt < PRESENCE_INTERVAL_MS) return;
    this.#checkedAt = now;
    await this.check(file, path);
  }

  /** Throws `LostFileError`. */
  async check(file: OpenFile, path: string): Promise<void> {
    const [isThere, isLocked] = await Promise.all([file.isAt(path), this.#options.holdsLock()]);
    if (!isThere) throw lostFile(path);
    if (!isLocked) {
      throw new LostFileError(
        'The lock file of the data folder was deleted or replaced, so that another server may have opened the folder. This one stops before both write to the same journal. Make sure that only one is running, then run "flagstaff verify".',
      );
    }
  }
}
