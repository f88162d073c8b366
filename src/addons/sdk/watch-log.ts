/** The newest visible changes of a query, for clients that were away for a moment and say what they saw last. */
import assert from 'node:assert/strict';

export interface WatchUpdate {
  /** The id of its last change, which a client that has it names. */
  readonly id: number;
  readonly changes: string;
}

/** A client that has missed more gets a hydration. The newest update stays regardless of its size. */
export const LOG_CHARACTERS_MAX = 1024 * 1024;

/** Characters of all queries that streams are open for together: each tells of the same changes in its own texts. */
export const LOGS_CHARACTERS_MAX = 16 * 1024 * 1024;

export class WatchLog {
  readonly #charactersMax: () => number;
  #updates: WatchUpdate[] = [];
  #characters = 0;
  /** The id of the event before the oldest update. */
  #firstId: number;

  /** `id`: of what clients are given that have seen nothing yet. `charactersMax` is asked with each update. */
  constructor(id: number, charactersMax: () => number = () => LOG_CHARACTERS_MAX) {
    this.#firstId = id;
    this.#charactersMax = charactersMax;
  }

  /** The id that a client has seen which has everything. */
  get newestId(): number {
    return this.#updates.at(-1)?.id ?? this.#firstId;
  }

  get characters(): number {
    return this.#characters;
  }

  /** Its id must be greater than that of the one before: a client that has seen an id gets nothing up to it again. */
  append(update: WatchUpdate): void {
    assert(update.id > this.newestId, 'updates have ids of their own, in order');
    this.#updates.push(update);
    this.#characters += update.changes.length;
    const charactersMax = this.#charactersMax();
    let dropped = 0;
    while (this.#characters > charactersMax && dropped < this.#updates.length - 1) {
      const { id, changes } = this.#updates[dropped]!;
      this.#firstId = id;
      this.#characters -= changes.length;
      dropped += 1;
    }
    if (dropped > 0) this.#updates = this.#updates.slice(dropped);
  }

  /**
   * The updates after `id`. Null when `id` was never given to a client, or too long ago: another history may have
   * used the same numbers, so an id between two known ones proves nothing.
   */
  since(id: number): readonly WatchUpdate[] | null {
    if (id === this.newestId) return NONE;
    if (id === this.#firstId) return this.#updates;
    let low = 0;
    let high = this.#updates.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#updates[middle]!.id < id) low = middle + 1;
      else high = middle;
    }
    return this.#updates[low]?.id === id ? this.#updates.slice(low + 1) : null;
  }
}

const NONE: readonly WatchUpdate[] = [];
