/**
 * The rules of replay: a number for each change of what `apply` does with the same state and the same event.
 *
 * Each frame carries the number of the newest rule that its build knew, and is replayed by the rules up to that number
 * (invariant 11): an old journal gives the state that it gave when it was written, in every build.
 *
 * To change what `apply` does: append a rule here, and have `apply` do the new thing where `stamp.rules` is at least its
 * number, and the old thing where it is less. A change that only decides on other events is none of replay.
 */

interface ReplayRule {
  readonly number: number;
  /** The change and its reason. */
  readonly reason: string;
  /** The first release that replays by it. */
  readonly release: string;
}

const REPLAY_RULES: readonly ReplayRule[] = [
  { number: 1, reason: 'What the first release does.', release: '0.1.0' },
  {
    number: 2,
    reason: 'The responses kept for retries are bounded in bytes, because large ones could fill the memory.',
    release: '0.2.0',
  },
  {
    number: 3,
    reason:
      'Tokens and groups follow what is deleted, because one event for each could be more than a change may hold.',
    release: '0.2.0',
  },
  {
    number: 4,
    reason:
      'The responses kept for retries are shared by caller, because one caller could push out those of all.',
    release: '0.3.0',
  },
];

/** From this rule on the idempotency cache is bounded in bytes, and not only in count. */
export const RESPONSES_BOUNDED_IN_BYTES = 2;

/** From this rule on what names a deleted project, environment or user changes with it, whether or not there is an event of it. */
export const NAMES_GO_WITH_DELETED = 3;

/** From this rule on no caller's retries push out the responses of a caller who sends less. */
export const RESPONSES_SHARED_BY_CALLER = 4;

/** The newest rule that this build knows: what it does live. */
export const RULES_VERSION = REPLAY_RULES.length;
