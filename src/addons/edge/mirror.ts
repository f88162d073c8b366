/**
 * The copy of what one token of an upstream covers: a state that surfaces for SDKs read as they read the engine's, with the event ids
 * of the upstream. So a client may go from one edge to another, or to the upstream itself, and go on where it was.
 *
 * Ids only grow. Where an upstream gives a smaller id to something new, because it was restored or gives none at all, the next number
 * is taken: what is served under an id never changes.
 *
 * Nothing is decided here and nothing is durable here: the upstream has done both before it sent anything.
 */
import assert from 'node:assert/strict';
import { cacheOf } from '../../actors/cache.ts';
import { type Change, type ChangeListener, tellListeners } from '../../actors/change-feed.ts';
import { LoopAccounts } from '../../actors/loop-accounts.ts';
import type { ServedState } from '../../actors/served-state.ts';
import type { Flag } from '../../domain/flags/flag.ts';
import { jsonEqual } from '../../domain/json/json.ts';
import type { Segment } from '../../domain/kinds/segment.ts';
import type { FlagRecord } from '../../domain/state/flag-record.ts';
import { ProjectFlags } from '../../domain/state/project-flags.ts';
import {
  dropFlag,
  dropRecord,
  noteFlag,
  noteGone,
  putRecord,
  stateBytes,
} from '../../domain/state/records.ts';
import { type ApiToken, emptyWorld, type ProjectState, type World } from '../../domain/state/world.ts';
import { coreUsedMs } from '../../process/schedule-times.ts';
import type { UpstreamDocument, UpstreamEvent } from './upstream-document.ts';

/** Changes that watches may still ask for; one that is further behind looks at every flag. */
const CHANGES_MAX = 1_000;

/** Flags that change in their places, at one moment; of more than that, all are put in places beside those that are shown. */
const CHANGED_IN_PLACE_MAX = 250;

/** Processor time of the event loop: on a machine that is busy with something else, waiting would make debtors of all callers. */
const coreUsed = coreUsedMs();

/** An event as far as readers of changes look at it. */
type NotedEvent = Change['events'][number];

export interface MirrorOptions {
  readonly environment: string;
  readonly memoryBudgetBytes: number;
  /** Milliseconds, monotonic. */
  monotonicMs(): number;
  /** Told what a reader of changes threw: its own fault, which stops nothing. */
  onFault(error: unknown): void;
}

export class Mirror implements ServedState {
  readonly world: World = emptyWorld();
  readonly environment: string;
  readonly memoryBudgetBytes: number;
  readonly loopAccounts: LoopAccounts;
  readonly queuedCount = 0;
  readonly journal = { pendingFrames: 0 };
  readonly feed: MirrorFeed;
  #lastId = 0;
  /** Whether the upstream has sent anything yet. */
  #isFilled = false;

  constructor({ environment, memoryBudgetBytes, monotonicMs, onFault }: MirrorOptions) {
    this.environment = environment;
    this.memoryBudgetBytes = memoryBudgetBytes;
    this.loopAccounts = new LoopAccounts(monotonicMs, coreUsed);
    this.feed = new MirrorFeed(onFault);
    const sortOrder = 0;
    const shape = { type: 'production', enabled: true, protected: false, sortOrder };
    this.world.directory.environments = [{ name: environment, ...shape }];
    cacheOf(this);
  }

  get lastId(): number {
    return this.#lastId;
  }

  get durableId(): number {
    return this.#lastId;
  }

  get isFilled(): boolean {
    return this.#isFilled;
  }

  get bytes(): number {
    return stateBytes(this.world);
  }

  whenDurable(id: number, resume: () => void): void {
    assert(id <= this.#lastId, 'nobody waits for an event that there is not');
    resume();
  }

  /**
   * Takes all that the token covers, in place of what is here. Steps: what differs is looked for in turns, and shown at one moment. Where
   * much does, the projects are made anew beside those that are shown, with all that is counted of flags, which nobody sees; so the
   * steps must be taken to their end, or the mirror given up. `id`: null where the upstream names no event.
   */
  *replacing(
    { flags, segments }: Pick<UpstreamDocument, 'flags' | 'segments'>,
    id: number | null,
  ): Generator<void, void> {
    const { flagProjects, segments: known } = this.world.directory;
    const sent = new Map<string, Flag>();
    for (const flag of flags) {
      sent.set(flag.name, flag);
      yield;
    }
    const changed = new Set<Flag>();
    for (const flag of sent.values()) {
      const record = this.#recordOf(flag.name);
      if (record === undefined || !jsonEqual(record.flag, flag)) changed.add(flag);
      yield;
    }
    const gone = [...flagProjects.keys()].filter((name) => !sent.has(name));
    const fresh: Segment[] = [];
    for (const segment of segments) {
      if (!jsonEqual(known.get(segment.id), segment)) fresh.push(segment);
      yield;
    }
    const sentSegments = new Set(segments.map((one) => one.id));
    const goneSegments = [...known.keys()].filter((one) => !sentSegments.has(one));
    const revision = this.#revisionOf(id);
    const isMany = !this.#isFilled || changed.size + gone.length > CHANGED_IN_PLACE_MAX;
    const projects = isMany ? yield* this.#projectsOf({ sent, changed, gone }, revision) : null;
    const events = fresh.flatMap((one) => this.#putSegment(one, revision));
    if (projects === null) {
      events.push(...gone.flatMap((name) => this.#dropFlag(name, revision)));
      for (const flag of changed) events.push(...this.#putFlag(flag, revision));
    } else this.#show(projects, gone);
    events.push(...goneSegments.flatMap((one) => this.#dropSegment(one, revision)));
    this.#tell(id, revision, projects === null ? events : null);
  }

  /** The projects with all that was sent, beside those that are shown. Steps. */
  *#projectsOf(
    { sent, changed, gone }: { sent: Map<string, Flag>; changed: Set<Flag>; gone: readonly string[] },
    revision: number,
  ): Generator<void, ReadonlyMap<string, ProjectState>> {
    const projects = new Map<string, ProjectState>();
    for (const flag of sent.values()) {
      const record = this.#recordOf(flag.name);
      const project = projects.get(flag.project) ?? emptyProject(flag.project, this.environment, revision);
      projects.set(flag.project, project);
      if (record !== undefined && !changed.has(flag)) {
        const { bytes } = record;
        project.flags.add({ flag: record.flag, revision: record.revision, createdBy: null, bytes });
      } else {
        const bytes = (record?.bytes ?? 0) + noteFlag(this.world, record?.flag ?? null, flag);
        project.flags.add({ flag, revision, createdBy: null, bytes });
      }
      yield;
    }
    for (const name of gone) {
      noteGone(this.world, this.#recordOf(name)!);
      yield;
    }
    return projects;
  }

  #show(projects: ReadonlyMap<string, ProjectState>, gone: readonly string[]): void {
    const { flagProjects } = this.world.directory;
    this.world.projects.clear();
    for (const [id, project] of projects) {
      this.world.projects.set(id, project);
      for (const name of project.flags.keys()) flagProjects.set(name, id);
    }
    for (const name of gone) flagProjects.delete(name);
  }

  /** Takes changes in the order in which the upstream sent them. What has one id is shown together. */
  *taking(events: readonly UpstreamEvent[]): Generator<void, void> {
    let at = 0;
    while (at < events.length) {
      const { eventId } = events[at]!;
      let end = at;
      while (end < events.length && events[end]!.eventId === eventId) end += 1;
      const together = events.slice(at, end);
      const whole = together.findLast((event) => event.type === 'hydration');
      if (whole !== undefined) yield* this.replacing(whole, eventId);
      else {
        const revision = this.#revisionOf(eventId);
        const events = together.flatMap((event) => this.#takeOne(event, revision));
        this.#tell(eventId, revision, events);
      }
      yield;
      at = end;
    }
  }

  #takeOne(event: UpstreamEvent, revision: number): readonly NotedEvent[] {
    switch (event.type) {
      case 'feature-updated':
        return this.#putFlag(event.flag, revision);
      case 'feature-removed':
        return this.#dropFlag(event.name, revision);
      case 'segment-updated':
        return this.#putSegment(event.segment, revision);
      case 'segment-removed':
        return this.#dropSegment(event.id, revision);
      case 'hydration':
        throw new Error('a hydration is taken in place of everything');
    }
  }

  /** The upstream's id, or the next number where that is taken. */
  #revisionOf(id: number | null): number {
    return id !== null && id > this.#lastId ? id : this.#lastId + 1;
  }

  /** Tells of a change that was made under the upstream's id. Nothing new is no change. `events`: null where every flag may have changed. */
  #tell(id: number | null, revision: number, events: readonly NotedEvent[] | null): void {
    this.#isFilled = true;
    // The upstream may have passed by what the token does not cover: its id is the newer one all the same.
    if (events?.length === 0 && revision !== id) return;
    this.#lastId = revision;
    this.feed.add(revision, events);
  }

  #recordOf(name: string): FlagRecord | undefined {
    const { directory, projects } = this.world;
    const project = directory.flagProjects.get(name);
    return project === undefined ? undefined : projects.get(project)?.flags.get(name);
  }

  #putFlag(flag: Flag, revision: number): readonly NotedEvent[] {
    const { directory } = this.world;
    const home = directory.flagProjects.get(flag.name);
    const moved = home !== undefined && home !== flag.project ? this.#dropFlag(flag.name, revision) : [];
    const project = this.#projectOf(flag.project, revision);
    const record = project.flags.get(flag.name);
    if (record !== undefined && jsonEqual(record.flag, flag)) return [];
    const bytes = noteFlag(this.world, record?.flag ?? null, flag);
    if (record === undefined) project.flags.add({ flag, revision, createdBy: null, bytes });
    else record.replace({ flag, revision, growth: bytes });
    directory.flagProjects.set(flag.name, flag.project);
    project.revision = revision;
    return [...moved, flagEvent(flag.project, flag.name)];
  }

  #dropFlag(name: string, revision: number): readonly NotedEvent[] {
    const { directory, projects } = this.world;
    const id = directory.flagProjects.get(name);
    const project = id === undefined ? undefined : projects.get(id);
    const record = project?.flags.get(name);
    if (project === undefined || record === undefined) return [];
    dropFlag(this.world, project, record);
    directory.flagProjects.delete(name);
    project.revision = revision;
    return [flagEvent(project.settings.id, name)];
  }

  #projectOf(id: string, revision: number): ProjectState {
    const known = this.world.projects.get(id);
    if (known !== undefined) return known;
    const project = emptyProject(id, this.environment, revision);
    this.world.projects.set(id, project);
    return project;
  }

  #putSegment(segment: Segment, revision: number): readonly NotedEvent[] {
    const { directory } = this.world;
    const known = directory.segments.get(segment.id);
    if (known !== undefined && jsonEqual(known, segment)) return [];
    putRecord(this.world, directory.segments, segment.id, segment);
    directory.revision = revision;
    return [segmentEvent('segment-updated', { data: segment, preData: null })];
  }

  #dropSegment(id: number, revision: number): readonly NotedEvent[] {
    const { directory } = this.world;
    const segment = directory.segments.get(id);
    if (segment === undefined) return [];
    dropRecord(this.world, directory.segments, id);
    directory.revision = revision;
    return [segmentEvent('segment-deleted', { data: null, preData: segment })];
  }

  // The tokens of callers. They are no part of what the upstream sends, so they leave its ids alone: the revision of rights counts down.

  putToken(token: ApiToken): void {
    putRecord(this.world, this.world.directory.apiTokens, token.digest, token);
    this.world.directory.accessRevision -= 1;
  }

  /** Ends the streams of the token too. */
  dropToken(digest: string): void {
    dropRecord(this.world, this.world.directory.apiTokens, digest);
    this.world.directory.accessRevision -= 1;
    this.feed.tellOfTokens();
  }
}

const BY_NOBODY = { at: 0, by: '', userId: 0 } as const;
const OF_NOTHING = { project: null, featureName: null, environment: null } as const;

function flagEvent(project: string, featureName: string): NotedEvent {
  return {
    ...{ type: 'feature-updated', project, featureName, environment: null, data: null, preData: null },
  };
}

function segmentEvent(type: string, parts: Pick<NotedEvent, 'data' | 'preData'>): NotedEvent {
  return { type, ...OF_NOTHING, ...parts };
}

function emptyProject(id: string, environment: string, revision: number): ProjectState {
  return {
    settings: {
      ...{ id, name: id, description: null, mode: 'open', defaultStickiness: 'default' },
      ...{ createdAt: '', updatedAt: '', environments: [environment] },
    },
    ...{ members: new Map(), defaultStrategies: new Map(), groups: new Map(), flags: new ProjectFlags() },
    revision,
    environmentsRevision: revision,
  };
}

/** The newest changes, whose ids have gaps: an upstream tells of what a token covers, and of nothing else. */
class MirrorFeed {
  readonly #onFault: (error: unknown) => void;
  readonly #listeners = new Set<ChangeListener>();
  #changes: Change[] = [];
  /** Changes up to this id may be gone. */
  #droppedId = -1;

  constructor(onFault: (error: unknown) => void) {
    this.#onFault = onFault;
  }

  subscribe(listener: ChangeListener): () => void {
    const own: ChangeListener = (changes) => listener(changes);
    this.#listeners.add(own);
    return () => this.#listeners.delete(own);
  }

  appliedSince(id: number, lastId: number): readonly Change[] | 'too-old' {
    if (id < this.#droppedId) return 'too-old';
    return this.#changes.filter((change) => change.id > id && change.id <= lastId);
  }

  report(error: unknown): void {
    this.#onFault(error);
  }

  /** `events`: null where there are too many to note. */
  add(id: number, events: readonly NotedEvent[] | null): void {
    // One each: all that is told of one id is told under it, and not under the ids behind it.
    const changes = (events ?? []).map((event): Change => ({ id, ...BY_NOBODY, events: [event] }));
    if (events === null || changes.length > CHANGES_MAX) {
      this.#droppedId = id;
      this.#changes = [];
    } else {
      this.#changes.push(...changes);
      if (this.#changes.length > CHANGES_MAX) {
        this.#changes = this.#changes.slice(-CHANGES_MAX / 2);
        this.#droppedId = this.#changes[0]!.id;
      }
    }
    const told = events === null ? [{ id, ...BY_NOBODY, events: [] }] : changes;
    tellListeners(this.#listeners, told, this.#onFault);
  }

  tellOfTokens(): void {
    const event = { type: 'api-token-deleted', ...OF_NOTHING, data: null, preData: null } as const;
    tellListeners(this.#listeners, [{ id: 0, ...BY_NOBODY, events: [event] }], this.#onFault);
  }
}
