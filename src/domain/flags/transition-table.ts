/**
 * The transition table of a small state machine, computed once from the machine itself. A transition through XState's
 * interpreter takes 6–10 µs, more than everything else in switching a flag. Reading the table takes nanoseconds, and
 * the machine stays the only definition.
 *
 * The guards may only look at whether one count is zero, so that the counts 0 and 1 stand for all counts.
 */
import assert from 'node:assert/strict';
import { type AnyStateMachine, transition } from 'xstate';

/** `refused` means that the machine has no transition, and `changed: false` that it leads to the same state. */
export type Outcome<State> = { readonly changed: boolean; readonly state: State } | 'refused';

type CountedOutcomes<State> = { readonly none: Outcome<State>; readonly some: Outcome<State> };

export type TransitionTable<State extends string, Event extends string> = Readonly<
  Record<State, Readonly<Record<Event, CountedOutcomes<State>>>>
>;

/** `contextOf` makes the machine's context from the count that its guards look at. */
export function tabulate<State extends string, Event extends string>(
  machine: AnyStateMachine,
  contextOf: (count: number) => object,
): TransitionTable<State, Event> {
  const rows = Object.keys(machine.states).map((state) => {
    const cells = machine.events.map((event) => [
      event,
      {
        none: explore(machine, state, event, contextOf(0)),
        some: explore(machine, state, event, contextOf(1)),
      },
    ]);
    return [state, Object.fromEntries(cells)];
  });
  return Object.fromEntries(rows) as TransitionTable<State, Event>;
}

export function lookUp<State extends string, Event extends string>(
  table: TransitionTable<State, Event>,
  state: State,
  event: Event,
  count: number,
): Outcome<State> {
  const outcomes = table[state][event];
  return count > 0 ? outcomes.some : outcomes.none;
}

function explore(machine: AnyStateMachine, state: string, type: string, context: object): Outcome<string> {
  const before = machine.resolveState({ value: state, context });
  if (!before.can({ type })) return 'refused';
  const after: unknown = transition(machine, before, { type })[0].value;
  assert(
    typeof after === 'string' && after in machine.states,
    `A ${type} led from ${state} to no known state.`,
  );
  return Object.freeze({ changed: after !== state, state: after });
}
