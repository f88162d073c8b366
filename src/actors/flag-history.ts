/**
 * A flag as it was right after any event that is kept: rebuilt from the events about it, and about what its shape
 * depends on (its project's environments, the service's environments, who depends on it). Only those are read, by
 * the index of the event log, and applied by the one function that live commands use (invariant 1), to a small
 * world that holds nothing else. Where retention has dropped the flag's first events, a kept snapshot begins it.
 *
 * A change of several events was never seen in part: the moment of an event in its middle is the end of the change.
 */

import type { Flag } from '../domain/flags/flag.ts';
import { apply } from '../domain/state/apply.ts';
import type { DomainEvent } from '../domain/state/events.ts';
import { notFound, type Refusal } from '../domain/state/refusal.ts';
import { emptyWorld, type ProjectState, type World } from '../domain/state/world.ts';
import type { FileSystem } from '../persistence/disk/file-system.ts';
import type { EventFilter } from '../persistence/event-log/event-filter.ts';
import type { EventLog, WalkedEvent } from '../persistence/event-log/event-log.ts';
import { lastEventId } from '../persistence/journal/frame.ts';
import { listSnapshots } from '../persistence/snapshots/snapshot-files.ts';
import { readSnapshot } from '../persistence/snapshots/snapshot-reader.ts';
import { loadSnapshotRecord } from './world-snapshot.ts';

export interface FlagHistoryOptions {
  readonly fs: FileSystem;
  /** The folder of the snapshots. */
  readonly snapshots: string;
  readonly eventLog: EventLog;
}

export interface PastFlag {
  readonly refused?: never;
  readonly flag: Flag;
  /** The flag's surroundings then: its project, and the service's environments. */
  readonly world: World;
  readonly project: ProjectState;
  /** The last event of the change whose outcome this is. */
  readonly eventId: number;
}

export interface PastFlagQuery {
  readonly project: string;
  readonly flag: string;
  readonly eventId: number;
  /** Nothing newer may be shown (invariant 4). */
  readonly durableId: number;
}

export class FlagHistory {
  readonly #options: FlagHistoryOptions;

  constructor(options: FlagHistoryOptions) {
    this.#options = options;
  }

  /** The refusal is a 404 that says what is not there: the event, the events before it, or the flag at that time. */
  async flagAt(query: PastFlagQuery): Promise<PastFlag | Refusal> {
    const { project: projectId, flag: name, eventId, durableId } = query;
    if (eventId < 1 || eventId > durableId) {
      return notFound(`There is no event ${eventId}: the newest is ${durableId}.`);
    }
    const end = await this.#endOfChange(eventId);
    const world = emptyWorld();
    const start = await this.#startOf(world, query, end);
    if (start === null) return notFound(this.#tooOld(eventId));
    const past = new PastWorld(world, projectId);
    const walk = { from: start + 1, to: end, anyOf: aspectsOf(query) };
    for await (const walked of this.#options.eventLog.iterateRecorded(walk)) past.apply(walked);
    const project = world.projects.get(projectId);
    const flag = project?.flags.get(name)?.flag;
    if (project === undefined || flag === undefined) {
      return notFound(
        `There was no flag "${name}" in the project "${projectId}" right after event ${eventId}.`,
      );
    }
    return { flag, world, project, eventId: end };
  }

  /** An event that is no longer kept stands for itself: only a snapshot of that very event can show it. */
  async #endOfChange(eventId: number): Promise<number> {
    const frame = await this.#options.eventLog.readFrame(eventId);
    return frame === null ? eventId : lastEventId(frame);
  }

  /** The event after which the walk begins: 0, or that of a snapshot loaded into `world`; null when neither will do. */
  async #startOf(world: World, query: PastFlagQuery, end: number): Promise<number | null> {
    const { fs, snapshots, eventLog } = this.#options;
    if (eventLog.firstId <= 1) return 0;
    const files = (await listSnapshots(fs, snapshots)).toReversed();
    for (const { id, path } of files) {
      if (id > end || id < eventLog.firstId - 1) continue;
      const onRecord = (section: string, record: unknown): void => {
        if (concerns(section, record, query)) loadSnapshotRecord(world, section, record);
      };
      const reading = await readSnapshot({ fs, path, onRecord });
      if (reading.problem === null) return id;
      clear(world);
    }
    return null;
  }

  #tooOld(eventId: number): string {
    const { firstId } = this.#options.eventLog;
    return `The events before ${firstId} are no longer kept, and no snapshot is left that reaches back to event ${eventId}.`;
  }
}

function clear(world: World): void {
  world.projects.clear();
  world.directory.flagProjects.clear();
  world.directory.environments = [];
}

/** Of a snapshot, only what the flag's shape depends on. */
function concerns(section: string, record: unknown, { project, flag }: PastFlagQuery): boolean {
  if (section === 'environments') return true;
  if (section === 'projects') return (record as { settings: { id: string } }).settings.id === project;
  if (section !== 'flags') return false;
  const { flag: recorded } = record as { flag: Flag };
  return recorded.name === flag && recorded.project === project;
}

/** The events that a flag's shape comes from. */
function aspectsOf({ project, flag }: PastFlagQuery): readonly EventFilter[] {
  return [
    { project, feature: flag },
    { project, types: PROJECT_TYPES },
    { project, types: DEPENDENCY_TYPES },
    { types: ENVIRONMENT_TYPES },
  ];
}

const PROJECT_TYPES: readonly DomainEvent['type'][] = [
  'project-created',
  'project-updated',
  'project-deleted',
  'project-environment-added',
  'project-environment-removed',
];
/** They change the flag that they name, and the other one: a parent lists its children. */
const DEPENDENCY_TYPES: readonly DomainEvent['type'][] = [
  'feature-dependency-added',
  'feature-dependency-removed',
  'feature-dependencies-removed',
];
const ENVIRONMENT_TYPES: readonly DomainEvent['type'][] = [
  'environment-created',
  'environment-updated',
  'environment-deleted',
];

/** Applies a selection of events, making up the other flags that events about dependencies name. */
class PastWorld {
  readonly #world: World;
  readonly #projectId: string;

  constructor(world: World, projectId: string) {
    this.#world = world;
    this.#projectId = projectId;
  }

  apply({ id, frame, event }: WalkedEvent): void {
    const domainEvent = event as DomainEvent;
    for (const name of flagsTouchedBy(domainEvent)) this.#ensureFlag(name, id);
    apply(this.#world, domainEvent, { id, createdAt: new Date(frame.at).toISOString() });
  }

  #ensureFlag(name: string, id: number): void {
    const project = this.#world.projects.get(this.#projectId);
    if (project === undefined || project.flags.has(name)) return;
    project.flags.set(name, { flag: standIn(name, this.#projectId), revision: id, projections: null });
  }
}

function flagsTouchedBy(event: DomainEvent): readonly string[] {
  switch (event.type) {
    case 'feature-dependency-added':
      return [event.featureName, event.data.feature];
    case 'feature-dependency-removed':
      return [event.featureName, event.preData.feature];
    case 'feature-dependencies-removed':
      return [event.featureName, ...event.preData.dependencies.map(({ feature }) => feature)];
    default:
      return [];
  }
}

/** Holds the place of another flag, and is never shown. */
const standIn = (name: string, project: string): Flag => ({
  name,
  project,
  description: null,
  type: 'release',
  stale: false,
  impressionData: false,
  createdAt: '',
  archivedAt: null,
  environments: [],
  tags: [],
  dependencies: [],
  children: [],
});
