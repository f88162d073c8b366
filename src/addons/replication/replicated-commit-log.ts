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
 *
 * Each answer of the log also confirms, as of the moment in which it was asked, that nobody else had taken over.
 */
import assert from 'node:assert/strict';
import { type CommitBatch, type CommitLog, FencedError } from '../../persistence/journal/commit-log.ts';
import type { NodeHistory } from './node-history.ts';
import { encodeBatch, encodeRecord, type NodeIdentity, partsOf } from './record-format.ts';
import type { ReplicatedLog } from './replicated-log.ts';

/** Between two attempts while the outcome of the first is not known. */
export const RETRY_PAUSE_MS = 100;

/** However long the log takes, no batch waits longer for more changes. */
const GATHER_MS_MAX = 50;

/** A place in the log from which a node may write. */
export interface Leadership {
  readonly epoch: number;
  /** The last record in the log. */
  readonly position: number;
}

export interface ReplicatedCommitLogOptions {
  readonly log: ReplicatedLog;
  readonly history: NodeHistory;
  readonly identity: NodeIdentity;
  pause(delayMs: number): Promise<void>;
  monotonic(): number;
  /** For tests: of one part of a batch. */
  readonly partBytes?: number | undefined;
  /** Told when an outcome is not known, and when it is. */
  onTrouble(cause: unknown): void;
}

export class ReplicatedCommitLog implements CommitLog {
  readonly #options: ReplicatedCommitLogOptions;
  #leadership: Leadership | null = null;
  /** All up to this event is decided. */
  #committedId = 0;
  #isClosed = false;
  #confirmedAtMs = Number.NEGATIVE_INFINITY;
  #isPublishing = false;
  /** Milliseconds that the log took for the last record. */
  #recordMs = 0;

  constructor(options: ReplicatedCommitLogOptions) {
    this.#options = options;
  }

  /** Twice the time of the last record, in which all callers can have sent their next changes. Mostly they have sooner. */
  get gatherMs(): number {
    return this.#leadership === null ? 0 : Math.min(2 * this.#recordMs, GATHER_MS_MAX);
  }

  /** Milliseconds since the log last confirmed that this node leads. */
  get unconfirmedMs(): number {
    return this.#options.monotonic() - this.#confirmedAtMs;
  }

  get leadership(): Leadership | null {
    return this.#leadership;
  }

  /** The log holds all up to this event, by the word of its records. */
  committed(id: number): void {
    this.#committedId = Math.max(this.#committedId, id);
  }

  /** The log said so at that moment. */
  lead(leadership: Leadership, saidAtMs: number): void {
    this.#leadership = leadership;
    this.#confirm(saidAtMs);
  }

  /** The log, asked then, knew of nobody who took over. */
  #confirm(askedAtMs: number): void {
    this.#confirmedAtMs = Math.max(this.#confirmedAtMs, askedAtMs);
  }

  /**
   * Takes the end of the log for a sign that this node leads still; false where another one took over. The answer is that of the server
   * that leads the log, which may itself be cut off from the others for some seconds; what is appended is decided by a majority.
   */
  hearEnd(last: number, asked: Leadership, askedAtMs: number): boolean {
    // What this node has published meanwhile says more than an answer from before.
    if (this.#leadership !== asked || this.#isPublishing) return true;
    if (last > asked.position) return false;
    this.#confirm(askedAtMs);
    return true;
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
    if (batch.lastId <= this.#committedId) return this.#committedId;
    assert(this.#committedId < batch.firstId, 'what a node follows is on its disk before it writes itself');
    const {
      history: { cluster, idToWrite: history },
      identity: by,
      partBytes,
    } = this.#options;
    const { previousChain, lastId } = batch;
    const parts = partsOf(encodeBatch(batch.bodies()), partBytes);
    for (const [part, content] of parts.entries()) {
      if (this.#leadership === null) throw new FencedError('it does not lead');
      const { epoch } = this.#leadership;
      const previousId = batch.firstId - 1;
      await this.#publish(
        encodeRecord({
          ...{
            kind: 'frames',
            cluster,
            history,
            epoch,
            by,
            previousId,
            previousChain,
            lastId,
            part,
            content,
          },
          parts: parts.length,
        }),
      );
    }
    this.#committedId = lastId;
    return lastId;
  }

  async #publish(record: Buffer): Promise<void> {
    assert(this.#leadership !== null, 'only a leader publishes');
    const { epoch, position } = this.#leadership;
    this.#isPublishing = true;
    try {
      while (!(await this.#isTaken(record, position))) await this.#options.pause(RETRY_PAUSE_MS);
    } finally {
      this.#isPublishing = false;
    }
    this.#leadership = { epoch, position: position + 1 };
    this.#recordMs = this.unconfirmedMs;
  }

  /** Whether the log has the record as position `last + 1`. Throws when it has another one there. */
  async #isTaken(record: Buffer, last: number): Promise<boolean> {
    if (this.#isClosed) throw new FencedError('it stops');
    const askedAtMs = this.#options.monotonic();
    const outcome = await this.#options.log.append(last, record);
    if (outcome.kind === 'accepted') {
      this.#confirm(askedAtMs);
      return true;
    }
    if (outcome.kind === 'unknown') this.#options.onTrouble(outcome.cause);
    try {
      const found = await this.#options.log.read(last + 1);
      if (found?.equals(record)) return true;
      if (found !== null) throw new FencedError('another node took over');
      const { first } = await this.#options.log.extent();
      if (first > last + 1) throw new FencedError('another node took over, long ago');
    } catch (error) {
      if (error instanceof FencedError) throw error;
      this.#options.onTrouble(error);
    }
    // A conflict with nothing in its place is one with a record that the log is about to take.
    return false;
  }
}
