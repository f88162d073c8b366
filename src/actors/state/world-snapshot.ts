/**
 * Converts the state to snapshot sections and back. Loading a snapshot gives the state that replaying from the first
 * event would have given, with the same `stateHash`.
 *
 * The state is a value, so commands may go on while a snapshot of it is being written in turns.
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { Packr } from 'msgpackr/pack';
import type { PasswordLink } from '../../domain/access/links.ts';
import type { Session } from '../../domain/access/sessions.ts';
import type { Flag } from '../../domain/flags/flag.ts';
import type { Completion } from '../../domain/flags/lifecycle.ts';
import type { DefaultStrategy } from '../../domain/flags/strategy.ts';
import type { AddonRecord } from '../../domain/kinds/addon-kind.ts';
import { ACCESS_KINDS, KINDS, SECRET_KINDS, TARGETING_KINDS } from '../../domain/kinds/kinds.ts';
import { loadAddonRecord, recordsToSave } from '../../domain/state/addon-records.ts';
import { loadFavorites } from '../../domain/state/favorites.ts';
import type { DatedResponse } from '../../domain/state/idempotency-cache.ts';
import type { LineageEntry } from '../../domain/state/lineage.ts';
import type { FlagChunk } from '../../domain/state/project-flags.ts';
import { putFlag, putRecord } from '../../domain/state/records.ts';
import type { Setting } from '../../domain/state/settings.ts';
import { growthOf } from '../../domain/state/state-memory.ts';
import {
  type DirectoryState,
  type Draft,
  directoryIn,
  type Environment,
  type Favorites,
  type Identity,
  identityKey,
  newProject,
  type Password,
  type ProjectSettings,
  type StalenessNote,
  type World,
} from '../../domain/state/world.ts';
import { PersistentMap } from '../../domain/value/persistent-map.ts';
import type { RecordBatch, SnapshotSection } from '../../persistence/snapshots/snapshot-writer.ts';
import { shareInFlag } from './shared-values.ts';

/** The numbers of the directory: revisions, and the last ids, which are never reused. */
type Counters = {
  readonly [Name in keyof DirectoryState as DirectoryState[Name] extends number ? Name : never]: number;
};

/** A record of the section `flags`. */
export interface FlagSnapshotRecord {
  readonly flag: Flag;
  readonly revision: number;
  /** Absent in snapshots that are older than the field. */
  readonly createdBy?: number | null;
}

interface ProjectRecord {
  readonly settings: ProjectSettings;
  /** Pairs of user id and role id. */
  readonly members: readonly (readonly [number, number])[];
  /** Pairs of environment and strategy; absent in snapshots that are older than the field. */
  readonly defaultStrategies?: readonly (readonly [string, DefaultStrategy])[];
  /** Pairs of group id and role id; absent in snapshots that are older than groups. */
  readonly groups?: readonly (readonly [number, number])[];
  readonly revision: number;
  readonly environmentsRevision: number;
}

const keysOf = <Kinds extends Readonly<Record<string, { readonly idOf: unknown }>>>(kinds: Kinds) =>
  Object.fromEntries(Object.entries(kinds).map(([name, { idOf }]) => [name, idOf])) as {
    readonly [Name in keyof Kinds]: Kinds[Name]['idOf'];
  };

/** Maps of the directory, each a section of its name, with the keys of its records. The hash of the state depends on the order. */
const MAPS = {
  ...keysOf(TARGETING_KINDS),
  settings: ({ id }: Setting) => id,
  ...keysOf(ACCESS_KINDS),
  ...keysOf(SECRET_KINDS),
  sessions: ({ digest }: Session) => digest,
  passwords: ({ userId }: Password) => userId,
  identities: ({ issuer, subject }: Identity) => identityKey(issuer, subject),
  passwordLinks: ({ digest }: PasswordLink) => digest,
  invitations: KINDS.invitations.idOf,
} as const;

/** Maps of what is noted about flags, which come after those. */
const MAPS_ABOUT_FLAGS = {
  potentiallyStale: ({ flag }: StalenessNote) => flag,
  completions: ({ flag }: Completion) => flag,
} as const;

const ALL_MAPS = { ...MAPS, ...MAPS_ABOUT_FLAGS };
type MapName = keyof typeof ALL_MAPS;
const isMapName = (text: string): text is MapName => Object.hasOwn(ALL_MAPS, text);

/** The sections of a snapshot: the state, and the lineage of the events that led to it. */
export function snapshotSections(world: World): SnapshotSection[] {
  return [...stateSections(world), { name: 'lineage', records: world.lineage.recorded }];
}

/** The state alone, without what tells histories apart that come to the same state. */
export function stateSections({ directory, projects, addonRecords }: World): SnapshotSection[] {
  const all = [...projects.values()];
  const sectionsOf = (maps: object) =>
    (Object.keys(maps) as MapName[]).map((name) => ({ name, records: valuesOf(directory[name]) }));
  const chunks = all.flatMap((project) => project.flags.chunks);
  return [
    { name: 'counters', records: [countersOf(directory)] },
    { name: 'environments', records: directory.environments },
    ...sectionsOf(MAPS),
    {
      name: 'projects',
      records: all.map(
        (project): ProjectRecord => ({
          settings: project.settings,
          members: [...project.members],
          defaultStrategies: [...project.defaultStrategies],
          groups: [...project.groups],
          revision: project.revision,
          environmentsRevision: project.environmentsRevision,
        }),
      ),
    },
    { name: 'flags', records: flagRecords(chunks), batches: flagBatches(chunks) },
    ...sectionsOf(MAPS_ABOUT_FLAGS),
    { name: 'favorites', records: [...directory.favorites.values()] },
    { name: 'answers', records: [...directory.responses.values()] },
    { name: 'addonRecords', records: recordsToSave(addonRecords) },
  ];
}

const countersOf = (directory: DirectoryState): Counters =>
  Object.fromEntries(
    Object.entries(directory).filter(([, value]) => typeof value === 'number'),
  ) as unknown as Counters;

/** Can be read again. */
const valuesOf = (map: ReadonlyMap<string | number, unknown>): Iterable<unknown> => ({
  [Symbol.iterator]: () => map.values(),
});

/** Puts one record of a snapshot into a state that is being made. Throws on a section that this version does not know. */
export function loadSnapshotRecord(draft: Draft, section: string, record: unknown): void {
  const directory = directoryIn(draft);
  if (isMapName(section)) {
    const records = directory as unknown as Record<MapName, PersistentMap<string | number, unknown>>;
    const keyOf = ALL_MAPS[section] as (one: unknown) => string | number;
    const key = keyOf(record);
    const isThere = !Object.hasOwn(MAPS_ABOUT_FLAGS, section) || draft.flagProjects.has(String(key));
    assert(isThere, 'only a flag that exists is noted or completed');
    assert(!records[section].has(key), 'a record is in a snapshot once');
    return putRecord(draft, records, section, [key, record]);
  }
  switch (section) {
    case 'counters':
      assert(Object.values(record as Counters).every(Number.isSafeInteger), 'counters are numbers');
      Object.assign(directory, record as Counters);
      return;
    case 'environments': {
      const environment = record as Environment;
      const isNew = directory.environments.every(({ name }) => name !== environment.name);
      assert(isNew, 'an environment is recorded once');
      directory.environments = [...directory.environments, environment];
      draft.memoryBytes += growthOf(null, record);
      return;
    }
    case 'favorites':
      return loadFavorites(draft, record as Favorites);
    case 'lineage':
      draft.lineage = draft.lineage.restored(record as LineageEntry);
      return;
    case 'answers':
      directory.responses = directory.responses.restored(record as DatedResponse, draft.edit);
      return;
    case 'addonRecords':
      return loadAddonRecord(draft, record as AddonRecord);
    case 'projects':
      return loadProject(draft, record as ProjectRecord);
    case 'flags': {
      const { flag } = record as FlagSnapshotRecord;
      shareInFlag(flag);
      return loadFlag(draft, record as FlagSnapshotRecord);
    }
    default:
      throw new Error(`the snapshot has a section "${section}", which this version does not know`);
  }
}

function loadFlag(draft: Draft, { flag, revision, createdBy = null }: FlagSnapshotRecord): void {
  const project = draft.projects.get(flag.project);
  if (project === undefined) throw new Error(`the snapshot has the flag ${flag.name} of no project`);
  assert(!draft.flagProjects.has(flag.name), 'a flag is recorded once');
  putFlag(draft, project, { flag, revision, createdBy });
}

function loadProject(draft: Draft, record: ProjectRecord): void {
  const { settings, members, groups = [], defaultStrategies = [], revision, environmentsRevision } = record;
  const { edit } = draft;
  assert(!draft.projects.has(settings.id), 'a project is recorded once');
  assert(environmentsRevision <= revision, 'a project is as new as its newest part');
  draft.memoryBytes += growthOf(null, settings);
  for (const [, roleId] of [...members, ...groups]) draft.memoryBytes += growthOf(null, roleId);
  for (const [, strategy] of defaultStrategies) draft.memoryBytes += growthOf(null, strategy);
  draft.projects = draft.projects.with(
    settings.id,
    {
      ...newProject(settings, { revision, edit }),
      members: PersistentMap.of(members),
      groups: PersistentMap.of(groups),
      defaultStrategies: PersistentMap.of(defaultStrategies),
      environmentsRevision,
    },
    edit,
  );
}

/**
 * SHA-256 of the state, hexadecimal: equal for equal states, whichever way they came about. Two states that differ
 * only in the order of an object's keys count as equal.
 */
export function stateHash(world: World): string {
  return sectionsHash(stateSections(world));
}

/** `stateHash` of a state as snapshot sections. */
export function sectionsHash(sections: readonly SnapshotSection[]): string {
  const packr = new Packr({ useRecords: false });
  const hash = createHash('sha256');
  for (const { name, records } of sections) {
    hash.update(name);
    for (const record of records) hash.update(packr.pack(canonical(record)));
  }
  return hash.digest('hex');
}

function canonical(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(canonical);
  if (typeof value !== 'object' || value === null) return value;
  return Object.keys(value)
    .sort()
    .map((key) => [key, canonical((value as Record<string, unknown>)[key])]);
}

// The flags of a snapshot in batches, which are written into blocks of their own: what has not changed stands in the same bytes as before.

/** Chunks with fewer flags are written together, so that many small projects do not make as many small blocks. */
const BATCH_FLAGS_MIN = 64;

/** Can be read again. */
const flagBatches = (chunks: readonly FlagChunk[]): Iterable<RecordBatch> => ({
  *[Symbol.iterator]() {
    let batch: FlagChunk[] = [];
    let count = 0;
    for (const chunk of chunks) {
      batch.push(chunk);
      count += chunk.values.length;
      if (count < BATCH_FLAGS_MIN) continue;
      yield { parts: batch, records: flagRecords(batch) };
      batch = [];
      count = 0;
    }
    if (count > 0) yield { parts: batch, records: flagRecords(batch) };
  },
});

const flagRecords = (chunks: readonly FlagChunk[]): Iterable<FlagSnapshotRecord> => ({
  *[Symbol.iterator]() {
    for (const { values } of chunks)
      for (const { flag, revision, createdBy } of values) yield { flag, revision, createdBy };
  },
});
