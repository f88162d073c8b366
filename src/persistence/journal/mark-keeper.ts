/**
 * Keeps the durable mark (durable-mark.ts) close behind what is durable, without a write for each batch.
 *
 * A mark states what is durable when it is written, so it never states too much, and one is written at a time. After `stop` none is
 * begun; `close` writes the last one, where there is anything left to state.
 */
import assert from 'node:assert/strict';
import type { Timer } from '../../process/timers.ts';
import type { DurableMark, DurableMarkFile } from './durable-mark.ts';

/**
 * All syncs within this time share one mark, because a mark after each batch would cost a tenth of the throughput at
 * 50,000 writes a second. A crash within this time leaves the mark a few batches behind.
 */
export const MARK_DELAY_MS = 50;

export interface MarkKeeperOptions {
  readonly file: DurableMarkFile;
  /** The place up to which the journal is durable now. */
  readonly durable: () => DurableMark;
  readonly timer: Timer;
  readonly onFailure: (cause: unknown) => void;
}

export class MarkKeeper {
  readonly #options: MarkKeeperOptions;
  #markedId: number;
  #cancel: (() => void) | null = null;
  #writing: Promise<void> | null = null;
  #isStopped = false;

  constructor(options: MarkKeeperOptions) {
    this.#options = options;
    this.#markedId = options.durable().lastId;
  }

  /** Has a mark written soon. */
  schedule(): void {
    if (this.#cancel !== null || this.#isStopped) return;
    this.#cancel = this.#options.timer(MARK_DELAY_MS, () => {
      this.#cancel = null;
      if (this.#isStopped) return;
      if (this.#writing === null) this.#writing = this.write();
      else this.schedule();
    });
  }

  /** Resolves also after a failure, which goes to `onFailure`. */
  async write(): Promise<void> {
    assert(this.#writing === null, 'one mark is written at a time, so that one slot is whole');
    const mark = this.#options.durable();
    try {
      await this.#options.file.write(mark);
      assert(
        mark.lastId >= this.#markedId && mark.lastId <= this.#options.durable().lastId,
        'a mark states what is durable',
      );
      this.#markedId = mark.lastId;
    } catch (cause) {
      // The mark proves less than it could, but a disk that fails here is not to be trusted with the next batch.
      this.#options.onFailure(cause);
    } finally {
      this.#writing = null;
    }
  }

  /** Begins no further mark; resolves when the one under way is written. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#cancel?.();
    this.#cancel = null;
    await this.#writing;
  }

  /** After `stop`: states all that is durable, on disk. */
  async close(): Promise<void> {
    assert(this.#isStopped && this.#writing === null, 'the last mark is written alone');
    const mark = this.#options.durable();
    assert(mark.lastId >= this.#markedId, 'what is durable stays so');
    if (mark.lastId > this.#markedId) await this.#options.file.write(mark);
    await this.#options.file.close();
  }
}
