/** Whether a flag has outlived its type, computed from when it was created (docs/specification/flags.md#staleness). */
import type { Flag } from './flag.ts';
import type { Lifetimes } from './metadata.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

type AgingFlag = Pick<Flag, 'type' | 'createdAt'>;

/** The time at which the flag exceeds the lifetime of its type, in milliseconds since 1970; infinite for types without one. */
export function endOfLife({ type, createdAt }: AgingFlag, lifetimes: Lifetimes): number {
  const days = lifetimes[type];
  return days === null ? Number.POSITIVE_INFINITY : timeOf(createdAt) + days * DAY_MS;
}

/** Days before a flag becomes potentially stale at which its owner is told; a quarter of its lifetime where that is less. */
const NOTICE_DAYS = 7;

/** The time at which that is recorded, in milliseconds since 1970. */
export function noticeTime(flag: AgingFlag, lifetimes: Lifetimes): number {
  const days = lifetimes[flag.type] ?? 0;
  return endOfLife(flag, lifetimes) - Math.min(NOTICE_DAYS, days / 4) * DAY_MS;
}

/** States of a flag: stale because a user said so, or potentially stale because of its age. */
export const STALENESS = ['active', 'potentially-stale', 'stale'] as const;
export type Staleness = (typeof STALENESS)[number];

/** `nowMs`: milliseconds since 1970. */
export function stalenessOf(
  flag: AgingFlag & Pick<Flag, 'stale'>,
  lifetimes: Lifetimes,
  nowMs: number,
): Staleness {
  if (flag.stale) return 'stale';
  return endOfLife(flag, lifetimes) <= nowMs ? 'potentially-stale' : 'active';
}

/**
 * Times already read: `Date.parse` of every flag would take a third of an overview. Flags made at once share theirs.
 */
const times = new Map<string, number>();

/** Protects memory; beyond it the map is cleared. */
const TIMES_MAX = 100_000;

function timeOf(createdAt: string): number {
  let time = times.get(createdAt);
  if (time === undefined) {
    if (times.size >= TIMES_MAX) times.clear();
    time = Date.parse(createdAt);
    times.set(createdAt, time);
  }
  return time;
}
