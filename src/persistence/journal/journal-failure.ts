/**
 * The error after which the journal guarantees nothing more. The process ends with exit code 74 (invariant 6).
 */
import assert from 'node:assert/strict';
import type { OpenFile } from '../disk/file-system.ts';
import { FencedError, LogLostError } from './commit-log.ts';

export interface JournalFailureDetails {
  readonly file: string;
  /** Offset of the batch that could not be made durable. */
  readonly offset: number;
  /** Everything up to this event is on disk. */
  readonly durableId: number;
  readonly cause: unknown;
}

export class JournalFailure extends Error {
  override readonly name = 'JournalFailure';
  readonly file: string;
  readonly offset: number;
  readonly durableId: number;

  constructor({ file, offset, durableId, cause }: JournalFailureDetails) {
    super(messageOf({ file, offset, durableId, cause }), { cause });
    assert(offset >= 0 && durableId >= 0, 'a failure tells the place, and what is durable before it');
    this.file = file;
    this.offset = offset;
    this.durableId = durableId;
  }
}

function messageOf({ file, offset, durableId, cause }: JournalFailureDetails): string {
  if (cause instanceof LostFileError) return cause.message;
  const reason = cause instanceof Error ? cause.message : String(cause);
  const rest = `Every event up to ${durableId} is on disk; nothing after it was acknowledged.`;
  if (cause instanceof LogLostError)
    return `This node cannot go on: ${reason}. ${rest} Compare the journals of all nodes before you start one of them again.`;
  return cause instanceof FencedError
    ? `This node may not write any more: ${reason}. ${rest} Start the server again; it will follow.`
    : `The journal could not be written at offset ${offset} of ${file}: ${reason}. ${rest} Look at the disk and its free space, then start the server again.`;
}

// Notices that the journal is written to a file that nobody will find again, or by a server that no longer owns the
// folder.
//
// A file that is deleted, moved or replaced while it is open can still be written, and every write to it succeeds. So
// once a second a batch is acknowledged only after the name was seen to lead to the open file still, and the lock file
// to be the one that was locked. That also holds for the first batch after a time without any.

/** Looking costs two calls to the kernel. Writes of so long at most are lost with a file that is deleted. */
export const PRESENCE_INTERVAL_MS = 1000;

/** The journal's writes may be lost, though no call to the disk failed. The message says why. */
class LostFileError extends Error {
  override readonly name = 'LostFileError';
}

export const lostFile = (path: string): LostFileError =>
  new LostFileError(
    // Operators, of "The file … was deleted, moved or replaced while the server was writing it. …": what it says
    `The file ${path} was deleted, moved or replaced while the server was writing it. Events that were acknowledged in the last second may be lost with it. Put the file back if it was moved; otherwise "flagstaff verify" says what is missing, and a backup has it.`,
  );

interface PresenceOptions {
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

  /** Throws `LostFileError`. Does nothing within a second of the last call. */
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
      // Operators, of "The lock file of the data folder was deleted or replaced, …": what it says
      throw new LostFileError(
        'The lock file of the data folder was deleted or replaced, so that another server may have opened the folder. This one stops before both write to the same journal. Make sure that only one is running, then run "flagstaff verify".',
      );
    }
  }
}
