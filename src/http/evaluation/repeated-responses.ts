/**
 * Responses for contexts that come again: SDKs ask for the same one every few seconds. Only those that depend on nothing but the
 * context that was sent, and not on the time, on chance or on the caller's address.
 *
 * A response that is not long is a list of references to bytes that are kept beside the flags, which makes it small; and all are forgotten once anything
 * has changed that one of them shows, so that none keeps bytes of flags that are no more.
 */
import { LRUCache } from 'lru-cache';
import type { TaggedResponse } from '../dispatch/json-response.ts';
import { BodyPieces } from '../transport/response-body.ts';

/** Some 5,000 contexts of 350 flags. */
export const REPEATED_BYTES_MAX = 16 * 1024 * 1024;

/** Of a response without its pieces: headers, with a copy of them as text, and what the cache itself takes. */
const BYTES_EACH = 2_000;
const PIECE_BYTES = 8;

/** Of a context as it was sent. A longer one is rare, and is evaluated each time. */
const KEY_LENGTH_MAX = 2_000;

/** Contexts that are remembered by their hash, to tell whether one comes again; a power of two. */
const SEEN_MAX = 2 ** 14;

export class RepeatedResponses {
  readonly #byKey: LRUCache<string, TaggedResponse>;
  /** Hashes, each in the place that its last bits say; a newer one takes the place of an older one. */
  readonly #seen = new Uint32Array(SEEN_MAX);

  constructor(bytesMax = REPEATED_BYTES_MAX) {
    this.#byKey = new LRUCache({ maxSize: bytesMax, sizeCalculation: bytesOf });
  }

  get size(): number {
    return this.#byKey.size;
  }

  get(key: string): TaggedResponse | undefined {
    return this.#byKey.get(key);
  }

  /**
   * Keeps the response when its context has come a second time. What is asked for once is not worth the memory, and whoever thinks up
   * ever new contexts drives out nobody else's.
   */
  keep(key: string, response: TaggedResponse): void {
    if (key.length > KEY_LENGTH_MAX) return;
    const hash = hashOf(key);
    if (this.#seen[hash % SEEN_MAX] === hash) this.#byKey.set(key, response);
    else this.#seen[hash % SEEN_MAX] = hash;
  }

  forgetAll(): void {
    if (this.#byKey.size > 0) this.#byKey.clear();
  }
}

/** FNV-1a over UTF-16 units: two contexts of one hash only means that one of them is kept a request too early. */
function hashOf(key: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < key.length; at += 1) hash = Math.imul(hash ^ key.charCodeAt(at), 0x01000193);
  return hash >>> 0;
}

function bytesOf({ body }: TaggedResponse, key: string): number {
  const pieces = body instanceof BodyPieces ? piecesBytesOf(body) : 0;
  return BYTES_EACH + pieces + 2 * key.length;
}

/** Large pieces were joined for this response alone. */
function piecesBytesOf(body: BodyPieces): number {
  return body.areLarge ? body.byteLength : body.count * PIECE_BYTES;
}
