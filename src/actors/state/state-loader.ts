/** Rebuilds the state from a snapshot and frames of the journal, for a start and for every tool that needs it. */
import assert from 'node:assert/strict';
import { applyChange } from '../../domain/state/apply.ts';
import type { DomainEvent } from '../../domain/state/events.ts';
import type { RememberedResponse } from '../../domain/state/idempotency-cache.ts';
import type { World } from '../../domain/state/world.ts';
import type { EventLog } from '../../persistence/event-log/event-log.ts';
import { lastEventId, type RecordedFrame } from '../../persistence/journal/frame.ts';
import type { Loader } from '../../persistence/recovery/recovery.ts';
import { PART_SIZE_MIN, shareInEvents } from './shared-values.ts';
import { clearWorld, loadSnapshotRecord } from './world-snapshot.ts';

/** Loads what a snapshot and a journal hold into `world`, by the functions that live commands use. */
export function loaderOf(world: World): Loader {
  // Under load many frames share a millisecond, and formatting it each time took a twentieth of a replay.
  let at = Number.NaN;
  let createdAt = '';
  return {
    reset: () => clearWorld(world),
    load: (section, record) => loadSnapshotRecord(world, section, record),
    problemAt: (id) => {
      try {
        assertNotNewer(world, id);
        return null;
      } catch (error) {
        return (error as Error).message;
      }
    },
    replay: (frame, position) => {
      if (position.length >= PART_SIZE_MIN) shareInEvents(frame.events);
      if (frame.at !== at) createdAt = new Date(frame.at).toISOString();
      at = frame.at;
      replayFrame(world, frame, createdAt);
    },
  };
}

/** The loader for a start, which indexes what it replays, so that it reads the end of the journal once for both. */
export function startLoader(world: World, eventLog: EventLog): Loader {
  const loader = loaderOf(world);
  return {
    ...loader,
    replay: (frame, position) => {
      loader.replay(frame, position);
      eventLog.replayed(frame, position);
    },
  };
}

/** `createdAt` is the frame's time. */
export function replayFrame(
  world: World,
  frame: RecordedFrame,
  createdAt = new Date(frame.at).toISOString(),
): void {
  const { rules, lineage } = frame;
  assert(world.directory.revision < frame.id, 'a frame is replayed onto a state from before it');
  if (lineage !== undefined) world.lineage.adopt(frame.id, lineage);
  applyChange(world, frame.events as readonly DomainEvent[], { id: frame.id, createdAt, rules });
  assert(world.directory.revision <= lastEventId(frame), 'a frame makes nothing newer than its last event');
  if (frame.answer !== undefined) {
    world.directory.responses.remember(frame.answer as RememberedResponse, frame, rules);
  }
}

/** After a recovery: the state holds the events up to `lastId`, and no others. Costs a look at each project. */
export function assertNotNewer({ directory, projects }: World, lastId: number): void {
  for (const revision of [directory.revision, directory.environmentsRevision, directory.accessRevision]) {
    assert(revision <= lastId, `the directory is of event ${revision}, and the log ends with ${lastId}`);
  }
  for (const [id, { revision, environmentsRevision }] of projects) {
    assert(revision <= lastId, `the project ${id} is of event ${revision}, and the log ends with ${lastId}`);
    assert(environmentsRevision <= revision, `the project ${id} is older than its environments`);
  }
}
