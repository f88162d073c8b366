/**
 * What deciding a command gives: the events of the change, none when nothing changes, or a refusal. Deciding is
 * pure: it reads the state and what arrives in the context, and changes nothing.
 */
import type { DomainEvent } from '../state/events.ts';
import type { Refusal } from '../state/refusal.ts';

export type Decision = readonly DomainEvent[] | Refusal;

/**
 * Who makes the change. `userId` is -42 for an API token and -1 without authentication
 * (docs/specification/events.md#who-made-the-change).
 */
export interface Actor {
  readonly name: string;
  readonly userId: number;
}

/** Clock, identity and randomness come in here, so that a decision can be repeated exactly. */
export interface DecideContext {
  /** ISO 8601, UTC; never earlier than that of the event before. */
  readonly now: string;
  readonly actor: Actor;
  /** A fresh UUID. */
  newId(): string;
}

/** Nothing to do: the state already is as asked. Answered as a success, recorded nowhere. */
export const UNCHANGED: Decision = [];
