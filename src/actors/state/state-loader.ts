/** Rebuilds the state from a snapshot and frames of the journal, for a start and for every tool that needs it. */
import assert from 'node:assert/strict';
import { applyChange } from '../../domain/state/apply.ts';
import type { DomainEvent } from '../../domain/state/events.ts';
import type { RememberedResponse } from '../../domain/state/idempotency-cache.ts';
import type { World } from '../../domain/state/world.ts';
import type { EventLog } from '../../persistence/event-log/event-log.ts';
import { lastEventId, type RecordedFrame } from '../../persistence/journal/frame.ts';
import type { Loader } from '../../persistence/recovery/recovery.ts';
import type { OutlinedBlock } from '../../persistence/snapshots/packed-records.ts';
import type { BlockUse } from '../../persistence/snapshots/snapshot-reader.ts';
import { FlagOutlines, type FlagSnapshotRecord, isSameRecord, outlineOf } from './flag-outlines.ts';
import type { PackedFlags } from './packed-flags.ts';
import { PART_SIZE_MIN, shareInEvents } from './shared-values.ts';
import { clearWorld, loadSnapshotRecord } from './world-snapshot.ts';

/**
 * Loads what a snapshot and a journal hold into `world`, by the functions that live commands use. Decodes all of it, and
 * insists on what outlines say.
 */
export function loaderOf(world: World): Loader {
  // Under load many frames share a millisecond, and formatting it each time took a twentieth of a replay.
  let at = Number.NaN;
  let createdAt = '';
  return {
    reset: () => clearWorld(world),
    load: (section, record) => loadSnapshotRecord(world, section, record),
    loadOutlined: (section, block) => loadDecoded(world, section, block),
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

function loadDecoded(world: World, section: string, block: OutlinedBlock): BlockUse {
  const { records } = block;
  const outlines = section === 'flags' ? FlagOutlines.of(block.outline(), records.count) : null;
  if (outlines === null) return 'decode';
  for (let at = 0; at < records.count; at += 1) {
    const record = records.unpack(at) as FlagSnapshotRecord;
    assert(isSameRecord(outlineOf(record), outlines.at(at)), 'a flag is that of its outline');
    loadSnapshotRecord(world, section, record);
  }
  return 'taken';
}

export interface StartLoaderOptions {
  readonly world: World;
  readonly eventLog: EventLog;
  /** Takes flags undecoded; null where all are to be decoded at once. */
  readonly packed: PackedFlags | null;
}

/** The same for a start, which indexes what it replays, so that it reads the end of the journal once for both. */
export function startLoader({ world, eventLog, packed }: StartLoaderOptions): Loader {
  const loader = loaderOf(world);
  const replay: Loader['replay'] = (frame, position) => {
    loader.replay(frame, position);
    eventLog.replayed(frame, position);
  };
  if (packed === null) return { ...loader, replay };
  return {
    ...loader,
    replay,
    reset: () => {
      loader.reset();
      packed.forget();
    },
    loadOutlined: (section, block) => (section === 'flags' && packed.take(block) ? 'kept' : 'decode'),
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
