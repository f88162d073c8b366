/** The newest visible changes of a query, for clients that were away for a moment and say what they saw last. */

/** Visible changes that are told together. */
export interface WatchFrame {
  /** Of its last change: what a client that has it names. */
  readonly id: number;
  /** The changes as JSON, separated by commas. */
  readonly changes: string;
}

/** A client that has missed more gets everything anew. The newest frame is kept whatever its size. */
export const LOG_CHARACTERS_MAX = 1024 * 1024;

export class WatchLog {
  readonly #charactersMax: number;
  #frames: WatchFrame[] = [];
  #characters = 0;
  /** Of what stood before the oldest frame. */
  #firstId: number;

  /** `id`: of what clients are given that have seen nothing yet. */
  constructor(id: number, charactersMax = LOG_CHARACTERS_MAX) {
    this.#firstId = id;
    this.#charactersMax = charactersMax;
  }

  /** The id that a client has seen which has everything. */
  get newestId(): number {
    return this.#frames.at(-1)?.id ?? this.#firstId;
  }

  get characters(): number {
    return this.#characters;
  }

  append(frame: WatchFrame): void {
    this.#frames.push(frame);
    this.#characters += frame.changes.length;
    let dropped = 0;
    while (this.#characters > this.#charactersMax && dropped < this.#frames.length - 1) {
      const { id, changes } = this.#frames[dropped]!;
      this.#firstId = id;
      this.#characters -= changes.length;
      dropped += 1;
    }
    if (dropped > 0) this.#frames = this.#frames.slice(dropped);
  }

  /**
   * What a client has missed that has seen `id`. Null for an id that was given to nobody, or too long ago: another history
   * may have used the same numbers, so that one in between proves nothing.
   */
  since(id: number): readonly WatchFrame[] | null {
    if (id === this.newestId) return NONE;
    if (id === this.#firstId) return this.#frames;
    let low = 0;
    let high = this.#frames.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#frames[middle]!.id < id) low = middle + 1;
      else high = middle;
    }
    return this.#frames[low]?.id === id ? this.#frames.slice(low + 1) : null;
  }
}

const NONE: readonly WatchFrame[] = [];
