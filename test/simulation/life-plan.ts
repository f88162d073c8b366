/**
 * What one life of the process is to be like: how the disk and the clock behave, what goes wrong, and how it ends.
 * Chosen by a seed. Most lives have one trouble or two, since in a life with all of them little would ever happen.
 */
import type { SeededRandom } from '../support/seeded-random.ts';
import { pick } from './random-values.ts';

/** How a life ends unless something else ends it before. A power cut may also follow on each of the others. */
export type Ending = 'close' | 'kill' | 'power-cut';

export interface LifePlan {
  readonly ending: Ending;
  /** The call to the disk at which it is killed or cut; null for a clean end. */
  readonly endAtCall: number | null;
  /** Requests of all clients together. */
  readonly requests: number;
  /** Longest time a call takes; 0: none takes any. */
  readonly callMsMax: number;
  readonly syncMsMax: number;
  /** Longest pause of a client between two requests. */
  readonly thinkMsMax: number;
  /** The call that fails, and whether all later ones do too. */
  readonly failure: { readonly atCall: number; readonly forGood: boolean } | null;
  /** Bytes that the disk takes before it is full; null: as many as anybody likes. */
  readonly roomBytes: number | null;
  readonly reserveBytes: number;
  readonly clockJumps: readonly number[];
  readonly clockFreezes: boolean;
  readonly segmentBytes: number;
  readonly eventsPerSnapshot: number;
  readonly mailboxLengthMax: number;
}

const HOUR_MS = 3_600_000;
const JUMPS_MS = [-HOUR_MS, HOUR_MS, 25 * HOUR_MS, 95 * 365 * 24 * HOUR_MS] as const;

/** A recovery takes some 20 to 60 calls, a command 2, a snapshot some 20: ends fall into all of them. */
const CALLS_SOON = 60;
const CALLS_LATE = 300;

export function planLife(random: SeededRandom): LifePlan {
  const ending = pick<Ending>(random, ['close', 'kill', 'power-cut', 'power-cut']);
  const slow = random.chance(0.3);
  return {
    ending,
    endAtCall: ending === 'close' ? null : anyCall(random),
    requests: 3 + random.below(15),
    callMsMax: random.chance(0.2) ? 3 : 0,
    syncMsMax: slow ? pick(random, [100, 3_000, 30_000]) : 4,
    thinkMsMax: random.chance(0.2) ? 0 : 8,
    failure: random.chance(0.15) ? { atCall: anyCall(random), forGood: random.chance(0.5) } : null,
    roomBytes: random.chance(0.1) ? random.below(6_000) : null,
    reserveBytes: pick(random, [0, 1_000]),
    clockJumps: random.chance(0.2) ? [pick(random, JUMPS_MS), pick(random, JUMPS_MS)] : [],
    clockFreezes: random.chance(0.1),
    segmentBytes: pick(random, [600, 2_000, 100_000]),
    eventsPerSnapshot: pick(random, [5, 20, 1_000]),
    mailboxLengthMax: pick(random, [2, 1_024]),
  };
}

function anyCall(random: SeededRandom): number {
  return 1 + random.below(random.chance(0.4) ? CALLS_SOON : CALLS_LATE);
}

/** The last life, in which nothing goes wrong: what all the others have left must be whole. */
export const CALM_LIFE: LifePlan = {
  ending: 'close',
  endAtCall: null,
  requests: 3,
  callMsMax: 0,
  syncMsMax: 1,
  thinkMsMax: 1,
  failure: null,
  roomBytes: null,
  reserveBytes: 0,
  clockJumps: [],
  clockFreezes: false,
  segmentBytes: 2_000,
  eventsPerSnapshot: 1_000,
  mailboxLengthMax: 1_024,
};
