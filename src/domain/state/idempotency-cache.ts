/**
 * Responses kept for retries (docs/specification/common.md#idempotency-key): a write with an Idempotency-Key that is
 * sent again within 24 hours gets the same response and changes nothing a second time.
 *
 * A response is recorded in the frame of its change, so both survive a crash or neither does. `remember` keeps it,
 * live and at replay. What is forgotten depends only on recorded times, counts and sizes, never on the clock, so a
 * restart keeps exactly the responses that were kept before it.
 */

import { RESPONSES_BOUNDED_IN_BYTES } from './replay-rules.ts';
import { addStep, isRecording } from './reversible.ts';

export interface RememberedResponse {
  /** SHA-256 of the credentials and the key, so that keys of different callers never collide. */
  readonly key: string;
  /** SHA-256 of method, path, query and body: tells a retry from another request under the same key. */
  readonly fingerprint: string;
  readonly status: number;
  /** JSON, or null without a body. It holds no secrets, which are shown only once. */
  readonly body: string | null;
}

export interface DatedResponse extends RememberedResponse {
  /** Time of the change, in milliseconds since 1970. */
  readonly at: number;
}

export const RESPONSE_LIFETIME_MS = 24 * 60 * 60 * 1000;

/**
 * Protects memory against clients that send a new key with each of very many writes. The oldest are dropped first.
 */
export const RESPONSES_MAX = 100_000;

/** The same against large responses. */
export const RESPONSES_BYTES_MAX = 32 * 2 ** 20;

/** Bytes of UTF-8. A larger response is not kept, only that the change was made. */
export const RESPONSE_BODY_BYTES_MAX = 64 * 1024;

/** The status of a retry whose response was too large to keep: done, and without a body, to be read again. */
const DONE = { status: 204, body: null } as const;

/** The response as it is kept: whole, or, if it is too large, that the change was made. */
export function withinLimit(response: RememberedResponse): RememberedResponse {
  const { body } = response;
  return body === null || Buffer.byteLength(body) <= RESPONSE_BODY_BYTES_MAX
    ? response
    : { ...response, ...DONE };
}

/** Memory of an entry without its body: two hashes, an object, a place in a map. */
const ENTRY_BYTES = 512;

/** About the memory that the entry takes. A character of a string takes two bytes at most. */
const bytesOf = ({ body }: RememberedResponse): number => ENTRY_BYTES + 2 * (body?.length ?? 0);

export class IdempotencyCache {
  /** Oldest first. */
  readonly #responses = new Map<string, DatedResponse>();
  /** Responses of changes that may yet be taken back, and those that are forgotten for them. */
  readonly #undecided = new Map<string, DatedResponse>();
  readonly #forgotten = new Set<DatedResponse>();
  #bytes = 0;

  get size(): number {
    return this.#responses.size + this.#undecided.size - this.#forgotten.size;
  }

  /** About the memory that they take. */
  get bytes(): number {
    return this.#bytes;
  }

  get(key: string): DatedResponse | undefined {
    const found = this.#undecided.get(key) ?? this.#responses.get(key);
    return found !== undefined && this.#forgotten.has(found) ? undefined : found;
  }

  /** Oldest first. */
  values(): Iterable<DatedResponse> {
    return this.#undecided.size === 0 ? this.#responses.values() : this.#all();
  }

  *#all(): Generator<DatedResponse, void> {
    for (const responses of [this.#responses, this.#undecided])
      for (const response of responses.values()) if (!this.#forgotten.has(response)) yield response;
  }

  /** Keeps the response of a change made at `at`, and forgets what is too old or too much by the rules of replay. */
  remember(response: RememberedResponse, at: number, rules: number): void {
    const added = { ...response, at };
    const gone = this.#goneFor(added, rules);
    if (!isRecording()) return this.#replace(gone, added);
    const grown = bytesOf(added) - gone.reduce((sum, one) => sum + bytesOf(one), 0);
    const redo = (): void => {
      for (const one of gone) this.#forgotten.add(one);
      this.#undecided.set(added.key, added);
      this.#bytes += grown;
    };
    const undo = (): void => {
      this.#bytes -= grown;
      this.#undecided.delete(added.key);
      for (const one of gone) this.#forgotten.delete(one);
    };
    const settle = (): void => {
      undo();
      this.#replace(gone, added);
    };
    redo();
    addStep({ undo, redo, settle });
  }

  /** The responses that make room for a new one: those too old or too many, and an earlier one of the same key. */
  #goneFor(added: DatedResponse, rules: number): readonly DatedResponse[] {
    const bytesMax = rules < RESPONSES_BOUNDED_IN_BYTES ? Number.POSITIVE_INFINITY : RESPONSES_BYTES_MAX;
    const earlier = this.get(added.key);
    const gone = earlier === undefined ? [] : [earlier];
    let [size, bytes] = [this.size, this.#bytes + bytesOf(added)];
    for (const old of this.values()) {
      const hasRoom = size < RESPONSES_MAX && bytes <= bytesMax;
      if (hasRoom && old.at + RESPONSE_LIFETIME_MS > added.at) break;
      if (old !== earlier) gone.push(old);
      size -= 1;
      bytes -= bytesOf(old);
    }
    return gone;
  }

  #replace(gone: readonly DatedResponse[], added: DatedResponse): void {
    for (const one of gone) this.#forget(one);
    this.#add(added);
  }

  /** Puts back an entry of a snapshot: what was kept when it was taken. To be called in order. */
  restore(response: DatedResponse): void {
    const earlier = this.#responses.get(response.key);
    if (earlier !== undefined) this.#forget(earlier);
    this.#add(response);
  }

  clear(): void {
    this.#responses.clear();
    this.#undecided.clear();
    this.#forgotten.clear();
    this.#bytes = 0;
  }

  #add(response: DatedResponse): void {
    this.#responses.set(response.key, response);
    this.#bytes += bytesOf(response);
  }

  #forget(response: DatedResponse): void {
    this.#responses.delete(response.key);
    this.#bytes -= bytesOf(response);
  }
}
