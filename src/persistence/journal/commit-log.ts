/**
 * Decides what has happened. A node writes each batch to its own disk and hands it to the commit log at once; the
 * batch is durable, and may be acknowledged, when both have it. What the log refuses never happened, and what it holds
 * happened, even if the node that wrote it is lost.
 *
 * Every node keeps all frames in its own journal (journal.ts), for recovery, search, history, snapshots and tools. A
 * frame that another node wrote is followed: applied and appended as the same bytes, under the same ids.
 *
 * One node alone needs no log besides its disk: `LocalCommitLog`. The nodes of a cluster share one
 * (src/addons/replication/replicated-commit-log.ts).
 */

import type { FrameBody } from './frame-format.ts';

/** The frames of one group commit, in order: all of them are decided, or not one. */
export interface CommitBatch {
  /** Ids of the first event and of the last one. */
  readonly firstId: number;
  readonly lastId: number;
  /** Checksum of the frame before the batch, and of its last frame: what chains one batch to the next. */
  readonly previousChain: number;
  readonly chain: number;
  /** The frames. Their payloads are views that are valid until `append` has settled; copy what must last. */
  bodies(): Iterable<FrameBody>;
}

export interface CommitLog {
  /**
   * Milliseconds for which a batch behind one of several frames waits until it has as many more: callers that get a response often send
   * the next change. None unless given.
   */
  readonly gatherMs?: number;
  /**
   * Hands over the next batch, which follows the last one that the log decided. Resolves with the id up to which all is
   * decided, at least that of the batch. Rejects when this node may not write, with `FencedError` when another one took
   * over: then the batch never happened, and the journal ends. A batch that the log has from another node is decided
   * already, and so accepted as it is.
   */
  append(batch: CommitBatch): Promise<number>;
}

/** Another node writes to the log; this one has to stop, and to start again as one that follows. */
export class FencedError extends Error {
  override readonly name = 'FencedError';
}

/** The log has lost what it had decided, or holds what cannot follow. Nothing may be written any more, here or elsewhere. */
export class LogLostError extends Error {
  override readonly name: string = 'LogLostError';
}

/** The disk of this node decides, and the lock of the data folder keeps every other writer away. */
export class LocalCommitLog implements CommitLog {
  append({ lastId }: CommitBatch): Promise<number> {
    return Promise.resolve(lastId);
  }
}
