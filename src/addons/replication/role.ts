/**
 * The role of a node in its cluster. This machine is the only definition of which role follows which:
 * - a node reads the log to its end before it stands for leadership, and stands only while nobody leads;
 * - the log says who won: the first take-over record at a position is the one that counts;
 * - a leader hands over in order, and follows again, or learns that it was deposed, and ends: what it has decided since
 *   may never have happened;
 * - a leader that nothing confirms any more is cut off: it decides nothing, and gives up unless it is confirmed in time.
 */
import { initialTransition, setup, transition } from 'xstate';

export type RoleEvent =
  | 'ALIGNED'
  | 'CAUGHT_UP'
  | 'FELL_BEHIND'
  | 'LEADER_SILENT'
  | 'WON'
  | 'LOST'
  | 'HAND_OVER'
  | 'HANDED_OVER'
  | 'CUT_OFF'
  | 'CONFIRMED'
  | 'GAVE_UP'
  | 'DEPOSED';

export const roleMachine = setup({ types: { events: {} as { type: RoleEvent } } }).createMachine({
  id: 'role',
  initial: 'joining',
  states: {
    joining: { on: { ALIGNED: { target: 'catchingUp' } } },
    catchingUp: { on: { CAUGHT_UP: { target: 'following' } } },
    following: {
      on: {
        FELL_BEHIND: { target: 'catchingUp' },
        LEADER_SILENT: { target: 'candidate' },
        // A take-over record that was given up for lost may still arrive, and it counts.
        WON: { target: 'leading' },
      },
    },
    candidate: { on: { WON: { target: 'leading' }, LOST: { target: 'following' } } },
    leading: {
      on: {
        HAND_OVER: { target: 'draining' },
        CUT_OFF: { target: 'cutOff' },
        DEPOSED: { target: 'deposed' },
      },
    },
    cutOff: {
      on: {
        CONFIRMED: { target: 'leading' },
        GAVE_UP: { target: 'following' },
        DEPOSED: { target: 'deposed' },
      },
    },
    draining: { on: { HANDED_OVER: { target: 'following' }, DEPOSED: { target: 'deposed' } } },
    deposed: { type: 'final' },
  },
});

export type RoleName = keyof typeof roleMachine.config.states & string;

/** Whether a node of this role has decided changes lately, or may do so again, without another take-over. */
export const mayDecide = (role: string | undefined): boolean =>
  role === 'leading' || role === 'cutOff' || role === 'draining';

export class Role {
  #snapshot = initialTransition(roleMachine)[0];

  get name(): RoleName {
    return this.#snapshot.value as RoleName;
  }

  /** False, with nothing changed, where the role does not allow it. */
  apply(type: RoleEvent): boolean {
    if (!this.#snapshot.can({ type })) return false;
    this.#snapshot = transition(roleMachine, this.#snapshot, { type })[0];
    return true;
  }
}

// How long a node waits for a leader before it stands itself: from the last word of one that leads, or may come to. The jitter keeps
// nodes from standing at once. It decides only when a node tries to take over; the log decides whether it may.

/** A leader that has missed three announcements is asked for at its address: if its process is over, nobody waits for it. */
const DOUBT_MS = 750;

/** A leader that is silent for so long, and for up to the jitter more, is taken for gone: it may stand still, or be cut off. */
const SILENCE_MS = 3_000;
const SILENCE_JITTER_MS = 1_000;

interface PatienceClock {
  /** Milliseconds, monotonic. */
  monotonic(): number;
  /** From 0 to 1. */
  random(): number;
}

export class LeaderPatience {
  readonly #clock: PatienceClock;
  #heardAtMs = 0;
  #patienceMs = 0;

  constructor(clock: PatienceClock) {
    this.#clock = clock;
  }

  /** Nobody stands for leadership before the leader was silent for a while from now on. */
  waitForLeader(): void {
    this.#heardAtMs = this.#clock.monotonic();
    this.#patienceMs = SILENCE_MS + SILENCE_JITTER_MS * this.#clock.random();
  }

  /** For a log that was just begun: nobody has ever led it, so there is nobody to hear of. */
  waitForOthers(): void {
    this.#heardAtMs = this.#clock.monotonic();
    this.#patienceMs = SILENCE_JITTER_MS * this.#clock.random();
  }

  /** Whether a leader that works would have been heard of. */
  get isInDoubt(): boolean {
    return this.#clock.monotonic() - this.#heardAtMs > DOUBT_MS;
  }

  /** The leader has said that it hands over, or its process is over. */
  end(): void {
    this.#heardAtMs = this.#clock.monotonic();
    this.#patienceMs = 0;
  }

  /** Whether nobody has led for long enough, and for so much longer. */
  isOverBy(ms: number): boolean {
    return this.#clock.monotonic() - this.#heardAtMs >= this.#patienceMs + ms;
  }
}
