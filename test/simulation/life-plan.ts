/**
 * The plan of one life of the process: how the disk and the clock behave, what goes wrong, and how it ends.
 * Chosen by a seed. Most lives have one trouble or two, since in a life with all of them little would ever happen.
 */

import { pick } from '../support/random-values.ts';
import type { SeededRandom } from '../support/seeded-random.ts';

/** How a life ends unless something else ends it before. A power cut may also follow on each of the others. */
export type Ending = 'close' | 'kill' | 'power-cut';

/** The n-th call to the disk, of all or of those that change it. */
export interface CallNumber {
  readonly of: 'all' | 'changes';
  readonly number: number;
}

export interface LifePlan {
  /** How long no process ran before. Old events are deleted only after events of later days. */
  readonly offMs: number;
  readonly ending: Ending;
  /** The call to the disk at which it is killed or cut; null for a clean end. */
  readonly endAt: CallNumber | null;
  /** Requests of all clients together. */
  readonly requests: number;
  /** Longest time a call takes; 0: none takes any. */
  readonly callMsMax: number;
  readonly syncMsMax: number;
  /** Longest pause of a client between two requests. */
  readonly thinkMsMax: number;
  /** The call that fails, and whether all later ones do too. */
  readonly failure: { readonly at: CallNumber; readonly forGood: boolean } | null;
  /** Bytes that the disk takes before it is full; null: as many as anybody likes. */
  readonly roomBytes: number | null;
  readonly reserveBytes: number;
  readonly clockJumps: readonly number[];
  readonly clockFreezes: boolean;
  readonly segmentBytes: number;
  readonly eventsPerSnapshot: number;
  /** How long events are kept; null: for good. */
  readonly eventRetentionDays: number | null;
  readonly mailboxLengthMax: number;
  /** Zeros that the journal keeps ahead of its end. */
  readonly preallocatedBytes: number;
  /** Every event is followed by a look at the whole state; else flags are decoded when a command or the sweep comes to them. */
  readonly audited: boolean;
  /** Whether the start leaves old history to the check after it, however little there is. */
  readonly defersHistory: boolean;
  /** Whether the state is shown without what is not durable yet, as on a cluster's leader. */
  readonly showsCommittedOnly: boolean;
}

const HOUR_MS = 3_600_000;
const DAYS_OFF_MS = 3 * 24 * HOUR_MS;
const JUMPS_MS = [-HOUR_MS, HOUR_MS, 25 * HOUR_MS, 95 * 365 * 24 * HOUR_MS] as const;

/** Recovery takes up to 60 calls and 10 changes, a command 2 of each, a snapshot 20: ends fall into all of them. */
const NUMBERS_MAX: readonly (CallNumber & { readonly chance: number })[] = [
  { of: 'all', number: 60, chance: 0.3 },
  { of: 'changes', number: 15, chance: 0.3 },
  { of: 'changes', number: 100, chance: 1 },
];

export function planLife(random: SeededRandom): LifePlan {
  const ending = pick<Ending>(random, ['close', 'kill', 'power-cut', 'power-cut']);
  const slow = random.chance(0.3);
  const offMs = random.chance(0.5) ? DAYS_OFF_MS : 0;
  const endAt = ending === 'close' ? null : anyCall(random);
  const requests = 4 + random.below(24);
  return {
    offMs,
    ending,
    endAt,
    requests,
    callMsMax: random.chance(0.2) ? 3 : 0,
    syncMsMax: slow ? pick(random, [100, 3_000, 30_000]) : 4,
    thinkMsMax: random.chance(0.2) ? 0 : 8,
    failure: random.chance(0.15) ? { at: anyCall(random), forGood: random.chance(0.5) } : null,
    roomBytes: random.chance(0.1) ? random.below(6_000) : null,
    reserveBytes: pick(random, [0, 1_000]),
    clockJumps: random.chance(0.2) ? [pick(random, JUMPS_MS), pick(random, JUMPS_MS)] : [],
    clockFreezes: random.chance(0.1),
    segmentBytes: pick(random, [600, 2_000, 100_000]),
    eventsPerSnapshot: pick(random, [5, 20, 1_000]),
    eventRetentionDays: pick(random, [null, 0, 0, 0, 1]),
    mailboxLengthMax: pick(random, [2, 1_024]),
    preallocatedBytes: pick(random, [0, 4_000, 400_000]),
    // No choices of their own, which would give every seed another life.
    audited: requests % 2 === 0,
    defersHistory: requests % 3 !== 0,
    showsCommittedOnly: requests % 5 < 2,
  };
}

function anyCall(random: SeededRandom): CallNumber {
  const range = NUMBERS_MAX.find(({ chance }) => random.chance(chance));
  if (range === undefined) throw new Error('the last range is always chosen');
  return { of: range.of, number: 1 + random.below(range.number) };
}

/** The last life, in which nothing goes wrong: what all the others have left must be whole. */
export const CALM_LIFE: LifePlan = {
  offMs: 0,
  ending: 'close',
  endAt: null,
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
  eventRetentionDays: null,
  mailboxLengthMax: 1_024,
  preallocatedBytes: 4_000,
  audited: true,
  defersHistory: true,
  showsCommittedOnly: false,
};
