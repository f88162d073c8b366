/**
 * Compiled rules by what they were compiled from, so that rules that say the same are one object: it is asked once in an evaluation,
 * and takes its place in memory and in the processor's caches once. Nothing is kept alive by being here.
 */

/** A table with so many keys drops those of deleted rules, or else starts over, which only loses sharing. */
const KEYS_MAX = 10_000;

/** A rule with a longer key is rare enough to stand for itself. */
export const KEY_LENGTH_MAX = 500;

export class Interned<T extends object> {
  readonly #byKey = new Map<string, WeakRef<T>>();

  /** The object of `key`, made by `make` where none is in use. */
  of(key: string, make: () => T): T {
    if (key.length > KEY_LENGTH_MAX) return make();
    const known = this.#byKey.get(key)?.deref();
    if (known !== undefined) return known;
    if (this.#byKey.size >= KEYS_MAX) this.#makeRoom();
    const made = make();
    this.#byKey.set(key, new WeakRef(made));
    return made;
  }

  #makeRoom(): void {
    for (const [key, ref] of this.#byKey) if (ref.deref() === undefined) this.#byKey.delete(key);
    if (this.#byKey.size > KEYS_MAX / 2) this.#byKey.clear();
  }
}
