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
import {
  dropFlag,
  dropRecord,
  noteFlag,
  putFlag,
  putRecord,
  replaceFlag,
  stateBytes,
} from '../../domain/state/records.ts';
import {
  type ApiToken,
  type DirectoryDraft,
  type Draft,
  directoryIn,
  draftOf,
  emptyWorld,
  newProject,
  type ProjectSettings,
  type ProjectState,
  projectIn,
  type World,
} from '../../domain/state/world.ts';
import { coreUsedMs } from '../../process/schedule-times.ts';
import type { UpstreamDocument, UpstreamEvent } from './upstream-document.ts';

/** Changes that watches may still ask for; one that is further behind looks at every flag. */
const CHANGES_MAX = 1_000;

/** Flags whose changes are announced one by one; beyond that, every flag may have changed. */
const TOLD_MAX = 250;

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
  #world: World;
  readonly environment: string;
  readonly memoryBudgetBytes: number;
  readonly loopAccounts: LoopAccounts;
  readonly queuedCount = 0;
  readonly journal = { pendingFrames: 0 };
  readonly feed: MirrorFeed;
  #lastId = 0;
  #isFilled = false;
  #fill: () => void = () => undefined;
  /** Resolves once it has. */
  readonly filled = new Promise<void>((resolve) => {
    this.#fill = resolve;
  });

  constructor({ environment, memoryBudgetBytes, monotonicMs, onFault }: MirrorOptions) {
    this.environment = environment;
    this.memoryBudgetBytes = memoryBudgetBytes;
    this.loopAccounts = new LoopAccounts(monotonicMs, coreUsed);
    this.feed = new MirrorFeed(onFault);
    const sortOrder = 0;
    const shape = { type: 'production', enabled: true, protected: false, sortOrder };
    const empty = emptyWorld();
    const environments = [{ name: environment, ...shape }];
    this.#world = { ...empty, directory: { ...empty.directory, environments } };
    cacheOf(this);
  }

  get world(): World {
    return this.#world;
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
    assert(id <= this.#lastId, 'no request waits for an event that does not exist');
    resume();
  }

  /**
   * Takes all that the token covers, in place of what is here. Steps: the state with it is made in turns beside the one that is shown,
   * and shown at one moment. `id`: null where the upstream names no event.
   */
  *replacing(
    { flags, segments }: Pick<UpstreamDocument, 'flags' | 'segments'>,
    id: number | null,
  ): Generator<void, void> {
    const revision = this.#revisionOf(id);
    const base = this.#world;
    const draft = draftOf(base);
    const events: NotedEvent[] = [];
    const sent = new Set<string>();
    for (const flag of flags) {
      sent.add(flag.name);
      events.push(...this.#putFlag(draft, flag, revision));
      yield;
    }
    for (const name of this.#world.flagProjects.keys()) {
      if (!sent.has(name)) events.push(...this.#dropFlag(draft, name, revision));
      yield;
    }
    const isMany = !this.#isFilled || events.length > TOLD_MAX;
    for (const segment of segments) {
      events.push(...this.#putSegment(draft, segment, revision));
      yield;
    }
    const sentSegments = new Set(segments.map((one) => one.id));
    for (const one of this.#world.directory.segments.keys())
      if (!sentSegments.has(one)) events.push(...this.#dropSegment(draft, one, revision));
    this.#show(draft, base);
    this.#tell(id, revision, isMany ? null : events);
  }

  /** Shows a state that was made of `base`, since which tokens may have come and gone. */
  #show(draft: Draft, base: World): void {
    const { apiTokens, accessRevision } = this.#world.directory;
    Object.assign(directoryIn(draft), { apiTokens, accessRevision });
    draft.memoryBytes += this.#world.memoryBytes - base.memoryBytes;
    this.#world = draft;
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
        const draft = draftOf(this.#world);
        const events = together.flatMap((event) => this.#takeOne(draft, event, revision));
        this.#world = draft;
        this.#tell(eventId, revision, events);
      }
      yield;
      at = end;
    }
  }

  #takeOne(draft: Draft, event: UpstreamEvent, revision: number): readonly NotedEvent[] {
    switch (event.type) {
      case 'feature-updated':
        return this.#putFlag(draft, event.flag, revision);
      case 'feature-removed':
        return this.#dropFlag(draft, event.name, revision);
      case 'segment-updated':
        return this.#putSegment(draft, event.segment, revision);
      case 'segment-removed':
        return this.#dropSegment(draft, event.id, revision);
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
    this.#fill();
    // The upstream may have passed by what the token does not cover: its id is the newer one all the same.
    if (events?.length === 0 && revision !== id) return;
    this.#lastId = revision;
    this.feed.add(revision, events);
  }

  #putFlag(draft: Draft, flag: Flag, revision: number): readonly NotedEvent[] {
    const home = draft.flagProjects.get(flag.name);
    const moved =
      home !== undefined && home !== flag.project ? this.#dropFlag(draft, flag.name, revision) : [];
    const project = this.#projectOf(draft, flag.project, revision);
    const before = project.flags.get(flag.name);
    if (before !== undefined && jsonEqual(before.flag, flag)) return [];
    if (before === undefined) putFlag(draft, project, { flag, revision, createdBy: null });
    else {
      const growth = noteFlag(draft, before.flag, flag);
      replaceFlag(draft, project, before, { flag, revision, growth });
    }
    projectIn(draft, draft.projects.get(flag.project)!).revision = revision;
    return [...moved, flagEvent(flag.project, flag.name)];
  }

  #dropFlag(draft: Draft, name: string, revision: number): readonly NotedEvent[] {
    const id = draft.flagProjects.get(name);
    const known = id === undefined ? undefined : draft.projects.get(id);
    const record = known?.flags.get(name);
    if (known === undefined || record === undefined) return [];
    const project = projectIn(draft, known);
    dropFlag(draft, project, record);
    draft.flagProjects = draft.flagProjects.without(name, draft.edit);
    project.revision = revision;
    return [flagEvent(project.settings.id, name)];
  }

  #projectOf(draft: Draft, id: string, revision: number): ProjectState {
    const known = draft.projects.get(id);
    if (known !== undefined) return known;
    const { edit } = draft;
    const project = newProject(settingsOf(id, this.environment), { revision, edit });
    draft.projects = draft.projects.with(id, project, edit);
    return project;
  }

  #putSegment(draft: Draft, segment: Segment, revision: number): readonly NotedEvent[] {
    const known = draft.directory.segments.get(segment.id);
    if (known !== undefined && jsonEqual(known, segment)) return [];
    const directory = directoryIn(draft);
    putRecord(draft, directory, 'segments', [segment.id, segment]);
    directory.revision = revision;
    return [segmentEvent('segment-updated', { data: segment, preData: null })];
  }

  #dropSegment(draft: Draft, id: number, revision: number): readonly NotedEvent[] {
    const segment = draft.directory.segments.get(id);
    if (segment === undefined) return [];
    const directory = directoryIn(draft);
    dropRecord(draft, directory, 'segments', id);
    directory.revision = revision;
    return [segmentEvent('segment-deleted', { data: null, preData: segment })];
  }

  // The tokens of callers. They are no part of what the upstream sends, so they leave its ids alone: the revision of rights counts down.

  putToken(token: ApiToken): void {
    this.#changeTokens((draft, directory) => putRecord(draft, directory, 'apiTokens', [token.digest, token]));
  }

  dropToken(digest: string): void {
    this.#changeTokens((draft, directory) => dropRecord(draft, directory, 'apiTokens', digest));
    this.feed.tellOfTokens();
  }

  #changeTokens(change: (draft: Draft, directory: DirectoryDraft) => void): void {
    const draft = draftOf(this.#world);
    const directory = directoryIn(draft);
    change(draft, directory);
    directory.accessRevision -= 1;
    this.#world = draft;
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

const settingsOf = (id: string, environment: string): ProjectSettings => ({
  ...{ id, name: id, description: null, mode: 'open', defaultStickiness: 'default' },
  ...{ createdAt: '', updatedAt: '', environments: [environment] },
});

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
    // One each: all changes of one id are announced under it, and not under later ids.
    const changes = (events ?? []).map((event): Change => ({ id, ...BY_NOBODY, events: [event] }));
    const all = [...this.#changes, ...changes];
    this.#changes = events === null ? [] : all.slice(-CHANGES_MAX);
    if (this.#changes.length < all.length || events === null) this.#droppedId = this.#changes[0]?.id ?? id;
    const told = events === null ? [{ id, ...BY_NOBODY, events: [] }] : changes;
    tellListeners(this.#listeners, told, this.#onFault);
  }

  tellOfTokens(): void {
    const event = { type: 'api-token-deleted', ...OF_NOTHING, data: null, preData: null } as const;
    tellListeners(this.#listeners, [{ id: 0, ...BY_NOBODY, events: [event] }], this.#onFault);
  }
}
