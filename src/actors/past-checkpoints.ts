/**
 * States of the past that were met on the way to others, so that the next read of a flag's past begins near to what it wants: a flag with ten
 * thousand changes takes a tenth of a second to replay from its first one. Nothing depends on what is kept here.
 */
import assert from 'node:assert/strict';
import { LRUCache } from 'lru-cache';
import { putFlag } from '../domain/state/records.ts';
import type { World } from '../domain/state/world.ts';
import type { FlagSnapshotRecord } from './state/flag-outlines.ts';
import { loadSnapshotRecord, stateSections } from './state/world-snapshot.ts';

/** Replaying so many events takes some milliseconds. */
export const CHECKPOINT_EVENTS = 256;

/** Bytes of all checkpoints, counted as the state counts; one half of it for those of one read. */
export const CHECKPOINTS_BYTES_MAX = 16 * 1024 * 1024;

const BYTES_EACH = 2_000;

/** A small state right after an event. */
export interface Checkpoint {
  /** Every event that concerns the state, up to this one, is in it. */
  readonly id: number;
  readonly bytes: number;
  /** Into an empty state. */
  loadInto(world: World): void;
}

export class PastCheckpoints {
  /** By what is read, in the order of the events. */
  readonly #kept = new LRUCache<string, readonly Checkpoint[]>({
    maxSize: CHECKPOINTS_BYTES_MAX,
    sizeCalculation: bytesOf,
  });

  /** The newest one in that range, ends included. */
  nearest(key: string, { from, to }: { readonly from: number; readonly to: number }): Checkpoint | null {
    return this.#kept.get(key)?.findLast(({ id }) => id >= from && id <= to) ?? null;
  }

  /** `world` is the state right after the event `id`. */
  add(key: string, id: number, world: World): void {
    const known = this.#kept.get(key) ?? [];
    const before = known.findLastIndex((one) => one.id <= id);
    if (known[before]?.id === id) return;
    let checkpoints = known.toSpliced(before + 1, 0, checkpointOf(id, world));
    while (bytesOf(checkpoints) > CHECKPOINTS_BYTES_MAX / 2 && checkpoints.length > 1)
      checkpoints = checkpoints.filter((_, at) => at % 2 === 0);
    if (bytesOf(checkpoints) <= CHECKPOINTS_BYTES_MAX / 2) this.#kept.set(key, checkpoints);
  }
}

function bytesOf(checkpoints: readonly Checkpoint[]): number {
  return checkpoints.reduce((sum, { bytes }) => sum + bytes, 1);
}

/** Copies the lists of records only, because the records are immutable. */
function checkpointOf(id: number, world: World): Checkpoint {
  const sections = stateSections(world).map(({ name, records }) => ({ name, records: [...records] }));
  return {
    id,
    bytes: BYTES_EACH + world.memory.bytes,
    loadInto: (empty) => {
      for (const { name, records } of sections) for (const record of records) load(empty, name, record);
    },
  };
}

/** A flag of the past is in use elsewhere, and stays as it is. */
function load(world: World, section: string, record: unknown): void {
  if (section !== 'flags') return loadSnapshotRecord(world, section, record);
  const { flag, revision, createdBy = null } = record as FlagSnapshotRecord;
  const project = world.projects.get(flag.project);
  assert(project !== undefined, 'the project of a flag stands before it');
  putFlag(world, project, { flag, revision, createdBy });
  world.directory.flagProjects.set(flag.name, flag.project);
}
