/**
 * The commit log of a node in a cluster: a batch is decided when the replicated log has it.
 *
 * While the node follows, what it appends to its journal was decided before. While it leads, it publishes one record at a
 * time, at the position after the last one that it knows. Whoever took over meanwhile has a record there, so the batch
 * is refused and never happened (fencing).
 *
 * An outcome that is not known is found out by reading: the same bytes at that position mean that the record was
 * taken, other bytes that another node took over, and nothing that it is to be published again. A record that was
 * published twice is taken once at most, because both attempts expect the same position. Until then nothing is
 * acknowledged, however long that takes.
 */
import assert from 'node:assert/strict';
import { type CommitBatch, type CommitLog, FencedError } from '../../persistence/journal/commit-log.ts';
import { encodeBatch, encodeRecord, LogDamageError, type NodeIdentity, partsOf } from './record-format.ts';
import type { ReplicatedLog } from './replicated-log.ts';

/** Between two attempts while the outcome of the first is not known. */
export const RETRY_PAUSE_MS = 100;

/** A place in the log from which a node may write. */
export interface Leadership {
  readonly epoch: number;
  /** The last record in the log. */
  readonly position: number;
}

export interface ReplicatedCommitLogOptions {
  readonly log: ReplicatedLog;
  readonly cluster: string;
  readonly identity: NodeIdentity;
  /** Resolves after that many milliseconds. */
  pause(delayMs: number): Promise<void>;
  /** Told when an outcome is not known, and when it is. */
  onTrouble(cause: unknown): void;
}

export class ReplicatedCommitLog implements CommitLog {
  readonly #options: ReplicatedCommitLogOptions;
  #leadership: Leadership | null = null;
  /** All up to this event is decided. */
  #decidedId = 0;
  #isClosed = false;
  #isStuck = false;

  constructor(options: ReplicatedCommitLogOptions) {
    this.#options = options;
  }

  /** Whether a batch waits because the log does not say what became of it. */
  get isStuck(): boolean {
    return this.#isStuck;
  }

  get leadership(): Leadership | null {
    return this.#leadership;
  }

  /** The log holds all up to this event, by the word of its records. */
  decided(id: number): void {
    this.#decidedId = Math.max(this.#decidedId, id);
  }

  lead(leadership: Leadership): void {
    this.#leadership = leadership;
  }

  /** From now on this node writes nothing. Nothing may be under way. */
  resign(): void {
    this.#leadership = null;
  }

  /** Gives up on what is under way; it may be in the log or not. */
  close(): void {
    this.#isClosed = true;
  }

  async append(batch: CommitBatch): Promise<number> {
    if (batch.lastId <= this.#decidedId) return this.#decidedId;
    assert(this.#decidedId < batch.firstId, 'what a node follows is on its disk before it writes itself');
    const { cluster, identity: by } = this.#options;
    const { previousChain, lastId } = batch;
    const parts = partsOf(encodeBatch(batch.bodies()));
    for (const [part, content] of parts.entries()) {
      if (this.#leadership === null) throw new FencedError('it does not lead');
      const { epoch } = this.#leadership;
      const previousId = batch.firstId - 1;
      await this.#publish(
        encodeRecord({
          ...{ kind: 'frames', cluster, epoch, by, previousId, previousChain, lastId, part, content },
          parts: parts.length,
        }),
      );
    }
    this.#decidedId = lastId;
    return lastId;
  }

  async #publish(record: Buffer): Promise<void> {
    assert(this.#leadership !== null, 'only a leader publishes');
    const { epoch, position } = this.#leadership;
    while (!(await this.#isTaken(record, position))) await this.#options.pause(RETRY_PAUSE_MS);
    this.#isStuck = false;
    this.#leadership = { epoch, position: position + 1 };
  }

  /** Whether the log has the record as position `last + 1`. Throws when it has another one there. */
  async #isTaken(record: Buffer, last: number): Promise<boolean> {
    if (this.#isClosed) throw new FencedError('it stops');
    const outcome = await this.#options.log.append(last, record);
    if (outcome.kind === 'accepted') return true;
    this.#isStuck = true;
    if (outcome.kind === 'unknown') this.#options.onTrouble(outcome.cause);
    try {
      const found = await this.#options.log.read(last + 1);
      if (found?.equals(record)) return true;
      if (found !== null) throw new FencedError('another node took over');
      const extent = await this.#options.log.extent();
      if (extent.last < last)
        throw new LogDamageError(
          `the replicated log ends at position ${extent.last}, and position ${last} was acknowledged`,
        );
      if (extent.first > last + 1) throw new FencedError('another node took over, long ago');
    } catch (error) {
      if (error instanceof FencedError || error instanceof LogDamageError) throw error;
      this.#options.onTrouble(error);
    }
    // A conflict with nothing in its place is one with a record that the log is about to take.
    return false;
  }
}
