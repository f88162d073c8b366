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
import type { PersistentMap } from '../value/persistent-map.ts';
import { applyRecordEvent } from './addon-records.ts';
import {
  addInvited,
  applyConsequences,
  applySessionEvent,
  dropProjectFromTokens,
  dropTokensOfEnvironment,
  leavesRecord,
} from './apply-access.ts';
import { applyFlagEvents } from './apply-flag.ts';
import {
  type DirectoryEvent,
  type DomainEvent,
  type EventStamp,
  type FlagEvent,
  isKindEvent,
  isRecordEvent,
  isSessionEvent,
  type KindEvent,
  type ProjectEvent,
} from './events.ts';
import { changeFavorite, forgetFavorite } from './favorites.ts';
import { dropRecord, noteGone, putRecord } from './records.ts';
import { NAMES_GO_WITH_DELETED } from './replay-rules.ts';
import { withLifetime } from './settings.ts';
import { growthOf } from './state-memory.ts';
import {
  type DirectoryDraft,
  type Draft,
  directoryIn,
  draftOf,
  type Environment,
  newProject,
  type ProjectDraft,
  type ProjectSettings,
  projectIn,
  type World,
} from './world.ts';

/** The state after the events of one change, in their order. `first` is the stamp of the first of them. */
export function applyChange(world: World, events: readonly DomainEvent[], first: EventStamp): World {
  const draft = draftOf(world);
  applyTo(draft, events, first);
  return draft;
}

/** `applyChange` to a state that is being made, as a start does with one change after the other. */
export function applyTo(draft: Draft, events: readonly DomainEvent[], first: EventStamp): void {
  for (let at = 0; at < events.length; at += 1) {
    const run = events.length === 1 ? events : runAt(events, at);
    at += run.length - 1;
    apply(draft, run, stampAt(first, at));
  }
}

/**
 * The event at that place, with those behind it that are of its type and about the same flag in the same environment. They are applied
 * together, because what is derived from the flag would be compared with all its strategies for each of them.
 */
function runAt(events: readonly DomainEvent[], at: number): readonly DomainEvent[] {
  const { type, featureName, environment } = events[at]!;
  let end = at + 1;
  if (featureName !== null && environment !== null)
    while (end < events.length && isOf(events[end]!)) end += 1;
  return events.slice(at, end);

  function isOf(event: DomainEvent): boolean {
    return event.type === type && event.featureName === featureName && event.environment === environment;
  }
}

/** The stamp of the event at `place` in a change. Most changes have one event, and no stamp is made for it. */
function stampAt(first: EventStamp, place: number): EventStamp {
  return place === 0 ? first : { ...first, id: first.id + place };
}

/** `stamp`: that of the last event of the run. */
function apply(draft: Draft, run: readonly DomainEvent[], stamp: EventStamp): void {
  const event = run[0]!;
  if (event.featureName !== null) applyFlagEvents(draft, run as readonly FlagEvent[], stamp);
  else if (isRecordEvent(event)) applyRecordEvent(draft, event, stamp);
  else if (event.project !== null) applyProjectEvent(draft, event as ProjectEvent, stamp);
  else if (isSessionEvent(event)) applySessionEvent(draft, event, stamp);
  else applyDirectoryEvent(draft, event as DirectoryEvent, stamp);
  assert(
    revisionAfter(draft, event) === stamp.id,
    'an event leaves its id as the revision of what it changed',
  );
}

/** The revision of the event's project or kind; that of the sessions, or of the directory for an event without a project or that removed it. */
function revisionAfter({ projects, directory, addonRecords }: World, event: DomainEvent): number | undefined {
  if (isSessionEvent(event)) return directory.sessionsRevision;
  if (isRecordEvent(event)) return addonRecords.get(event.hidden.kind)?.revision;
  const { project } = event;
  return (project === null ? undefined : projects.get(project)?.revision) ?? directory.revision;
}

/** `apply` for events that belong to no project: environments, settings, and the records of kinds. */
function applyDirectoryEvent(draft: Draft, event: DirectoryEvent, stamp: EventStamp): void {
  const directory = directoryIn(draft);
  directory.revision = stamp.id;
  if (isKindEvent(event)) return applyKindEvent(draft, event, stamp);
  switch (event.type) {
    case 'environment-created':
      return setEnvironments(draft, [...directory.environments, event.data], stamp);
    case 'environment-updated':
      return setEnvironments(
        draft,
        directory.environments.map((one) => (one.name === event.environment ? event.data : one)),
        stamp,
      );
    case 'environment-deleted':
      directory.accessRevision = stamp.id;
      if (stamp.rules >= NAMES_GO_WITH_DELETED) dropTokensOfEnvironment(draft, event.environment);
      return setEnvironments(
        draft,
        directory.environments.filter((one) => one.name !== event.environment),
        stamp,
      );
    case 'setting-created':
    case 'setting-updated':
      putRecord(draft, directory, 'settings', [event.data.id, event.data]);
      return;
    case 'feature-type-updated': {
      const setting = withLifetime(directory.settings, event.data.id, event.data.lifetimeDays);
      putRecord(draft, directory, 'settings', [setting.id, setting]);
      return;
    }
    case 'features-exported':
      return;
    case 'public-signup-token-user-added':
      directory.accessRevision = stamp.id;
      return addInvited(draft, event.hidden.digest, event.data.userId);
    default:
      throw new Error(`this version does not know the event type ${(event as { type: string }).type}`);
  }
}

function setEnvironments(draft: Draft, environments: readonly Environment[], stamp: EventStamp): void {
  const directory = directoryIn(draft);
  for (const one of directory.environments) draft.memoryBytes += growthOf(one, null);
  for (const one of environments) draft.memoryBytes += growthOf(null, one);
  directory.environments = [...environments].sort((a, b) => a.sortOrder - b.sortOrder);
  directory.environmentsRevision = stamp.id;
}

function applyKindEvent(draft: Draft, event: KindEvent, stamp: EventStamp): void {
  const directory = directoryIn(draft);
  const { kind, changesRights, isDeletion } = present(EFFECTS.get(event.type));
  if (changesRights) directory.accessRevision = stamp.id;
  const records = directory as unknown as Record<string, PersistentMap<string | number, object>>;
  const { idOf, lastId } = kindOf(kind);
  const hidden = 'hidden' in event ? event.hidden : undefined;
  const shown: object = present(isDeletion ? event.preData : event.data);
  const record = hidden !== undefined && 'digest' in hidden ? { ...shown, digest: hidden.digest } : shown;
  if (isDeletion) dropRecord(draft, records, kind, idOf(record));
  else if (!leavesRecord(event)) putRecord(draft, records, kind, [idOf(record), record]);
  if (!isDeletion && lastId !== undefined) {
    const counter = lastId as KindCounter;
    directory[counter] = Math.max(directory[counter], (record as { readonly id: number }).id);
  }
  applyConsequences(draft, event, stamp);
}

function present<T>(value: T | null | undefined): T {
  assert(value !== null && value !== undefined, 'an event about a kind has what its type says');
  return value;
}

/** `apply` for events about a project as a whole: its settings, environments and memberships. */
function applyProjectEvent(draft: Draft, event: ProjectEvent, stamp: EventStamp): void {
  const { edit } = draft;
  const directory = directoryIn(draft);
  // The list of projects shows settings and numbers of members.
  directory.revision = stamp.id;
  const known = draft.projects.get(event.project);
  if (event.type === 'project-created') {
    if (known !== undefined) throw new Error(`the project ${event.project} is created twice`);
    const project = newProject(event.data, { revision: stamp.id, edit });
    draft.projects = draft.projects.with(event.project, project, edit);
    draft.memoryBytes += growthOf(null, event.data);
    return;
  }
  if (known === undefined) throw new Error(`the event ${event.type} is about ${event.project}, no project`);
  const project = projectIn(draft, known);
  project.revision = stamp.id;
  changeProject({ draft, directory, project, stamp }, event);
}

interface Touched {
  readonly draft: Draft;
  readonly directory: DirectoryDraft;
  readonly project: ProjectDraft;
  readonly stamp: EventStamp;
}

function changeProject(touched: Touched, event: Exclude<ProjectEvent, { type: 'project-created' }>): void {
  const { draft, directory, project, stamp } = touched;
  switch (event.type) {
    case 'project-updated':
      return setSettings(touched, event.data);
    case 'project-deleted':
      return dropProject(touched);
    case 'project-environment-added':
      return setProjectEnvironments(touched, [...project.settings.environments, event.environment]);
    case 'project-environment-removed':
      setProjectEnvironments(
        touched,
        project.settings.environments.filter((name) => name !== event.environment),
      );
      dropRecord(draft, project, 'defaultStrategies', event.environment);
      return dropEnvironment(touched, event.environment);
    case 'default-strategy-updated':
      return putRecord(draft, project, 'defaultStrategies', [event.environment, event.data]);
    case 'features-imported':
    case 'features-applied':
      return;
    case 'project-favorited':
    case 'project-unfavorited':
      return changeFavorite(draft, {
        userId: event.data.userId,
        kind: 'projects',
        name: event.project,
        isMarked: event.type === 'project-favorited',
      });
    case 'project-user-added':
    case 'project-user-role-changed':
      directory.accessRevision = stamp.id;
      return putRecord(draft, project, 'members', [event.data.userId, event.data.roleId]);
    case 'project-group-added':
    case 'project-group-role-changed':
      directory.accessRevision = stamp.id;
      return putRecord(draft, project, 'groups', [event.data.groupId, event.data.roleId]);
    case 'project-group-removed':
      directory.accessRevision = stamp.id;
      return dropRecord(draft, project, 'groups', event.preData.groupId);
    case 'project-user-removed':
      directory.accessRevision = stamp.id;
      return dropRecord(draft, project, 'members', event.preData.userId);
    default:
      throw new Error(`this version does not know the event type ${(event as { type: string }).type}`);
  }
}

function dropProject({ draft, directory, project, stamp }: Touched): void {
  const { settings, flags, defaultStrategies, members, groups } = project;
  const { edit } = draft;
  for (const record of flags.values()) {
    draft.flagProjects = draft.flagProjects.without(record.flag.name, edit);
    noteGone(draft, record);
  }
  for (const records of [defaultStrategies, members, groups])
    for (const record of records.values()) draft.memoryBytes += growthOf(record, null);
  draft.memoryBytes += growthOf(settings, null);
  forgetFavorite(draft, 'projects', settings.id);
  if (stamp.rules >= NAMES_GO_WITH_DELETED) dropProjectFromTokens(draft, settings.id);
  draft.projects = draft.projects.without(settings.id, edit);
  directory.accessRevision = stamp.id;
}

function setSettings({ draft, project }: Touched, settings: ProjectSettings): void {
  draft.memoryBytes += growthOf(project.settings, settings);
  project.settings = settings;
}

function setProjectEnvironments(touched: Touched, environments: readonly string[]): void {
  const { project, stamp } = touched;
  setSettings(touched, { ...project.settings, environments, updatedAt: stamp.createdAt });
  project.environmentsRevision = stamp.id;
}

/** Flags lose their configuration in the environment, so that adding the environment again starts from nothing. */
function dropEnvironment({ draft, project, stamp }: Touched, environment: string): void {
  const { edit } = draft;
  const { id } = project.settings;
  draft.references = draft.references.withoutEnvironment(id, environment, edit);
  draft.served = draft.served.withoutEnvironment(id, environment, edit);
  const [flags, growth] = project.flags.withoutEnvironment(environment, stamp.id);
  project.flags = flags;
  draft.memoryBytes += growth;
}
