/**
 * The index of a persistent map: numbers by their keys. All versions share one `Map`, that of the version which was changed last; each
 * other one notes in which key it differs from the version next to it (Baker, "Shallow binding makes functional arrays fast", 1991). The
 * newest state is then read as fast as a `Map`, one of some changes ago nearly so, and a change copies nothing.
 */
type Key = string | number;

/** A version that differs from the newest in more keys gets a `Map` of its own when it is read. */
const DIFFERENCES_MAX = 1000;

export class KeyIndex<K extends Key> {
  /** Null for a version that differs from `#nearer` in one key. */
  #numbers: Map<K, number> | null;
  #nearer: KeyIndex<K> | null = null;
  #key: K | undefined;
  #number: number | undefined;

  private constructor(numbers: Map<K, number>) {
    this.#numbers = numbers;
  }

  static empty<K extends Key>(): KeyIndex<K> {
    return new KeyIndex(new Map());
  }

  find(key: K): number | undefined {
    let version: KeyIndex<K> = this;
    for (let differences = 0; version.#numbers === null; differences += 1) {
      if (version.#key === key) return version.#number;
      if (differences === DIFFERENCES_MAX) this.#copyNumbers();
      version = this.#numbers === null ? version.#nearer! : this;
    }
    return version.#numbers.get(key);
  }

  /** The index in which the key has the number; without the key where `number` is undefined. `before`: what this one has. */
  with(key: K, number: number | undefined, before: number | undefined): KeyIndex<K> {
    const numbers = this.#takeNumbers();
    // An index without keys begins many others, which are to have nothing in common.
    if (numbers.size === 0) return new KeyIndex(new Map([[key, number!]]));
    const next = new KeyIndex(numbers);
    this.#differFrom(next, key, before);
    put(numbers, key, number);
    return next;
  }

  /** The `Map` that all versions share, made that of this one. */
  #takeNumbers(): Map<K, number> {
    const versions = this.#versionsToNewest();
    const newest = versions.pop()!;
    const numbers = newest.#numbers!;
    let after = newest;
    for (const version of versions.reverse()) {
      const key = version.#key as K;
      after.#differFrom(version, key, numbers.get(key));
      put(numbers, key, version.#number);
      version.#numbers = numbers;
      version.#nearer = null;
      after = version;
    }
    return numbers;
  }

  #copyNumbers(): void {
    const versions = this.#versionsToNewest();
    const numbers = new Map(versions.pop()!.#numbers);
    for (const version of versions.reverse()) put(numbers, version.#key as K, version.#number);
    this.#numbers = numbers;
    this.#nearer = null;
  }

  #versionsToNewest(): KeyIndex<K>[] {
    const versions: KeyIndex<K>[] = [];
    for (let version: KeyIndex<K> | null = this; version !== null; version = version.#nearer)
      versions.push(version);
    return versions;
  }

  #differFrom(nearer: KeyIndex<K>, key: K, number: number | undefined): void {
    this.#numbers = null;
    this.#nearer = nearer;
    this.#key = key;
    this.#number = number;
  }
}

function put<K>(numbers: Map<K, number>, key: K, number: number | undefined): void {
  if (number === undefined) numbers.delete(key);
  else numbers.set(key, number);
}
