/** Rebuilds the state from a snapshot and frames of the journal, for a start and for every tool that needs it. */
import assert from 'node:assert/strict';
import { applyTo } from '../../domain/state/apply.ts';
import type { DomainEvent } from '../../domain/state/events.ts';
import type { RememberedResponse } from '../../domain/state/idempotency-cache.ts';
import { type Draft, directoryIn, draftOf, emptyWorld, type World } from '../../domain/state/world.ts';
import type { EventLog } from '../../persistence/event-log/event-log.ts';
import { lastEventId, type RecordedFrame } from '../../persistence/journal/frame.ts';
import type { Loader } from '../../persistence/recovery/replay.ts';
import { loadSnapshotRecord } from './world-snapshot.ts';

/** A loader, and the state that it has loaded. */
export interface StateLoader extends Loader {
  /** Written in place as long as anything is loaded. */
  readonly world: Draft;
}

/** Loads what a snapshot and a journal hold, by the functions that live commands use. */
export function loaderOf(): StateLoader {
  const { identity } = emptyWorld();
  const fresh = () => draftOf({ ...emptyWorld(), identity });
  let draft = fresh();
  // Under load many frames share a millisecond, and formatting it each time took a twentieth of a replay.
  let at = Number.NaN;
  let createdAt = '';
  return {
    get world() {
      return draft;
    },
    reset: () => {
      draft = fresh();
    },
    load: (section, record) => loadSnapshotRecord(draft, section, record),
    problemAt: (id) => {
      try {
        assertNotNewer(draft, id);
        return null;
      } catch (error) {
        return (error as Error).message;
      }
    },
    replay: (frame) => {
      if (frame.at !== at) createdAt = new Date(frame.at).toISOString();
      at = frame.at;
      replayFrame(draft, frame, createdAt);
    },
  };
}

/** The loader for a start, which also indexes what the journal holds. */
export function startLoader(loader: Loader, eventLog: EventLog): Loader {
  return {
    ...loader,
    replay: (frame, position) => {
      loader.replay(frame, position);
      eventLog.add(frame, position);
    },
    pass: (segment, raw, payload) => eventLog.pass(segment, raw, payload),
    defer: (part) => eventLog.defer(part),
  };
}

/** `createdAt` is the frame's time. */
export function replayFrame(
  draft: Draft,
  frame: RecordedFrame,
  createdAt = new Date(frame.at).toISOString(),
): void {
  const { rules, lineage } = frame;
  assert(draft.directory.revision < frame.id, 'a frame is replayed onto a state from before it');
  if (lineage !== undefined) draft.lineage = draft.lineage.adopted(frame.id, lineage);
  applyTo(draft, frame.events as readonly DomainEvent[], { id: frame.id, createdAt, rules });
  assert(draft.directory.revision <= lastEventId(frame), 'a frame makes nothing newer than its last event');
  if (frame.answer !== undefined) {
    const directory = directoryIn(draft);
    const response = frame.answer as RememberedResponse;
    directory.responses = directory.responses.remembered(response, frame, rules, draft.edit);
  }
}

/** After a recovery: the state holds the events up to `lastId`, and no others. Costs a look at each project. */
export function assertNotNewer({ directory, projects, addonRecords }: World, lastId: number): void {
  for (const revision of [directory.revision, directory.environmentsRevision, directory.accessRevision]) {
    assert(revision <= lastId, `the directory is of event ${revision}, and the log ends with ${lastId}`);
  }
  for (const [id, { revision, environmentsRevision }] of projects) {
    assert(revision <= lastId, `the project ${id} is of event ${revision}, and the log ends with ${lastId}`);
    assert(environmentsRevision <= revision, `the project ${id} is older than its environments`);
  }
  for (const [kind, { revision }] of addonRecords)
    assert(
      revision <= lastId,
      `a record of ${kind} is of event ${revision}, and the log ends with ${lastId}`,
    );
}
