/**
 * The outcome of deciding a command: the events of the change, no events when nothing changes, or a refusal. Deciding
 * is pure. It reads the state and the context, and changes nothing.
 */
import type { GrowthLimits } from '../flags/growth-limits.ts';
import type { DomainEvent } from './events.ts';
import type { Refusal } from './refusal.ts';
import type { World } from './world.ts';

export type Decision = readonly DomainEvent[] | Refusal;

/**
 * The author of a change. `userId` is -42 for an API token and -1 without authentication
 * (docs/specification/events.md#who-made-the-change).
 */
export interface Actor {
  readonly name: string;
  readonly userId: number;
}

/** Changes without a request: the first events of a data folder, and what the server records by itself. */
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
  /** Id of the first event to be recorded. */
  readonly nextId: number;
  /** A fresh UUID. */
  newId(): string;
}

/** A decision that keeps all limits. */
export interface Kept {
  readonly events: readonly DomainEvent[];
  /** The state after the events; null where it was not needed to check the limits. */
  readonly after: World | null;
}

/** The state is already as requested. The response is a success, and nothing is recorded. */
export const UNCHANGED: Decision = [];
