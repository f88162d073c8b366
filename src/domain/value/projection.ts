/**
 * Values that a surface derives from a flag or from a chunk of flags, such as bytes in a response: they stand in the slot of what they
 * are made of. A WeakMap would leave the flags alone, but reading a value of one of 100,000 flags took four times as long, and each full garbage
 * collection 50 ms longer.
 */

/** One value in the list. */
interface Derived {
  readonly by: Projection<unknown>;
  value: unknown;
  readonly next: Derived | null;
}

/** The place for what is derived from a value; the versions of the value that follow each other share it. */
export class Slot {
  /** The slot of what the value is a part of. */
  readonly within: Slot | null;
  derived: Derived | null = null;
  /** The version from which all in it is derived, where that matters. */
  of: object | null = null;

  constructor(within: Slot | null) {
    this.within = within;
  }

  /** Empties it where it holds what is derived from another version. */
  ofVersion(version: object): this {
    if (this.of === version) return this;
    this.of = version;
    this.derived = null;
    return this;
  }
}

interface Slotted {
  readonly slot: Slot;
}

/** One instance for each surface, or for each environment of a surface whose responses depend on the environment. */
export class Projection<T> {
  /** The derived value; undefined without one. */
  get({ slot }: Slotted): T | undefined {
    // Only `set` of this very instance makes an entry with it, so the value is a T.
    return this.#entryIn(slot)?.value as T | undefined;
  }

  set({ slot }: Slotted, value: T): void {
    const entry = this.#entryIn(slot);
    if (entry === null) slot.derived = { by: this, value, next: slot.derived };
    else entry.value = value;
  }

  dropIn(slot: Slot): void {
    const entry = this.#entryIn(slot);
    if (entry !== null) entry.value = undefined;
  }

  #entryIn({ derived }: Slot): Derived | null {
    let entry = derived;
    while (entry !== null && entry.by !== this) entry = entry.next;
    return entry;
  }
}
