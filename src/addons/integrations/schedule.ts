/** The times of attempts: after failures the pauses grow from 1 s to 1 h, and after three days without success there are no more. */

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

export function afterFailure(before: Progress, nowMs: number, random: number): Progress {
  // A clock that was set back must not make the three days longer.
  const failingSinceMs = Math.min(before.failingSinceMs ?? nowMs, nowMs);
  const failures = before.failures + 1;
  const isParked = nowMs - failingSinceMs >= PARKED_AFTER_MS;
  return { failures, failingSinceMs, dueMs: isParked ? null : nowMs + pauseMs(failures, random) };
}
