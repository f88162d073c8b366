/**
 * The outcome of deciding a command: the events of the change, no events when nothing changes, or a refusal. Deciding
 * is pure. It reads the state and the context, and changes nothing.
 */
import type { GrowthLimits } from '../flags/growth-limits.ts';
import type { DomainEvent } from './events.ts';
import type { Refusal } from './refusal.ts';

export type Decision = readonly DomainEvent[] | Refusal;

/**
 * The author of a change. `userId` is -42 for an API token and -1 without authentication
 * (docs/specification/events.md#who-made-the-change).
 */
export interface Actor {
  readonly name: string;
  readonly userId: number;
}

/** Changes that nobody asks for: the first events of a data folder, and what the server notes by itself. */
export const SYSTEM: Actor = { name: 'system', userId: -1337 };

/** The clock, ids and randomness are inputs, so that a decision can be repeated exactly. */
export interface DecideContext {
  /** ISO 8601, UTC; never earlier than the time of the previous event. */
  readonly now: string;
  /** Milliseconds since 1970 by the clock as it is, which may be before `now`: what expires is compared with it. */
  readonly clockMs: number;
  readonly actor: Actor;
  readonly limits: GrowthLimits;
  /** The bytes of memory that the state may take. */
  readonly memoryBudgetBytes: number;
  /** A fresh UUID. */
  newId(): string;
}

/** The state is already as requested. The response is a success, and nothing is recorded. */
export const UNCHANGED: Decision = [];
