/**
 * Callers by their secrets, so that a token is hashed once and not with each request. Bounded in bytes: when it is full,
 * the oldest entries make room.
 */

/** Far more than anybody has tokens in use; about 5,000 of them. */
export const CACHE_BYTES_MAX = 4 * 2 ** 20;

/** What an entry takes beside its secret: the caller, its scope and the map's own memory. */
const ENTRY_BYTES = 700;

export class CallerCache<T> {
  readonly #entries = new Map<string, T>();
  readonly #bytesMax: number;
  #bytes = 0;

  constructor(bytesMax = CACHE_BYTES_MAX) {
    this.#bytesMax = bytesMax;
  }

  /** Never above the limit. */
  get bytes(): number {
    return this.#bytes;
  }

  get(secret: string): T | undefined {
    return this.#entries.get(secret);
  }

  /** Adds what is not there yet. */
  add(secret: string, entry: T): void {
    const bytes = bytesOf(secret);
    for (const oldest of this.#entries.keys()) {
      if (this.#bytes + bytes <= this.#bytesMax) break;
      this.#entries.delete(oldest);
      this.#bytes -= bytesOf(oldest);
    }
    this.#entries.set(secret, entry);
    this.#bytes += bytes;
  }

  clear(): void {
    this.#entries.clear();
    this.#bytes = 0;
  }
}

/** Secrets are ASCII, of which V8 keeps a byte for each character. */
function bytesOf(secret: string): number {
  return ENTRY_BYTES + secret.length;
}
