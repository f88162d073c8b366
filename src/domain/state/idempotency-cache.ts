/**
 * Responses kept for retries (docs/specification/common.md#idempotency-key): a write with an Idempotency-Key that is
 * sent again within 24 hours gets the same response and changes nothing a second time.
 *
 * A response is recorded in the frame of its change, so both survive a crash or neither does. `remember` keeps it,
 * live and at replay. What is forgotten depends only on recorded times, counts and sizes, never on the clock, so a
 * restart keeps exactly the responses that were kept before it.
 */

import { ANSWERS_BOUNDED_IN_BYTES } from './upgrade/replay-rules.ts';

export interface RememberedAnswer {
  /** SHA-256 of the credentials and the key, so that keys of different callers never collide. */
  readonly key: string;
  /** SHA-256 of method, path, query and body: tells a retry from another request under the same key. */
  readonly fingerprint: string;
  readonly status: number;
  /** JSON, or null without a body. It holds no secrets, which are shown only once. */
  readonly body: string | null;
}

export interface DatedAnswer extends RememberedAnswer {
  /** Time of the change, in milliseconds since 1970. */
  readonly at: number;
}

export const ANSWER_LIFETIME_MS = 24 * 60 * 60 * 1000;

/**
 * Protects memory against clients that send a new key with each of very many writes. The oldest are dropped first.
 */
export const ANSWERS_MAX = 100_000;

/** The same against large responses. */
export const ANSWERS_BYTES_MAX = 32 * 2 ** 20;

/** Bytes of UTF-8. A larger response is not kept, only that the change was made. */
export const ANSWER_BODY_BYTES_MAX = 64 * 1024;

/** The status of a retry whose response was too large to keep: done, and without a body, to be read again. */
const DONE = { status: 204, body: null } as const;

/** What is kept of a response: all of it, or that the change was made. */
export function withinLimit(answer: RememberedAnswer): RememberedAnswer {
  const { body } = answer;
  return body === null || Buffer.byteLength(body) <= ANSWER_BODY_BYTES_MAX ? answer : { ...answer, ...DONE };
}

/** Memory of an entry without its body: two hashes, an object, a place in a map. */
const ENTRY_BYTES = 512;

/** About the memory that the entry takes. A character of a string takes two bytes at most. */
const bytesOf = ({ body }: RememberedAnswer): number => ENTRY_BYTES + 2 * (body?.length ?? 0);

export class IdempotencyCache {
  /** Oldest first. */
  readonly #answers = new Map<string, DatedAnswer>();
  #bytes = 0;

  get size(): number {
    return this.#answers.size;
  }

  /** About the memory that they take. */
  get bytes(): number {
    return this.#bytes;
  }

  get(key: string): DatedAnswer | undefined {
    return this.#answers.get(key);
  }

  /** Oldest first. */
  values(): Iterable<DatedAnswer> {
    return this.#answers.values();
  }

  /** Keeps the response of a change made at `at`, and forgets what is too old or too much by the rules of replay. */
  remember(answer: RememberedAnswer, at: number, rules: number): void {
    const bytesMax = rules < ANSWERS_BOUNDED_IN_BYTES ? Number.POSITIVE_INFINITY : ANSWERS_BYTES_MAX;
    const bytes = bytesOf(answer);
    for (const old of this.#answers.values()) {
      const hasRoom = this.#answers.size < ANSWERS_MAX && this.#bytes + bytes <= bytesMax;
      if (hasRoom && old.at + ANSWER_LIFETIME_MS > at) break;
      this.#forget(old);
    }
    this.restore({ ...answer, at });
  }

  /** Puts back an entry of a snapshot: what was kept when it was taken. To be called in order. */
  restore(answer: DatedAnswer): void {
    const earlier = this.#answers.get(answer.key);
    if (earlier !== undefined) this.#forget(earlier);
    this.#answers.set(answer.key, answer);
    this.#bytes += bytesOf(answer);
  }

  clear(): void {
    this.#answers.clear();
    this.#bytes = 0;
  }

  #forget(answer: DatedAnswer): void {
    this.#answers.delete(answer.key);
    this.#bytes -= bytesOf(answer);
  }
}
