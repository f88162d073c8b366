/**
 * Rebuilds a flag as it was right after any event that is kept, from the events about the flag and about what its
 * shape depends on: its project's environments, the service's environments, and its children. Only those events are
 * read, through the index of the event log, and applied by the function that live commands use (invariant 1) to a
 * small state that holds nothing else. When retention has removed the flag's first events, the rebuild begins with a
 * kept snapshot.
 *
 * Nobody ever saw a part of a change with several events, so an event in the middle of one stands for its end.
 */

import assert from 'node:assert/strict';
import type { Flag } from '../domain/flags/flag.ts';
import { INITIAL_METADATA } from '../domain/flags/metadata.ts';
import { apply } from '../domain/state/apply.ts';
import type { DomainEvent } from '../domain/state/events.ts';
import { notFound, type Refusal } from '../domain/state/refusal.ts';
import { emptyWorld, type ProjectState, type World } from '../domain/state/world.ts';
import { type FileSystem, isMissing, withFile } from '../persistence/disk/file-system.ts';
import type { EventFilter } from '../persistence/event-log/event-filter.ts';
import type { EventLog, WalkedEvent } from '../persistence/event-log/event-log.ts';
import { lastEventId } from '../persistence/journal/frame.ts';
import { listSnapshots, type SnapshotFile } from '../persistence/snapshots/snapshot-files.ts';
import { readSnapshot } from '../persistence/snapshots/snapshot-reader.ts';
import { loadSnapshotRecord } from './state/world-snapshot.ts';

/** Fewer bytes of events than these are read at once; no snapshot is worth a look. */
const SNAPSHOT_WORTH_BYTES = 256 * 1024;

export interface FlagHistoryOptions {
  readonly fs: FileSystem;
  /** The folder of the snapshots. */
  readonly snapshots: string;
  readonly eventLog: EventLog;
}

export interface PastFlag {
  readonly refused?: never;
  readonly flag: Flag;
  /** The project and the environments of the service at that time. */
  readonly world: World;
  readonly project: ProjectState;
  /** The last event of the change that led to this state. */
  readonly eventId: number;
  /** When that change was made, in milliseconds since 1970; null where only a snapshot tells of it. */
  readonly atMs: number | null;
}

export interface PastFlagQuery {
  readonly project: string;
  readonly flag: string;
  readonly eventId: number;
  /** Nothing newer may be shown (invariant 4). */
  readonly durableId: number;
  /** What an evaluation needs besides: segments, and these flags as they were. */
  readonly evaluation?: { readonly parents: readonly string[] };
  /** Nobody waits for the flag any more once it is aborted: the reading rejects with its reason. */
  readonly signal?: AbortSignal;
  /** Told for how many milliseconds each piece of the reading has held the event loop. */
  readonly charge?: ((heldMs: number) => void) | undefined;
}

/** The refusal where everything is known of that time, and the flag was not there. */
interface Absence extends Refusal {
  readonly isAbsence: true;
}

export const isAbsence = (refusal: Refusal): boolean => (refusal as Partial<Absence>).isAbsence === true;

export class FlagHistory {
  readonly #options: FlagHistoryOptions;

  constructor(options: FlagHistoryOptions) {
    this.#options = options;
  }

  /** The refusal is a 404 that says what is missing: the event, the events before it, or the flag at that time. */
  async flagAt(query: PastFlagQuery): Promise<PastFlag | Refusal> {
    const { project: projectId, flag: name, eventId, durableId } = query;
    if (eventId < 1 || eventId > durableId) {
      return notFound(`There is no event ${eventId}: the newest is ${durableId}.`);
    }
    const { id: end, atMs } = await this.#endOfChange(eventId);
    assert(end >= eventId, 'a change ends with the event asked for, or after it');
    const world = emptyWorld();
    const start = await this.#startOf(world, query, end);
    if (start === null) return notFound(this.#tooOld(eventId));
    assert(start <= end, 'the rebuild begins with an older state');
    const past = new PastWorld(world, projectId);
    const walk = {
      from: start + 1,
      to: end,
      anyOf: aspectsOf(query),
      signal: query.signal,
      charge: query.charge,
    };
    for await (const walked of this.#options.eventLog.iterateRecorded(walk)) past.apply(walked);
    const project = world.projects.get(projectId);
    const record = project?.flags.get(name);
    const flag = record?.flag;
    assert((record?.revision ?? 0) <= end, 'nothing of the rebuilt state is newer than the change');
    if (project === undefined || flag === undefined) {
      const message = `There was no flag "${name}" in the project "${projectId}" right after event ${eventId}.`;
      const absence: Absence = { ...notFound(message), isAbsence: true };
      return absence;
    }
    assert(flag.name === name && flag.project === projectId, 'the rebuilt flag is the one asked for');
    return { flag, world, project, eventId: end, atMs };
  }

  /** For an event that is no longer kept, only a snapshot of exactly that event can show the flag. */
  async #endOfChange(eventId: number): Promise<{ readonly id: number; readonly atMs: number | null }> {
    const frame = await this.#options.eventLog.readFrame(eventId);
    return frame === null ? { id: eventId, atMs: null } : { id: lastEventId(frame), atMs: frame.at };
  }

  /**
   * The event after which the replay begins: 0, or that of the nearest snapshot, which is loaded into `world`, where the
   * events before it are gone or would take longer to read. Null when nothing reaches.
   */
  async #startOf(world: World, query: PastFlagQuery, end: number): Promise<number | null> {
    const { fs, snapshots, eventLog } = this.#options;
    const isWhole = eventLog.firstId <= 1;
    for (const file of (await listSnapshots(fs, snapshots)).toReversed()) {
      if (file.id > end || file.id < eventLog.firstId - 1) continue;
      if (isWhole && !(await this.#isShorter(file, query))) return 0;
      if (await loadInto(world, { fs, path: file.path, query })) return file.id;
      clear(world);
    }
    return isWhole ? 0 : null;
  }

  /** Whether the snapshot is fewer bytes to decode than the events before it. */
  async #isShorter({ id, path }: SnapshotFile, query: PastFlagQuery): Promise<boolean> {
    const { fs, eventLog } = this.#options;
    const walk = { from: 1, to: id, anyOf: aspectsOf(query), signal: query.signal };
    const eventBytes = await eventLog.walkBytes(walk);
    if (eventBytes < SNAPSHOT_WORTH_BYTES) return false;
    return eventBytes > (await withFile(fs, path, (file) => file.size()));
  }

  #tooOld(eventId: number): string {
    const { firstId } = this.#options.eventLog;
    return `The events before ${firstId} are no longer kept, and no snapshot is left that reaches back to event ${eventId}.`;
  }
}

/** False when the snapshot is damaged, or when retention has just deleted it. */
async function loadInto(
  world: World,
  { fs, path, query }: { readonly fs: FileSystem; readonly path: string; readonly query: PastFlagQuery },
): Promise<boolean> {
  const onRecord = (section: string, record: unknown): void => {
    query.signal?.throwIfAborted();
    if (concerns(section, record, query)) loadSnapshotRecord(world, section, record);
  };
  try {
    return (await readSnapshot({ fs, path, onRecord, charge: query.charge })).problem === null;
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}

function clear(world: World): void {
  world.projects.clear();
  world.directory.flagProjects.clear();
  world.directory.segments.clear();
  world.directory.environments = [];
}

/** Loads only the part of a snapshot that the flag's shape depends on. */
function concerns(section: string, record: unknown, query: PastFlagQuery): boolean {
  const { project, flag, evaluation } = query;
  if (section === 'environments') return true;
  if (section === 'projects') return (record as { settings: { id: string } }).settings.id === project;
  if (section === 'segments') return evaluation !== undefined;
  if (section !== 'flags') return false;
  const { flag: recorded } = record as { flag: Flag };
  const isWanted = recorded.name === flag || evaluation?.parents.includes(recorded.name) === true;
  return isWanted && recorded.project === project;
}

/** The events that determine a flag's shape, and what an evaluation needs besides. */
function aspectsOf({ project, flag, evaluation }: PastFlagQuery): readonly EventFilter[] {
  const besides: readonly EventFilter[] =
    evaluation === undefined
      ? []
      : [{ types: SEGMENT_TYPES }, ...evaluation.parents.map((feature) => ({ project, feature }))];
  return [
    { project, feature: flag },
    ...besides,
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
/** These events change the flag that they name and the other flag too, because a parent lists its children. */
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

const SEGMENT_TYPES: readonly DomainEvent['type'][] = [
  'segment-created',
  'segment-updated',
  'segment-deleted',
];

/** Applies a selection of events, with placeholders for the other flags that events about dependencies name. */
class PastWorld {
  readonly #world: World;
  readonly #projectId: string;
  #appliedId = 0;

  constructor(world: World, projectId: string) {
    this.#world = world;
    this.#projectId = projectId;
  }

  apply({ id, frame, event }: WalkedEvent): void {
    assert(id > this.#appliedId, 'events are applied in order, each once');
    this.#appliedId = id;
    const domainEvent = event as DomainEvent;
    for (const name of flagsTouchedBy(domainEvent)) this.#ensureFlag(name, id);
    const { rules } = frame;
    apply(this.#world, domainEvent, { id, createdAt: new Date(frame.at).toISOString(), rules });
  }

  #ensureFlag(name: string, id: number): void {
    const project = this.#world.projects.get(this.#projectId);
    if (project === undefined || project.flags.has(name)) return;
    project.flags.add({ flag: standIn(name, this.#projectId), revision: id, createdBy: null, bytes: 0 });
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

/** A placeholder for another flag, which is never shown. */
const standIn = (name: string, project: string): Flag => ({
  name,
  project,
  ...INITIAL_METADATA,
  createdAt: '',
  archivedAt: null,
  environments: [],
  tags: [],
  dependencies: [],
  children: [],
});
