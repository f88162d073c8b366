/**
 * The role of a node in its cluster. This machine is the only definition of which role follows which:
 * - a node reads the log to its end before it stands for leadership, and stands only while there is no leader;
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
    joining: { on: { ALIGNED: 'catchingUp' } },
    catchingUp: { on: { CAUGHT_UP: 'following' } },
    // A take-over record that was given up for lost may still arrive, and it counts.
    following: { on: { FELL_BEHIND: 'catchingUp', LEADER_SILENT: 'candidate', WON: 'leading' } },
    candidate: { on: { WON: 'leading', LOST: 'following' } },
    leading: { on: { HAND_OVER: 'draining', CUT_OFF: 'cutOff', DEPOSED: 'deposed' } },
    cutOff: { on: { CONFIRMED: 'leading', GAVE_UP: 'following', DEPOSED: 'deposed' } },
    draining: { on: { HANDED_OVER: 'following', DEPOSED: 'deposed' } },
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
