/**
 * The bounded queue of commands before one actor. A full mailbox refuses at once, so that a flood costs memory for
 * at most MAILBOX_LENGTH_MAX commands and clients learn that they should slow down (invariant 8).
 */
import assert from 'node:assert/strict';

/**
 * The number of commands that may wait for one actor. On the slowest useful disk (100 syncs a second, 64 commands
 * each) this is less than a fifth of a second of work. A longer queue would respond only after clients have given up.
 */
export const MAILBOX_LENGTH_MAX = 1024;

export class Mailbox<T> {
  readonly #items: (T | undefined)[] = [];
  #head = 0;
  readonly lengthMax: number;

  constructor(lengthMax: number = MAILBOX_LENGTH_MAX) {
    assert(lengthMax > 0, 'a mailbox has room for a command');
    this.lengthMax = lengthMax;
  }

  get length(): number {
    return this.#items.length - this.#head;
  }

  /** False, and nothing queued, when the mailbox is full. */
  offer(item: T): boolean {
    if (this.length >= this.lengthMax) return false;
    this.#items.push(item);
    assert(this.length <= this.lengthMax, 'a mailbox holds no more than its limit');
    return true;
  }

  take(): T | undefined {
    if (this.#head === this.#items.length) return undefined;
    const item = this.#items[this.#head];
    assert(item !== undefined, 'a mailbox gives back what was put into it, each item once');
    this.#items[this.#head] = undefined;
    this.#head += 1;
    // Taken items are dropped in bulk: a mailbox that is never quite empty must not grow with all it ever held.
    if (this.#head === this.#items.length || this.#head > this.lengthMax) {
      this.#items.splice(0, this.#head);
      this.#head = 0;
    }
    assert(this.#head < this.#items.length || this.#items.length === 0, 'an empty mailbox holds no memory');
    return item;
  }
}
