/**
 * Invariant 1: the one way to change the state. Live commands and replay after a restart both come through here,
 * so what recovery rebuilds is what was running. Pure in the sense that counts: the outcome depends on the state,
 * the event and its id alone; no clock, no randomness, no I/O.
 *
 * An event that does not fit the state throws: live that is a fault of a decision, at replay a journal that was
 * not written by this state. Neither may be passed over in silence.
 */
import { applyDirectoryEvent } from './apply-directory.ts';
import { applyFlagEvent } from './apply-flag.ts';
import { applyProjectEvent } from './apply-project.ts';
import type { EventStamp } from './event-stamp.ts';
import type { DirectoryEvent, DomainEvent, FlagEvent, ProjectEvent } from './events.ts';
import type { World } from './world.ts';

export function apply(world: World, event: DomainEvent, stamp: EventStamp): void {
  if (event.featureName !== null) applyFlagEvent(world, event as FlagEvent, stamp);
  else if (event.project !== null) applyProjectEvent(world, event as ProjectEvent, stamp);
  else applyDirectoryEvent(world, event as DirectoryEvent, stamp);
}
