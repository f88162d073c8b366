/** Records of the kinds that add-ons bring: kept, applied and loaded for all of those alike, whether or not the add-on is there. */
import assert from 'node:assert/strict';
import {
  type AddonContent,
  type AddonKind,
  type AddonRecord,
  type AddonRecords,
  type AllAddonRecords,
  upgradedContent,
} from '../kinds/addon-kind.ts';
import { PersistentMap } from '../value/persistent-map.ts';
import type { EventStamp, RecordEvent } from './events.ts';
import { notFound, type Refusal } from './refusal.ts';
import { growthOf } from './state-memory.ts';
import { refuseNewerContent } from './upgrade.ts';
import type { Draft, World } from './world.ts';

const NONE: AddonRecords = { lastId: 0, revision: 0, byId: PersistentMap.empty() };

const recordsIn = ({ addonRecords }: Pick<World, 'addonRecords'>, kind: string): AddonRecords =>
  addonRecords.get(kind) ?? NONE;

export const countOfRecords = (world: World, { name }: AddonKind): number => recordsIn(world, name).byId.size;

/** Id of the last event about a record of the kind; 0 before the first. */
export const recordsRevision = (world: World, { name }: AddonKind): number => recordsIn(world, name).revision;

export const nextRecordId = (world: World, { name }: AddonKind): number => recordsIn(world, name).lastId + 1;

/** A record as its add-on reads it. */
export interface ReadRecord<T extends object> extends AddonContent<T> {
  readonly id: number;
  readonly createdRevision: number;
  readonly revision: number;
}

type ReadRecords<T extends object> = readonly ReadRecord<T>[];

const readChunks = new WeakMap<object, ReadRecords<object>>();

/** All of the kind in order of creation, as lists of up to 128 neighbours. A list in which nothing has changed stays the same object. */
export const addonRecordLists = <T extends object>(
  world: World,
  kind: AddonKind<T>,
): readonly ReadRecords<T>[] => [...newestRecordLists(world, kind)].reverse();

/** The lists one by one, the newest first: to read all of them takes long where nobody has done that before. */
export function* newestRecordLists<T extends object>(
  world: World,
  kind: AddonKind<T>,
): Generator<ReadRecords<T>, void> {
  for (const chunk of recordsIn(world, kind.name).byId.chunks.toReversed()) {
    let list = readChunks.get(chunk);
    if (list === undefined) {
      list = chunk.values.map((record) => readAs(kind, record));
      readChunks.set(chunk, list);
    }
    yield list as ReadRecords<T>;
  }
}

/** All of the kind, in order of creation. */
export const addonRecordsOf = <T extends object>(world: World, kind: AddonKind<T>): ReadRecords<T> =>
  addonRecordLists(world, kind).flat();

export const findAddonRecord = <T extends object>(
  world: World,
  kind: AddonKind<T>,
  id: number,
): ReadRecord<T> | undefined => {
  const record = recordsIn(world, kind.name).byId.get(id);
  return record === undefined ? undefined : readAs(kind, record);
};

export const locateAddonRecord = <T extends object>(
  world: World,
  kind: AddonKind<T>,
  id: number | string,
): ReadRecord<T> | Refusal =>
  findAddonRecord(world, kind, Number(id)) ?? notFound(`There is no ${kind.noun} "${id}".`);

const read = new WeakMap<AddonRecord, ReadRecord<object>>();

/** The same object for the same record. */
function readAs<T extends object>(kind: AddonKind<T>, record: AddonRecord): ReadRecord<T> {
  let made = read.get(record);
  if (made === undefined) {
    const { id, createdRevision, revision, version, data, secrets = {} } = record;
    made = { id, createdRevision, revision, ...upgradedContent(kind, { data, secrets }, version) };
    read.set(record, made);
  }
  return made as ReadRecord<T>;
}

export function applyRecordEvent(draft: Draft, { type, data, hidden }: RecordEvent, stamp: EventStamp): void {
  const { id: revision } = stamp;
  const { kind, id } = hidden;
  refuseNewerContent(kind, hidden.version);
  const { lastId, byId } = recordsIn(draft, kind);
  const before = byId.get(id) ?? null;
  if (data === null && before === null)
    throw new Error(`the event ${type} is about ${kind} ${id}, no record`);
  const after =
    data === null
      ? null
      : { ...hidden, createdRevision: before?.createdRevision ?? revision, revision, data };
  draft.memoryBytes += growthOf(before, after);
  const records = {
    lastId: Math.max(lastId, id),
    revision,
    byId: after === null ? byId.without(id, draft.edit) : byId.with(id, after, draft.edit),
  };
  draft.addonRecords = draft.addonRecords.with(kind, records, draft.edit);
}

// Their section of snapshots: for each kind what holds for all of them, then its records.

type KindHead = Pick<AddonRecords, 'lastId' | 'revision'> & { readonly kind: string };

/** Can be read again. */
export const recordsToSave = (all: AllAddonRecords): Iterable<KindHead | AddonRecord> => ({
  *[Symbol.iterator]() {
    for (const [kind, { lastId, revision, byId }] of all) {
      yield { kind, lastId, revision };
      yield* byId.values();
    }
  },
});

export function loadAddonRecord(draft: Draft, saved: KindHead | AddonRecord): void {
  const { kind } = saved;
  const known = draft.addonRecords.get(kind);
  if ('lastId' in saved) {
    assert(known === undefined, 'a kind of records is in a snapshot once');
    const { lastId, revision } = saved;
    draft.addonRecords = draft.addonRecords.with(kind, { ...NONE, lastId, revision }, draft.edit);
    return;
  }
  refuseNewerContent(kind, saved.version);
  assert(known !== undefined && !known.byId.has(saved.id), 'a record is in a snapshot once, behind its kind');
  assert(saved.id <= known.lastId && saved.revision <= known.revision, 'no record is newer than its kind');
  draft.memoryBytes += growthOf(null, saved);
  const byId = known.byId.with(saved.id, saved, draft.edit);
  draft.addonRecords = draft.addonRecords.with(kind, { ...known, byId }, draft.edit);
}
