/**
 * Responses for contexts that come again: SDKs ask for the same one every few seconds. Only those that depend on nothing but the
 * context that was sent, and not on the time, on chance or on the caller's address.
 *
 * A response that is not long is a list of references to bytes that are kept beside the flags, which makes it small; and all are forgotten once anything
 * has changed that one of them shows, so that none keeps bytes of flags that are no more.
 */
import type { Cache, CachePart } from '../../serving/cache.ts';
import type { TaggedResponse } from '../../serving/json-response.ts';
import { BodyPieces } from '../../transport/response-body.ts';
import { SeenBefore } from './seen-before.ts';

/** Bytes of a response without its pieces: headers, with a copy of them as text, and what the cache itself takes. */
const BYTES_EACH = 2_000;
const PIECE_BYTES = 8;

/** Characters of a context as it was sent. A longer one is rare, and is evaluated each time. */
const KEY_LENGTH_MAX = 2_000;

export class RepeatedResponses {
  readonly #byKey: CachePart<string, TaggedResponse>;
  readonly #seen = new SeenBefore();

  constructor(cache: Cache) {
    this.#byKey = cache.part({ bytesOf, isMultiplied: true });
  }

  get size(): number {
    return this.#byKey.size;
  }

  get(key: string): TaggedResponse | undefined {
    return this.#byKey.get(key);
  }

  /** Keeps the response when its context has come a second time. */
  keep(key: string, response: TaggedResponse): void {
    if (key.length <= KEY_LENGTH_MAX && this.#seen.has(key)) this.#byKey.set(key, response);
  }

  forgetAll(): void {
    if (this.#byKey.size > 0) this.#byKey.clear();
  }
}

function bytesOf({ body }: TaggedResponse, key: string): number {
  const pieces = body instanceof BodyPieces ? piecesBytesOf(body) : 0;
  return BYTES_EACH + pieces + 2 * key.length;
}

/** Large pieces were joined for this response alone. */
function piecesBytesOf(body: BodyPieces): number {
  return body.areLarge ? body.byteLength : body.count * PIECE_BYTES;
}
