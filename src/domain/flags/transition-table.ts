/**
 * The table of a small state machine, worked out once from the machine itself. A transition through XState's
 * interpreter costs 6–10 µs, more than all the rest of switching a flag; reading the table costs nanoseconds, and
 * the machine stays the only definition.
 *
 * What the guards look at must be one count, and whether it is zero: the counts 0 and 1 then stand for all.
 */
import assert from 'node:assert/strict';
import { type AnyStateMachine, transition } from 'xstate';

/** Refused: the machine takes no transition. Not changed: it takes one into the state it is in. */
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
