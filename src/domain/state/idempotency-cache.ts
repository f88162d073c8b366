/**
 * Answers remembered for retries: a write that carried an Idempotency-Key is answered the same way when it comes again
 * within 24 hours, and changes nothing a second time.
 *
 * An answer is recorded in the frame of the change that it answers, so either both survive a crash or neither. Live
 * and at replay it is remembered by this one function. What is forgotten depends on recorded times and counts alone,
 * never on the clock, so that a restart remembers exactly what was remembered before it.
 */

export interface RememberedAnswer {
  /** Who sent which key: SHA-256 of both, so that keys of different callers never meet. */
  readonly key: string;
  /** SHA-256 of method, path and body: tells a retry from another request under the same key. */
  readonly fingerprint: string;
  readonly status: number;
  /** JSON, or null for none. Without secrets, which are shown once. */
  readonly body: string | null;
}

export interface DatedAnswer extends RememberedAnswer {
  /** Milliseconds since 1970, of the change. */
  readonly at: number;
}

export const ANSWER_LIFETIME_MS = 24 * 60 * 60 * 1000;

/** Protects memory against clients that send a fresh key with each of very many writes: the oldest go first. */
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
