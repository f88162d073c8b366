/**
 * The one way to change the state (invariant 1). Live commands and replay after a restart both call it, so recovery
 * rebuilds exactly the state that was running. The outcome depends only on the state, the event and its id, and on no
 * clock, randomness or I/O.
 *
 * An event that does not match the state throws. For a live command that means a wrong decision, and for a replay
 * that the journal does not belong to this state. Neither may be ignored.
 */
import assert from 'node:assert/strict';
import { EFFECTS, type KindCounter, kindOf } from '../kinds/kinds.ts';
import {
  addInvited,
  applyConsequences,
  applySessionEvent,
  dropProjectFromTokens,
  dropTokensOfEnvironment,
  leavesRecord,
} from './apply-access.ts';
import { applyFlagEvent, applyStrategyRun } from './apply-flag.ts';
import {
  type DirectoryEvent,
  type DomainEvent,
  type EventStamp,
  type FlagEvent,
  isKindEvent,
  isSessionEvent,
  type KindEvent,
  type ProjectEvent,
} from './events.ts';
import { changeFavorite, forgetFavorite } from './favorites.ts';
import { ProjectFlags } from './project-flags.ts';
import { dropFlag, dropRecord, putRecord } from './records.ts';
import { NAMES_GO_WITH_DELETED } from './replay-rules.ts';
import { addStep, deleteEntry, deleteInOrder, isRecording, keepFields, setEntry } from './reversible.ts';
import { strategyRun } from './strategy-run.ts';
import {
  type DirectoryState,
  type Environment,
  emptyWorld,
  type ProjectSettings,
  type ProjectState,
  type World,
} from './world.ts';

/** Applies the events of one change, in their order. `first` is the stamp of the first of them. */
export function applyChange(world: World, events: readonly DomainEvent[], first: EventStamp): void {
  if (isRecording()) keepTouched(world, events);
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

/** Fields of the directory that are values themselves: revisions, counters of ids, and the list of environments. */
const DIRECTORY_FIELDS = Object.entries(emptyWorld().directory)
  .filter(([, value]) => typeof value === 'number' || Array.isArray(value))
  .map(([name]) => name as keyof DirectoryState);

const PROJECT_FIELDS: readonly (keyof ProjectState)[] = ['settings', 'revision', 'environmentsRevision'];

/** Records the fields that the events may change of the directory and of projects. */
function keepTouched({ directory, projects }: World, events: readonly DomainEvent[]): void {
  // An event about a flag changes records of the directory at most.
  if (events.some(({ featureName }) => featureName === null)) keepFields(directory, DIRECTORY_FIELDS);
  let kept: string | null = null;
  for (const { project: id } of events) {
    const project = id === null || id === kept ? undefined : projects.get(id);
    if (project !== undefined) keepFields(project, PROJECT_FIELDS);
    kept = id;
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

/** `apply` for events that belong to no project: environments, settings, and the records of kinds. */
function applyDirectoryEvent(world: World, event: DirectoryEvent, stamp: EventStamp): void {
  const { directory } = world;
  directory.revision = stamp.id;
  if (isKindEvent(event)) return applyKindEvent(world, event, stamp);
  switch (event.type) {
    case 'environment-created':
      return setEnvironments(world, [...directory.environments, event.data], stamp);
    case 'environment-updated':
      return setEnvironments(
        world,
        directory.environments.map((one) => (one.name === event.environment ? event.data : one)),
        stamp,
      );
    case 'environment-deleted':
      directory.accessRevision = stamp.id;
      if (stamp.rules >= NAMES_GO_WITH_DELETED) dropTokensOfEnvironment(world, event.environment);
      return setEnvironments(
        world,
        directory.environments.filter((one) => one.name !== event.environment),
        stamp,
      );
    case 'setting-created':
    case 'setting-updated':
      putRecord(world, directory.settings, event.data.id, event.data);
      return;
    case 'features-exported':
      return;
    case 'public-signup-token-user-added':
      directory.accessRevision = stamp.id;
      return addInvited(world, event.hidden.digest, event.data.userId);
    default:
      throw new Error(`this version does not know the event type ${(event as { type: string }).type}`);
  }
}

function setEnvironments(
  { directory, memory }: World,
  environments: readonly Environment[],
  stamp: EventStamp,
): void {
  for (const one of directory.environments) memory.replace(one, null);
  for (const one of environments) memory.replace(null, one);
  directory.environments = [...environments].sort((a, b) => a.sortOrder - b.sortOrder);
  directory.environmentsRevision = stamp.id;
}

function applyKindEvent(world: World, event: KindEvent, stamp: EventStamp): void {
  const { directory } = world;
  const { kind, changesRights, isDeletion } = present(EFFECTS.get(event.type));
  if (changesRights) directory.accessRevision = stamp.id;
  const records: Map<string | number, object> = directory[kind];
  const { idOf, lastId } = kindOf(kind);
  const hidden = 'hidden' in event ? event.hidden : undefined;
  const shown: object = present(isDeletion ? event.preData : event.data);
  const record = hidden !== undefined && 'digest' in hidden ? { ...shown, digest: hidden.digest } : shown;
  if (isDeletion) dropRecord(world, records, idOf(record));
  else if (!leavesRecord(event)) putRecord(world, records, idOf(record), record);
  if (!isDeletion && lastId !== undefined) {
    const counter = lastId as KindCounter;
    directory[counter] = Math.max(directory[counter], (record as { readonly id: number }).id);
  }
  applyConsequences(world, event, stamp);
}

function present<T>(value: T | null | undefined): T {
  assert(value !== null && value !== undefined, 'an event about a kind has what its type says');
  return value;
}

/** `apply` for events about a project as a whole: its settings, environments and memberships. */
function applyProjectEvent(world: World, event: ProjectEvent, stamp: EventStamp): void {
  if (event.type === 'project-created') {
    if (world.projects.has(event.project)) throw new Error(`the project ${event.project} is created twice`);
    setEntry(world.projects, event.project, {
      settings: event.data,
      members: new Map(),
      defaultStrategies: new Map(),
      groups: new Map(),
      flags: new ProjectFlags(),
      revision: stamp.id,
      environmentsRevision: stamp.id,
    });
    world.memory.replace(null, event.data);
    world.directory.revision = stamp.id;
    return;
  }
  const project = world.projects.get(event.project);
  if (project === undefined) throw new Error(`the event ${event.type} is about ${event.project}, no project`);
  project.revision = stamp.id;
  // The list of projects shows settings and numbers of members.
  world.directory.revision = stamp.id;
  changeProject(world, project, event, stamp);
}

function changeProject(
  world: World,
  project: ProjectState,
  event: Exclude<ProjectEvent, { type: 'project-created' }>,
  stamp: EventStamp,
): void {
  switch (event.type) {
    case 'project-updated':
      return setSettings(world, project, event.data);
    case 'project-deleted':
      return dropProject(world, project, stamp);
    case 'project-environment-added':
      setProjectEnvironments(world, project, [...project.settings.environments, event.environment], stamp);
      return;
    case 'project-environment-removed':
      setProjectEnvironments(
        world,
        project,
        project.settings.environments.filter((name) => name !== event.environment),
        stamp,
      );
      dropRecord(world, project.defaultStrategies, event.environment);
      dropEnvironment({ world, project, stamp }, event.environment);
      return;
    case 'default-strategy-updated':
      return putRecord(world, project.defaultStrategies, event.environment, event.data);
    case 'features-imported':
      return;
    case 'project-favorited':
    case 'project-unfavorited':
      return changeFavorite(world, {
        userId: event.data.userId,
        kind: 'projects',
        name: event.project,
        isMarked: event.type === 'project-favorited',
      });
    case 'project-user-added':
    case 'project-user-role-changed':
      world.directory.accessRevision = stamp.id;
      return putRecord(world, project.members, event.data.userId, event.data.roleId);
    case 'project-group-added':
    case 'project-group-role-changed':
      world.directory.accessRevision = stamp.id;
      return putRecord(world, project.groups, event.data.groupId, event.data.roleId);
    case 'project-group-removed':
      world.directory.accessRevision = stamp.id;
      return dropRecord(world, project.groups, event.preData.groupId);
    case 'project-user-removed':
      world.directory.accessRevision = stamp.id;
      return dropRecord(world, project.members, event.preData.userId);
    default:
      throw new Error(`this version does not know the event type ${(event as { type: string }).type}`);
  }
}

function dropProject(world: World, project: ProjectState, stamp: EventStamp): void {
  const { settings, flags, defaultStrategies, members, groups } = project;
  for (const record of flags.values()) {
    deleteEntry(world.directory.flagProjects, record.flag.name);
    dropFlag(world, project, record);
  }
  for (const records of [defaultStrategies, members, groups] as readonly Map<string | number, unknown>[])
    for (const key of [...records.keys()]) dropRecord(world, records, key);
  world.memory.replace(settings, null);
  forgetFavorite(world, 'projects', settings.id);
  if (stamp.rules >= NAMES_GO_WITH_DELETED) dropProjectFromTokens(world, settings.id);
  deleteInOrder(world.projects, settings.id);
  world.served.dropProject(settings.id);
  noteUnsettled(world, flags, false);
  world.directory.accessRevision = stamp.id;
}

function setSettings(world: World, project: ProjectState, settings: ProjectSettings): void {
  world.memory.replace(project.settings, settings);
  project.settings = settings;
}

function setProjectEnvironments(
  world: World,
  project: ProjectState,
  environments: readonly string[],
  stamp: EventStamp,
): void {
  setSettings(world, project, { ...project.settings, environments, updatedAt: stamp.createdAt });
  project.environmentsRevision = stamp.id;
}

/** Flags lose their configuration in the environment, so that adding the environment again starts from nothing. */
function dropEnvironment(
  { world, project, stamp }: { world: World; project: ProjectState; stamp: EventStamp },
  environment: string,
): void {
  const { references, served, memory } = world;
  references.dropEnvironment(project.settings.id, environment);
  served.dropEnvironment(project.settings.id, environment);
  project.flags.dropEnvironment({ environment, revision: stamp.id, memory });
  noteUnsettled(world, project.flags, true);
}

function noteUnsettled({ unsettled }: World, flags: ProjectFlags, isUnsettled: boolean): void {
  if (unsettled.has(flags) === isUnsettled) return;
  const set = (isThere: boolean): void => void (isThere ? unsettled.add(flags) : unsettled.delete(flags));
  set(isUnsettled);
  addStep({ undo: () => set(!isUnsettled), redo: () => set(isUnsettled) });
}
