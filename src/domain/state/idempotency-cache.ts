/**
 * Responses kept for retries (docs/specification/common.md#idempotency-key): a write with an Idempotency-Key that is
 * sent again within 24 hours gets the same response and changes nothing a second time.
 *
 * A response is recorded in the frame of its change, so both survive a crash or neither does. `remember` keeps it,
 * live and at replay. What is forgotten depends only on recorded times, sizes and callers, never on the clock, so a
 * restart keeps exactly the responses that were kept before it.
 */

import { type Edit, PersistentMap } from '../value/persistent-map.ts';
import { RESPONSES_BOUNDED_IN_BYTES, RESPONSES_SHARED_BY_CALLER } from './replay-rules.ts';

export interface RememberedResponse {
  /** SHA-256 of the credentials and the key, so that keys of different callers never collide. */
  readonly key: string;
  /** SHA-256 of method, path, query and body: distinguishes a retry from another request under the same key. */
  readonly fingerprint: string;
  readonly status: number;
  /** JSON, or null without a body. It holds no secrets, which are shown only once. */
  readonly body: string | null;
}

export interface DatedResponse extends RememberedResponse {
  /** Time of the change, in milliseconds since 1970. */
  readonly at: number;
  /** Id of the user, or name of the API token, whose share it takes. Older releases did not record it: theirs share one. */
  readonly caller?: number | string;
}

/** Time of a change, and its author, who gets its response. */
export interface ChangeOrigin {
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly by: string;
  /** Not positive for a caller that is no user. */
  readonly userId: number;
}

export const RESPONSE_LIFETIME_MS = 24 * 60 * 60 * 1000;

/** Protects memory against clients that send a new key with each of very many writes. */
export const RESPONSES_BYTES_MAX = 32 * 2 ** 20;

/** Bytes left by making room, which may look at every response, so that it is seldom needed. */
const RESPONSES_BYTES_AFTER = RESPONSES_BYTES_MAX - 4 * 2 ** 20;

/** The time for which a response may stay beyond its lifetime, for the same reason. */
const FORGOTTEN_WITHIN_MS = 60 * 60 * 1000;

/** The number of responses that releases before 0.3.0 kept. */
const RESPONSES_MAX = 100_000;

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

/** The caller whose share it takes: a number, a name, or 0, which is no user's id, where the caller was not recorded. */
const shareOf = ({ caller }: DatedResponse): number | string => caller ?? 0;

export class IdempotencyCache {
  /** Oldest first. */
  #responses = PersistentMap.empty<string, DatedResponse>();
  #bytesByCaller = PersistentMap.empty<number | string, number>();
  #bytes = 0;
  /** Time of the oldest; the first entry of a map that entries were deleted from takes long to find. */
  #oldestAt = Number.POSITIVE_INFINITY;
  #edit: Edit = {};

  get size(): number {
    return this.#responses.size;
  }

  /** About the memory that they take. */
  get bytes(): number {
    return this.#bytes;
  }

  get(key: string): DatedResponse | undefined {
    return this.#responses.get(key);
  }

  /** Oldest first. */
  values(): Iterable<DatedResponse> {
    return this.#responses.values();
  }

  /** The responses with that of a change, without what is too old or too much by the rules of replay. */
  remembered(
    response: RememberedResponse,
    { at, by, userId }: ChangeOrigin,
    rules: number,
    edit: Edit = {},
  ): IdempotencyCache {
    const next = this.#next(edit);
    if (rules < RESPONSES_SHARED_BY_CALLER) {
      next.#rememberInOneShare({ ...response, at }, rules);
      return next;
    }
    next.#restore({ ...response, at, caller: userId > 0 ? userId : by });
    if (
      next.#bytes > RESPONSES_BYTES_MAX ||
      at >= next.#oldestAt + RESPONSE_LIFETIME_MS + FORGOTTEN_WITHIN_MS
    ) {
      next.#forgetOld(at);
      next.#makeRoom();
      next.#findOldest();
    }
    return next;
  }

  /** The responses with an entry of a snapshot: what was kept when it was taken. To be called in order. */
  restored(response: DatedResponse, edit: Edit): IdempotencyCache {
    const next = this.#next(edit);
    next.#restore(response);
    return next;
  }

  #next(edit: Edit): IdempotencyCache {
    const next = new IdempotencyCache();
    next.#edit = edit;
    next.#responses = this.#responses;
    next.#bytesByCaller = this.#bytesByCaller;
    next.#bytes = this.#bytes;
    next.#oldestAt = this.#oldestAt;
    return next;
  }

  /**
   * Callers with more than their share lose, oldest first, bodies, so that a retry still changes nothing, and whole responses only
   * where that does not suffice.
   */
  #makeRoom(): void {
    if (this.#bytes <= RESPONSES_BYTES_MAX) return;
    const share = equalShare([...this.#bytesByCaller.values()]);
    const mustLose = (one: DatedResponse): boolean => this.#bytesByCaller.get(shareOf(one))! > share;
    for (const one of [...this.#responses.values()]) {
      if (this.#bytes <= RESPONSES_BYTES_AFTER) return;
      if (one.body === null || !mustLose(one)) continue;
      this.#count(one, -1);
      this.#put({ ...one, ...DONE });
    }
    for (const one of [...this.#responses.values()]) {
      if (this.#bytes <= RESPONSES_BYTES_AFTER) return;
      if (mustLose(one)) this.#forget(one);
    }
  }

  #forgetOld(now: number): void {
    for (let old = this.#oldest; old !== undefined; old = this.#oldest) {
      if (now < old.at + RESPONSE_LIFETIME_MS) return;
      this.#forget(old);
    }
  }

  /** Keeps a response as older releases did, whose journals replay so: the oldest are evicted, regardless of their callers. */
  #rememberInOneShare(added: DatedResponse, rules: number): void {
    const bytesMax = rules < RESPONSES_BOUNDED_IN_BYTES ? Number.POSITIVE_INFINITY : RESPONSES_BYTES_MAX;
    this.#restore(added);
    this.#forgetOld(added.at);
    for (let old = this.#oldest; old !== undefined; old = this.#oldest) {
      if (this.size <= RESPONSES_MAX && this.#bytes <= bytesMax) break;
      this.#forget(old);
    }
    this.#findOldest();
  }

  #restore(response: DatedResponse): void {
    const earlier = this.#responses.get(response.key);
    if (earlier !== undefined) this.#forget(earlier);
    this.#put(response);
    if (earlier?.at === this.#oldestAt) this.#findOldest();
    else this.#oldestAt = Math.min(this.#oldestAt, response.at);
  }

  #put(response: DatedResponse): void {
    this.#responses = this.#responses.with(response.key, response, this.#edit);
    this.#count(response, 1);
  }

  #forget(response: DatedResponse): void {
    this.#responses = this.#responses.without(response.key, this.#edit);
    this.#count(response, -1);
  }

  #count(response: DatedResponse, sign: 1 | -1): void {
    const caller = shareOf(response);
    const change = sign * bytesOf(response);
    const bytes = (this.#bytesByCaller.get(caller) ?? 0) + change;
    this.#bytesByCaller =
      bytes === 0
        ? this.#bytesByCaller.without(caller, this.#edit)
        : this.#bytesByCaller.with(caller, bytes, this.#edit);
    this.#bytes += change;
  }

  get #oldest(): DatedResponse | undefined {
    return this.#responses.values().next().value;
  }

  #findOldest(): void {
    this.#oldestAt = this.#oldest?.at ?? Number.POSITIVE_INFINITY;
  }
}

/**
 * The most that a caller can have so that all together have what making room leaves. What callers with little leave of their equal
 * parts goes to the others, so no caller loses anything to one who has more.
 */
function equalShare(bytesOfCallers: readonly number[]): number {
  let left = RESPONSES_BYTES_AFTER;
  let others = bytesOfCallers.length;
  for (const bytes of bytesOfCallers.toSorted((one, other) => one - other)) {
    if (bytes * others > left) return left / others;
    left -= bytes;
    others -= 1;
  }
  return left;
}
