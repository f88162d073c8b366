/**
 * The one way to change the state (invariant 1). Live commands and replay after a restart both call it, so recovery
 * rebuilds exactly the state that was running. The outcome depends only on the state, the event and its id, and on no
 * clock, randomness or I/O.
 *
 * An event that does not match the state throws. For a live command that means a wrong decision, and for a replay
 * that the journal does not belong to this state. Neither may be ignored.
 */
import assert from 'node:assert/strict';
import { applySessionEvent } from './apply-access.ts';
import { applyDirectoryEvent } from './apply-directory.ts';
import { applyFlagEvent, applyStrategyRun } from './apply-flag.ts';
import { applyProjectEvent } from './apply-project.ts';
import {
  type DirectoryEvent,
  type DomainEvent,
  type EventStamp,
  type FlagEvent,
  isSessionEvent,
  type ProjectEvent,
} from './events.ts';
import { strategyRun } from './strategy-run.ts';
import type { World } from './world.ts';

/** Applies the events of one change, in their order. `first` is the stamp of the first of them. */
export function applyChange(world: World, events: readonly DomainEvent[], first: EventStamp): void {
  let at = 0;
  while (at < events.length) {
    const run = strategyRun(events, at);
    const end = at + Math.max(run.length, 1);
    if (run.length === 0 || !applyStrategyRun(world, run, stampAt(first, end - 1))) {
      for (let one = at; one < end; one += 1) apply(world, events[one]!, stampAt(first, one));
    }
    at = end;
  }
}

/** The stamp of the event at `place` in a change. Most changes have one event, and no stamp is made for it. */
function stampAt(first: EventStamp, place: number): EventStamp {
  return place === 0 ? first : { ...first, id: first.id + place };
}

export function apply(world: World, event: DomainEvent, stamp: EventStamp): void {
  if (event.featureName !== null) applyFlagEvent(world, event as FlagEvent, stamp);
  else if (event.project !== null) applyProjectEvent(world, event as ProjectEvent, stamp);
  else if (isSessionEvent(event)) applySessionEvent(world, event, stamp);
  else applyDirectoryEvent(world, event as DirectoryEvent, stamp);
  assert(
    revisionAfter(world, event) === stamp.id,
    'an event leaves its id as the revision of what it changed',
  );
}

/** The revision of the event's project; that of the sessions, or of the directory for an event without a project or that removed it. */
function revisionAfter({ projects, directory }: World, event: DomainEvent): number {
  if (isSessionEvent(event)) return directory.sessionsRevision;
  const { project } = event;
  return (project === null ? undefined : projects.get(project)?.revision) ?? directory.revision;
}
