/**
 * Responses kept for retries (docs/specification/common.md#idempotency-key): a write with an Idempotency-Key that is
 * sent again within 24 hours gets the same response and changes nothing a second time.
 *
 * A response is recorded in the frame of its change, so both survive a crash or neither does. This one function keeps
 * it, live and at replay. What is forgotten depends only on recorded times and counts, never on the clock, so a
 * restart keeps exactly the responses that were kept before it.
 */

export interface RememberedAnswer {
  /** SHA-256 of the credentials and the key, so that keys of different callers never collide. */
  readonly key: string;
  /** SHA-256 of method, path and body: tells a retry from another request under the same key. */
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

/** `answers` is in order of time: oldest first. */
export function rememberAnswer(
  answers: Map<string, DatedAnswer>,
  answer: RememberedAnswer,
  at: number,
): void {
  for (const [key, old] of answers) {
    if (old.at + ANSWER_LIFETIME_MS > at && answers.size < ANSWERS_MAX) break;
    answers.delete(key);
  }
  answers.delete(answer.key);
  answers.set(answer.key, { ...answer, at });
}
