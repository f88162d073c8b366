/**
 * Tells what comes again from what comes once: only the former is worth keeping, and whoever thinks up ever new keys drives out nobody
 * else's.
 */

/** Keys that are remembered by their hash; a power of two. */
const SEEN_MAX = 2 ** 14;

export class SeenBefore {
  /** Hashes, each in the place that its last bits say; a newer one takes the place of an older one. */
  readonly #seen = new Uint32Array(SEEN_MAX);

  /** Whether the key has come lately; from now on it has. */
  has(key: string): boolean {
    const hash = hashOf(key);
    const isKnown = this.#seen[hash % SEEN_MAX] === hash;
    this.#seen[hash % SEEN_MAX] = hash;
    return isKnown;
  }
}

/** FNV-1a over UTF-16 units: two keys of one hash only mean that one of them counts as seen a time too early. */
function hashOf(key: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < key.length; at += 1) hash = Math.imul(hash ^ key.charCodeAt(at), 0x01000193);
  return hash >>> 0;
}
