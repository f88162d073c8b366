/** The guards of add-ons: they see what was decided before it is recorded, whichever command decided it, and never what is replayed or followed. */
import type { Actor } from '../state/decision.ts';
import type { DomainEvent } from '../state/events.ts';
import { isRefusal, type Refusal } from '../state/refusal.ts';
import type { World } from '../state/world.ts';

/** Refuses what was decided on the state `world`, or gives the events that are recorded behind it: none, as a rule. */
export type EventGuard = (
  world: World,
  events: readonly DomainEvent[],
  actor: Actor,
) => readonly DomainEvent[] | Refusal;

/** The guards of this server, which are the same from its start to its end. */
let registered: readonly EventGuard[] = [];

export function registerGuards(guards: readonly EventGuard[]): void {
  registered = guards;
}

/** The events to record: the same list where no guard adds one. */
export function guardedEvents(
  world: World,
  events: readonly DomainEvent[],
  actor: Actor,
): readonly DomainEvent[] | Refusal {
  let guarded = events;
  for (const guard of registered) {
    const added = guard(world, events, actor);
    if (isRefusal(added)) return added;
    if (added.length > 0) guarded = [...guarded, ...added];
  }
  return guarded;
}
