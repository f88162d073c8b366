/**
 * Tells what comes again from what comes once: only the former is worth keeping, and whoever thinks up ever new keys drives out nothing
 * that is kept. They do take the places of others here, so who may ask for nothing must not be noted.
 */

/** Keys that are remembered by their hash; a power of two. */
const SEEN_MAX = 2 ** 14;

/** FNV-1a of 32 bits over UTF-16 units. */
function textHash(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash >>> 0;
}

export class SeenBefore {
  /** Hashes, each in the place that its last bits say; a newer one takes the place of an older one. */
  readonly #seen = new Uint32Array(SEEN_MAX);

  /**
   * Whether the key has come lately; from now on it has. Two keys of one hash only mean that one of them counts as seen a time too
   * early.
   */
  has(key: string): boolean {
    const hash = textHash(key);
    const isKnown = this.#seen[hash % SEEN_MAX] === hash;
    this.#seen[hash % SEEN_MAX] = hash;
    return isKnown;
  }
}
