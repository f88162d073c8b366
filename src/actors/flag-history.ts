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
import { applyTo } from '../domain/state/apply.ts';
import { typesThatReach } from '../domain/state/event-types.ts';
import type { DomainEvent } from '../domain/state/events.ts';
import { putFlag } from '../domain/state/records.ts';
import { notFound, type Refusal } from '../domain/state/refusal.ts';
import { draftOf, emptyWorld, type ProjectState, type World } from '../domain/state/world.ts';
import { type FileSystem, unlessMissing, withFile } from '../persistence/disk/file-system.ts';
import type { EventFilter } from '../persistence/event-log/event-filter.ts';
import type { EventLog } from '../persistence/event-log/event-log.ts';
import type { WalkedEvent } from '../persistence/event-log/event-walk.ts';
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

/** Some flags of a project as they were. */
export interface PastFlags {
  readonly refused?: never;
  /** Holds those flags that were there, the environments of the service, and what an evaluation needs, if requested. */
  readonly world: World;
  /** Undefined where it was not there. */
  readonly project: ProjectState | undefined;
  /** The last event of the change that led to this state. */
  readonly eventId: number;
  /** The time of that change, in milliseconds since 1970; null where only a snapshot has it. */
  readonly atMs: number | null;
}

export interface PastFlag extends PastFlags {
  readonly flag: Flag;
  readonly project: ProjectState;
}

export interface PastFlagsQuery {
  readonly project: string;
  readonly flags: readonly string[];
  readonly eventId: number;
  /** Nothing newer may be shown (invariant 4). */
  readonly durableId: number;
  /** Also reads what evaluating the flags needs: segments, and these parents as they were. */
  readonly evaluation?: { readonly parents: readonly string[] };
  /** Aborted once no caller waits for the flags: the reading rejects with its reason. */
  readonly signal?: AbortSignal | undefined;
  /** Told for how many milliseconds each piece of the reading has held the event loop. */
  readonly charge?: ((heldMs: number) => void) | undefined;
}

export interface PastFlagQuery extends Omit<PastFlagsQuery, 'flags'> {
  readonly flag: string;
}

export class FlagHistory {
  readonly #options: FlagHistoryOptions;

  constructor(options: FlagHistoryOptions) {
    this.#options = options;
  }

  /** The refusal is a 404 that names what is missing: the event, the events before it, or the flag at that time. */
  async flagAt({ flag: name, ...query }: PastFlagQuery): Promise<PastFlag | Refusal> {
    const { project: projectId, eventId } = query;
    const past = await this.flagsAt({ ...query, flags: [name] });
    if (past.refused) return past;
    const { project } = past;
    const flag = project?.flags.get(name)?.flag;
    if (project === undefined || flag === undefined) {
      return noFlagThen({ project: projectId, flag: name, eventId });
    }
    assert(flag.name === name && flag.project === projectId, 'the rebuilt flag is the one asked for');
    return { ...past, flag, project };
  }

  /** Several flags, read in one go. The refusal is a 404, of the event or of the events before it. */
  async flagsAt(query: PastFlagsQuery): Promise<PastFlags | Refusal> {
    const { project: projectId, flags, eventId, durableId, signal, charge } = query;
    if (eventId < 1 || eventId > durableId) {
      return notFound(`There is no event ${eventId}: the newest is ${durableId}.`);
    }
    const { id: end, atMs } = await this.#endOfChange(eventId);
    signal?.throwIfAborted();
    assert(end >= eventId, 'a change ends with the event asked for, or after it');
    const firstId = this.#options.eventLog.oldestId(durableId);
    const begin = await this.#startOf(query, { from: firstId, to: end });
    if (begin === null) {
      const problem = `The events before ${firstId} are no longer kept, and no snapshot is left that reaches back to event ${eventId}.`;
      return notFound(problem);
    }
    const { id: start } = begin;
    assert(start <= end, 'the rebuild begins with an older state');
    assert(start >= firstId - 1, 'the rebuild leaves no event out');
    let { world } = begin;
    let appliedId = start;
    const walk = { from: start + 1, to: end, anyOf: aspectsOf(query), signal, charge };
    for await (const walked of this.#options.eventLog.iterate(walk)) {
      assert(walked.id > appliedId, 'events are applied in order, each once');
      appliedId = walked.id;
      world = afterPast(world, projectId, walked);
    }
    const project = world.projects.get(projectId);
    for (const name of flags)
      assert(
        (project?.flags.get(name)?.revision ?? 0) <= end,
        'nothing of the rebuilt state is newer than the change',
      );
    return { world, project, eventId: end, atMs };
  }

  /** For an event that is no longer kept, only a snapshot of exactly that event can show the flag. */
  async #endOfChange(eventId: number): Promise<{ readonly id: number; readonly atMs: number | null }> {
    const frame = await this.#options.eventLog.readFrame(eventId);
    return frame === null ? { id: eventId, atMs: null } : { id: lastEventId(frame), atMs: frame.at };
  }

  /**
   * The state with which the replay begins: the empty one, or that of the nearest snapshot, where the events before it are gone or
   * would take longer to read. Null when nothing reaches.
   */
  async #startOf(
    query: PastFlagsQuery,
    { from: firstId, to: end }: { readonly from: number; readonly to: number },
  ): Promise<{ readonly id: number; readonly world: World } | null> {
    const { fs, snapshots } = this.#options;
    const isWhole = firstId === 1;
    for (const file of (await listSnapshots(fs, snapshots)).toReversed()) {
      if (file.id > end || file.id < firstId - 1) continue;
      if (isWhole && !(await this.#isShorter(file, query))) break;
      const world = await partIn({ fs, path: file.path, query });
      if (world !== null) return { id: file.id, world };
    }
    return isWhole ? { id: 0, world: emptyWorld() } : null;
  }

  /** Whether the snapshot is fewer bytes to decode than the events before it. */
  async #isShorter({ id, path }: SnapshotFile, query: PastFlagsQuery): Promise<boolean> {
    const { fs, eventLog } = this.#options;
    const walk = { from: 1, to: id, anyOf: aspectsOf(query), signal: query.signal };
    const eventBytes = await eventLog.walkBytes(walk);
    if (eventBytes < SNAPSHOT_WORTH_BYTES) return false;
    return eventBytes > (await withFile(fs, path, (file) => file.size()));
  }
}

export function noFlagThen({
  flag,
  project,
  eventId,
}: Pick<PastFlagQuery, 'flag' | 'project' | 'eventId'>): Refusal {
  return notFound(`There was no flag "${flag}" in the project "${project}" right after event ${eventId}.`);
}

/** Reads what the query needs of a snapshot; null when it is damaged, or when retention has just deleted it. */
async function partIn({
  fs,
  path,
  query,
}: {
  readonly fs: FileSystem;
  readonly path: string;
  readonly query: PastFlagsQuery;
}): Promise<World | null> {
  const draft = draftOf(emptyWorld());
  const onRecord = (section: string, record: unknown): void => {
    query.signal?.throwIfAborted();
    if (concerns(section, record, query)) loadSnapshotRecord(draft, section, record);
  };
  const reading = await unlessMissing(readSnapshot({ fs, path, onRecord, charge: query.charge }), null);
  return reading?.problem === null ? draft : null;
}

/** Whether a record is in the part of a snapshot that the flag's shape depends on. */
function concerns(section: string, record: unknown, query: PastFlagsQuery): boolean {
  const { project, flags, evaluation } = query;
  if (section === 'environments') return true;
  if (section === 'projects') return (record as { settings: { id: string } }).settings.id === project;
  if (section === 'segments') return evaluation !== undefined;
  if (section !== 'flags') return false;
  const { flag: recorded } = record as { flag: Flag };
  const isWanted = flags.includes(recorded.name) || evaluation?.parents.includes(recorded.name) === true;
  return isWanted && recorded.project === project;
}

/** The events that determine a flag's shape, and what an evaluation needs besides. */
function aspectsOf({ project, flags, evaluation }: PastFlagsQuery): readonly EventFilter[] {
  const besides: readonly EventFilter[] =
    evaluation === undefined
      ? []
      : [{ type: SEGMENT_TYPES }, ...evaluation.parents.map((feature) => ({ project, feature }))];
  return [
    { project, feature: flags },
    ...besides,
    { project, type: PROJECT_TYPES },
    { project, type: DEPENDENCY_TYPES },
    { type: ENVIRONMENT_TYPES },
  ];
}

const PROJECT_TYPES = typesThatReach('project', 'project settings');
/** These events change the flag that they name and the other flag too, because a parent lists its children. */
const DEPENDENCY_TYPES = typesThatReach('other flag');
const ENVIRONMENT_TYPES = typesThatReach('environment');
const SEGMENT_TYPES = typesThatReach('segment');

/** The state after one of a selection of events, with placeholders for the other flags that events about dependencies name. */
function afterPast(world: World, projectId: string, { id, frame, event }: WalkedEvent): World {
  const domainEvent = event as DomainEvent;
  const draft = draftOf(world);
  for (const name of flagsTouchedBy(domainEvent)) {
    const project = draft.projects.get(projectId);
    if (project === undefined || project.flags.has(name)) continue;
    putFlag(draft, project, { flag: standIn(name, projectId), revision: id, createdBy: null });
  }
  const { rules } = frame;
  applyTo(draft, [domainEvent], { id, createdAt: new Date(frame.at).toISOString(), rules });
  return draft;
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
