/** A command on its way through a mailbox, and its outcome. */
import type { Command } from '../domain/decide/decide.ts';
import type { Actor } from '../domain/state/decision.ts';
import type { DomainEvent } from '../domain/state/events.ts';
import type { RememberedResponse } from '../domain/state/idempotency-cache.ts';
import type { Refusal } from '../domain/state/refusal.ts';
import type { World } from '../domain/state/world.ts';

export interface Submission<T> {
  /** A refusal where the request led to no command; a retry gets the first response before that. */
  readonly command: Command | Refusal;
  readonly actor: Actor;
  /**
   * Asked first in the command's turn: whether it is still wanted and allowed. It may have waited for seconds, in which
   * its client left or its caller lost the right. A refusal becomes the outcome.
   */
  readonly mayStart?: ((world: World) => Refusal | null) | undefined;
  /**
   * The part of the state that the caller sees; null: all of it. The command is decided on it first, so that what it names elsewhere is
   * refused as something that does not exist.
   */
  readonly seenBy?: ((world: World) => World | null) | undefined;
  /** Checked against the events that were decided, and the state before them. A refusal becomes the outcome. */
  readonly guard?: ((world: World, events: readonly DomainEvent[]) => Refusal | null) | undefined;
  /** Makes a retry of the same request get the first response (see idempotency-cache.ts). */
  readonly retry?: Retry<T> | undefined;
  /** Checked against the state right before the decision. A refusal becomes the outcome. */
  readonly precondition?: ((world: World) => Refusal | null) | undefined;
  /** Makes the response from the state right after the command, in the same step. */
  readonly respond: (world: World, events: readonly DomainEvent[]) => T;
  /** Called once, when the outcome is durable. */
  readonly done: (outcome: Outcome<T>) => void;
}

export interface Retry<T> {
  readonly key: string;
  readonly fingerprint: string;
  toRemember(response: T): Pick<RememberedResponse, 'status' | 'body'>;
  fromMemory(remembered: RememberedResponse): T;
}

export type Outcome<T> =
  | { readonly kind: 'response'; readonly response: T }
  | { readonly kind: 'refusal'; readonly refusal: Refusal }
  | { readonly kind: 'fault'; readonly error: unknown };
