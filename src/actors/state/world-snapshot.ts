/**
 * Converts the state to snapshot sections and back. Loading a snapshot gives the state that replaying from the first
 * event would have given, with the same `stateHash`.
 *
 * Sections are taken in one step: immutable objects are collected by reference, so commands may go on while the
 * snapshot is being written in turns.
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { Packr } from 'msgpackr';
import type { PasswordLink } from '../../domain/access/links.ts';
import type { Session } from '../../domain/access/sessions.ts';
import type { Flag } from '../../domain/flags/flag.ts';
import type { Completion } from '../../domain/flags/lifecycle.ts';
import type { DefaultStrategy } from '../../domain/flags/strategy.ts';
import { ACCESS_KINDS, KINDS, SECRET_KINDS, TARGETING_KINDS } from '../../domain/kinds/kinds.ts';
import { loadFavorites } from '../../domain/state/favorites.ts';
import type { ShelvedFlags } from '../../domain/state/flag-record.ts';
import { type DatedResponse, IdempotencyCache } from '../../domain/state/idempotency-cache.ts';
import type { LineageEntry } from '../../domain/state/lineage.ts';
import { ProjectFlags } from '../../domain/state/project-flags.ts';
import { putFlag, putRecord } from '../../domain/state/records.ts';
import type { Setting } from '../../domain/state/settings.ts';
import {
  type DirectoryState,
  type Environment,
  emptyWorld,
  type Favorites,
  type Identity,
  identityKey,
  type Password,
  type ProjectSettings,
  type StalenessNote,
  type World,
} from '../../domain/state/world.ts';
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

type MapName = keyof typeof MAPS;
const MAP_NAMES = Object.keys(MAPS) as readonly MapName[];
const isMapName = (text: string): text is MapName => Object.hasOwn(MAPS, text);

/** The sections of a snapshot: the state, and the lineage of the events that led to it. */
export function snapshotSections(world: World): SnapshotSection[] {
  return [...stateSections(world), { name: 'lineage', records: world.lineage.recorded }];
}

/** The state alone, without what tells histories apart that come to the same state. */
export function stateSections({ directory, projects }: World): SnapshotSection[] {
  const all = [...projects.values()];
  const shelves = all.flatMap((project) => project.flags.shelved());
  return [
    { name: 'counters', records: [countersOf(directory)] },
    { name: 'environments', records: directory.environments },
    ...MAP_NAMES.map((name) => ({ name, records: [...directory[name].values()] })),
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
    { name: 'flags', records: flagRecords(shelves), batches: flagBatches(shelves) },
    { name: 'potentiallyStale', records: [...directory.potentiallyStale.values()] },
    { name: 'completions', records: [...directory.completions.values()] },
    { name: 'favorites', records: [...directory.favorites.values()] },
    { name: 'answers', records: [...directory.responses.values()] },
  ];
}

const countersOf = (directory: DirectoryState): Counters =>
  Object.fromEntries(
    Object.entries(directory).filter(([, value]) => typeof value === 'number'),
  ) as unknown as Counters;

/** Puts one record of a snapshot into the state. Throws on a section that this version does not know. */
export function loadSnapshotRecord(world: World, section: string, record: unknown): void {
  const { directory, projects } = world;
  if (isMapName(section)) {
    const records: Map<string | number, unknown> = directory[section];
    const keyOf = MAPS[section] as (one: unknown) => string | number;
    const key = keyOf(record);
    assert(!records.has(key), 'a record is in a snapshot once');
    return putRecord(world, records, key, record);
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
      world.memory.replace(null, record);
      return;
    }
    case 'favorites':
      loadFavorites(world, record as Favorites);
      return;
    case 'lineage':
      world.lineage.restore(record as LineageEntry);
      return;
    case 'answers':
      directory.responses.restore(record as DatedResponse);
      return;
    case 'projects':
      loadProject(world, record as ProjectRecord);
      return;
    case 'flags': {
      const { flag, revision, createdBy = null } = record as FlagSnapshotRecord;
      const project = projects.get(flag.project);
      if (project === undefined) throw new Error(`the snapshot has the flag ${flag.name} of no project`);
      assert(!directory.flagProjects.has(flag.name), 'a flag is recorded once');
      shareInFlag(flag);
      putFlag(world, project, { flag, revision, createdBy });
      directory.flagProjects.set(flag.name, flag.project);
      return;
    }
    case 'potentiallyStale': {
      const note = record as StalenessNote;
      assert(directory.flagProjects.has(note.flag), 'only a flag that exists is noted');
      putRecord(world, directory.potentiallyStale, note.flag, note);
      return;
    }
    case 'completions': {
      const completion = record as Completion;
      assert(directory.flagProjects.has(completion.flag), 'only a flag that exists is completed');
      putRecord(world, directory.completions, completion.flag, completion);
      return;
    }
    default:
      throw new Error(`the snapshot has a section "${section}", which this version does not know`);
  }
}

function loadProject({ projects, memory }: World, record: ProjectRecord): void {
  const { settings, members, groups = [], defaultStrategies = [], revision, environmentsRevision } = record;
  assert(!projects.has(settings.id), 'a project is recorded once');
  assert(environmentsRevision <= revision, 'a project is as new as its newest part');
  memory.replace(null, settings);
  for (const [, roleId] of [...members, ...groups]) memory.replace(null, roleId);
  for (const [, strategy] of defaultStrategies) memory.replace(null, strategy);
  projects.set(settings.id, {
    settings,
    members: new Map(members),
    groups: new Map(groups),
    defaultStrategies: new Map(defaultStrategies),
    flags: new ProjectFlags(),
    revision,
    environmentsRevision,
  });
}

/** Empties the state in place, for a recovery that has to begin again with an older snapshot. */
export function clearWorld(world: World): void {
  const fresh = emptyWorld();
  world.projects.clear();
  world.references.clear();
  world.served.clear();
  world.favoredBy.clear();
  world.unsettled.clear();
  world.memory.clear();
  world.lineage.clear();
  for (const part of Object.values(world.directory)) {
    if (part instanceof Map || part instanceof IdempotencyCache) part.clear();
  }
  world.directory.environments = [];
  Object.assign(world.directory, countersOf(fresh.directory));
  const left = snapshotSections(world).find(({ name, records }) => name !== 'counters' && !isEmpty(records));
  assert(left === undefined, `the ${left?.name} of another state are left`);
}

function isEmpty(records: Iterable<unknown>): boolean {
  for (const _ of records) return false;
  return true;
}

/**
 * SHA-256 of the state, hexadecimal: equal for equal states, whichever way they came about. Two states that differ
 * only in the order of an object's keys count as equal.
 */
export function stateHash(world: World): string {
  return sectionsHash(stateSections(world));
}

/** The same of a state that was taken earlier, as snapshot sections. */
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

/** Shelves with fewer flags are written together, so that many small projects do not make as many small blocks. */
const BATCH_FLAGS_MIN = 64;

/** Can be read again. */
const flagBatches = (shelves: readonly ShelvedFlags[]): Iterable<RecordBatch> => ({
  *[Symbol.iterator]() {
    let batch: ShelvedFlags[] = [];
    let count = 0;
    for (const shelved of shelves) {
      batch.push(shelved);
      count += shelved.records.length;
      if (count < BATCH_FLAGS_MIN) continue;
      yield { parts: batch, records: flagRecords(batch) };
      batch = [];
      count = 0;
    }
    if (count > 0) yield { parts: batch, records: flagRecords(batch) };
  },
});

const flagRecords = (shelves: readonly ShelvedFlags[]): Iterable<FlagSnapshotRecord> => ({
  *[Symbol.iterator]() {
    for (const shelved of shelves) {
      for (const [at, { createdBy }] of shelved.records.entries())
        yield { flag: shelved.flagAt(at), revision: shelved.revisionAt(at), createdBy };
    }
  },
});
