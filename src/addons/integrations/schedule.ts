/** The times of attempts: after failures the pauses grow from 1 s to 1 h, and after three days without success, or once the receiver is gone, there are no more. */

/** How the deliveries of an integration went since its last success. */
export interface Progress {
  readonly failures: number;
  /** Milliseconds since 1970; null without a failure. Outlives a restart, which the count does not. */
  readonly failingSinceMs: number | null;
  /** The time before which nothing is sent, in milliseconds since 1970; null: parked, until somebody has it sent again. */
  readonly dueMs: number | null;
}

const PAUSE_MS_MIN = 1_000;
const PAUSE_MS_MAX = 3_600_000;

/** A receiver that a weekend's outage took down gets everything. */
export const PARKED_AFTER_MS = 3 * 24 * 3_600_000;

/** After a success, and where an attempt is due at once. */
export const DUE: Progress = { failures: 0, failingSinceMs: null, dueMs: 0 };

/** The pause after so many failures in a row; `random` is from 0 to 1, so that receivers which failed together are not tried together. */
export function pauseMs(failures: number, random: number): number {
  const longest = Math.min(PAUSE_MS_MAX, PAUSE_MS_MIN * 2 ** failures);
  return longest / 2 + (random * longest) / 2;
}

/** `askedMs` is the shortest pause that the receiver wants, which cannot exceed the longest one here; where it is infinite, there is no retry. */
export function afterFailure(before: Progress, nowMs: number, random: number, askedMs = 0): Progress {
  // A clock that was set back must not make the three days longer.
  const failingSinceMs = Math.min(before.failingSinceMs ?? nowMs, nowMs);
  const failures = before.failures + 1;
  const isParked = askedMs === Number.POSITIVE_INFINITY || nowMs - failingSinceMs >= PARKED_AFTER_MS;
  const pause = Math.min(PAUSE_MS_MAX, Math.max(askedMs, pauseMs(failures, random)));
  return { failures, failingSinceMs, dueMs: isParked ? null : nowMs + pause };
}

/** The pause that a header Retry-After asks for, in seconds or until a date; 0 where it cannot be read. */
export function retryAfterMs(header: string, nowMs: number): number {
  if (/^\d+$/.test(header)) return Number(header) * 1_000;
  return Math.max(0, Date.parse(header) - nowMs) || 0;
}
