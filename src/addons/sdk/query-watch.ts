/**
 * Follows what one query shows, for all clients that ask it: what they have missed, and all of it for those that are new.
 *
 * It is brought up to date when it is read, from the changes since the last time; a flag that changed a thousand
 * times in between is looked at once. It follows the state, which is ahead of the disk: responses that show it wait until
 * its id is durable (invariant 4).
 */
import type { Change } from '../../actors/change-feed.ts';
import type { ServedState } from '../../actors/served-state.ts';
import { atOnce, inTurns, type Requester, until } from '../../actors/turn.ts';
import { typesThatReach } from '../../domain/state/event-types.ts';
import type { DomainEvent } from '../../domain/state/events.ts';
import type { FlagRecord } from '../../domain/state/flag-record.ts';
import type { WorldOwner } from '../../domain/state/world.ts';
import { passes } from '../../http/serving/flag-filter.ts';
import { surroundingsOf } from './client-document.ts';
import { type ClientQuery, coversProject, projectsOf } from './client-query.ts';
import type { SegmentSource } from './evaluation/segment-test.ts';
import { segmentJson } from './flag-view.ts';
import type { FlagBlocks, FlagLook } from './json-blocks.ts';
import { Hydration } from './stream-format.ts';
import { LOG_CHARACTERS_MAX, WatchLog } from './watch-log.ts';

export interface QueryWatchOptions {
  readonly engine: ServedState;
  readonly query: ClientQuery;
  readonly blocks: FlagBlocks;
  /** The present limit on the characters of its log. */
  readonly logCharactersMax?: () => number;
}

/** Bytes of an entry of a map: the name of a flag and what it looks like, by reference. */
const FLAG_BYTES = 48;

/** A watch takes some memory however few its flags are. */
const WATCH_BYTES = 2 * 1024;

export class QueryWatch {
  readonly query: ClientQuery;
  readonly #engine: ServedState;
  readonly #blocks: FlagBlocks;
  readonly #content: QueryContent;
  readonly #logCharactersMax: () => number;
  #log: WatchLog | null = null;
  /** The newest event that the content shows for certain. */
  #checkedId = -1;
  /**
   * The id of the change that was found last. No later change gets a smaller one: changes are announced in the order in
   * which they were found, because only in that order does each segment exist for as long as a flag refers to it.
   */
  #seenAs = -1;
  /** Changes found and not yet announced; there are some only while flags are looked at in turns. */
  #found: VisibleChange[] = [];
  /** Set while flags are looked at in turns. */
  #looking: Promise<void> | null = null;

  constructor({ engine, query, blocks, logCharactersMax }: QueryWatchOptions) {
    this.query = query;
    this.#engine = engine;
    this.#blocks = blocks;
    this.#logCharactersMax = logCharactersMax ?? (() => LOG_CHARACTERS_MAX);
    this.#content = new QueryContent({ state: engine, query, blocks });
  }

  /** To be read in the same step in which the watch was brought up to date. */
  get log(): WatchLog {
    if (this.#log === null) throw new Error('a watch is brought up to date before it is read');
    return this.#log;
  }

  /** About the bytes that it takes. What flags look like is counted where it is shared. */
  get bytes(): number {
    return WATCH_BYTES + this.#content.flagCount * FLAG_BYTES + (this.#log?.characters ?? 0);
  }

  /** All that the query shows, to be asked for in the same step in which the watch was brought up to date. */
  hydration(): Hydration {
    const { world } = this.#engine;
    const { query } = this;
    const { segments } = world.directory;
    return new Hydration({
      id: this.log.newestId,
      query,
      chunks: [...projectsOf(world, query)].flatMap(({ flags }) => flags.chunks),
      segments: this.#content.segments,
      blocks: this.#blocks,
      around: { ...surroundingsOf(world, query), segment: (id) => segments.get(id) },
    });
  }

  /** Brings it up to date; in a promise where that takes long, for which `payer` is charged. */
  refresh(payer?: Requester): undefined | Promise<void> {
    if (this.#looking !== null) return this.#looking;
    const { lastId } = this.#engine;
    if (lastId === this.#checkedId) return undefined;
    const looks = this.#looksDue();
    const steps = until(() => this.#takeOne(looks));
    if (atOnce(steps) !== null) {
      this.#tell(lastId);
      return undefined;
    }
    this.#looking = inTurns(steps, payer)
      .finally(() => {
        this.#looking = null;
      })
      .then(() => {
        this.#tell(lastId);
        // What has changed meanwhile is looked at afterwards.
        return this.refresh(payer);
      });
    return this.#looking;
  }

  /** The looks that are due for the events since the last time. */
  #looksDue(): Iterator<readonly VisibleChange[]> {
    const { lastId, feed } = this.#engine;
    const changes = this.#checkedId < 0 ? 'too-old' : feed.appliedSince(this.#checkedId, lastId);
    const effects = changes === 'too-old' ? null : effectsOf(changes, this.query);
    const seenAs = (eventId: number): number => {
      // In turns, a flag is seen as it is by then. It must not be announced before the change that made it so is durable.
      const newest = this.#engine.lastId === lastId ? eventId : this.#engine.lastId;
      this.#seenAs = Math.max(this.#seenAs, newest);
      return this.#seenAs;
    };
    if (effects !== null && effects.everything === null) return looksAt(this.#content, effects, seenAs);
    const everything = effects?.everything ?? lastId;
    return looksAtAll(this.#content, () => seenAs(everything));
  }

  /** True when there is nothing further to look at. */
  #takeOne(looks: Iterator<readonly VisibleChange[]>): boolean {
    const next = looks.next();
    if (next.done === true) return true;
    // Without a reader so far, no reader has missed anything.
    if (this.#log !== null) this.#found.push(...next.value);
    return false;
  }

  /** All flags were looked at since event `lastId`. The content shows the state after it, and where others came meanwhile, some of theirs. */
  #tell(lastId: number): void {
    this.#checkedId = lastId;
    if (this.#log === null) {
      if (this.#engine.lastId === lastId) this.#log = this.#newLog();
      return;
    }
    // What is announced under the id of a later event waits for all that the event changed: who has an update with an id has all up to it.
    const later = this.#found.findIndex(({ eventId }) => eventId > lastId);
    const told = this.#found.splice(0, later === -1 ? this.#found.length : later);
    if (told.length === 0) return;
    this.#log.append({ id: told.at(-1)!.eventId, changes: told.map(({ json }) => json).join(',') });
  }

  /**
   * Begins with the newest event that can have changed what the query shows. It is made of the state alone, so after a restart
   * a client that has everything is known to have it.
   */
  #newLog(): WatchLog {
    const { world } = this.#engine;
    const { directory } = world;
    const revisions = Array.from(projectsOf(world, this.query), ({ revision }) => revision);
    const newestId = Math.max(directory.revision, directory.accessRevision, ...revisions);
    return new WatchLog(newestId, this.#logCharactersMax);
  }
}

function* looksAt(
  content: QueryContent,
  { segments, flags }: EventEffects,
  seenAs: (eventId: number) => number,
): Generator<readonly VisibleChange[]> {
  for (const [id, eventId] of segments) yield content.lookAtSegment(id, seenAs(eventId));
  for (const [name, eventId] of flags) yield content.lookAtFlag(name, seenAs(eventId));
}

function* looksAtAll(content: QueryContent, eventId: () => number): Generator<readonly VisibleChange[]> {
  for (const name of content.names()) yield content.lookAtFlag(name, eventId());
}

// The flags and segments of a query that events may have changed. Too many is harmless: each is looked at.

interface EventEffects {
  readonly flags: ReadonlyMap<string, number>;
  readonly segments: ReadonlyMap<number, number>;
  /** The id of an event that may have changed every flag; null where there was none. */
  readonly everything: number | null;
}

function effectsOf(changes: readonly Change[], query: ClientQuery): EventEffects {
  const flags = new Map<string, number>();
  const segments = new Map<number, number>();
  let everything: number | null = null;
  for (const change of changes) {
    for (const [at, recorded] of change.events.entries()) {
      const event = recorded as DomainEvent;
      const eventId = change.id + at;
      if (event.featureName !== null) {
        if (isInScope(event, query)) flags.set(event.featureName, eventId);
      } else if (REACHING_ALL.has(event.type)) {
        if (isInScope(event, query)) everything = eventId;
      } else {
        const segment = segmentOf(event);
        if (segment !== null) segments.set(segment, eventId);
      }
    }
  }
  return { flags, segments, everything };
}

function isInScope({ environment, project }: DomainEvent, query: ClientQuery): boolean {
  const isOfEnvironment = environment === null || environment === query.environment;
  return isOfEnvironment && (project === null || coversProject(query, project));
}

/** Types of events that may change every flag of their environment, or of their project. */
const REACHING_ALL: ReadonlySet<string> = new Set(typesThatReach('environment', 'project'));

function segmentOf(event: DomainEvent): number | null {
  switch (event.type) {
    case 'segment-created':
    case 'segment-updated':
      return event.data.id;
    case 'segment-deleted':
      return event.preData.id;
    default:
      return null;
  }
}

// The content of a query: the look of each flag, and the segments that the flags refer to. All queries of an
// environment share the looks, so a query takes little for each flag. Looking at a flag or a segment again returns
// the changes that clients must get; most events change nothing that they see.
//
// Clients that go by these changes know segments, so segments are never inlined.

export interface VisibleChange {
  /** The id of the event that it comes from, or of the newest of several. */
  readonly eventId: number;
  readonly json: string;
}

export interface QueryContentOptions {
  readonly state: WorldOwner;
  readonly query: ClientQuery;
  readonly blocks: FlagBlocks;
}

interface UsedSegment {
  json: string;
  flagCount: number;
}

export class QueryContent {
  readonly #options: QueryContentOptions;
  readonly #flags = new Map<string, FlagLook>();
  readonly #segments = new Map<number, UsedSegment>();
  /** Names of flags that refer to a segment that does not exist. */
  readonly #incomplete = new Set<string>();

  constructor(options: QueryContentOptions) {
    this.#options = options;
  }

  get flagCount(): number {
    return this.#flags.size;
  }

  /** The segments as JSON, by id. */
  get segments(): string[] {
    return [...this.#segments].sort(([a], [b]) => a - b).map(([, { json }]) => json);
  }

  /** Names of all flags that it shows, or that it has to show now. Changes may happen while they are gone through. */
  *names(): Generator<string> {
    const { state, query } = this.#options;
    for (const { flags } of projectsOf(state.world, query)) yield* flags.keys();
    for (const [name, { project }] of this.#flags) {
      if (state.world.flagProjects.get(name) !== project) yield name;
    }
  }

  /** Changes of the flag that clients must get after event `eventId`. */
  lookAtFlag(name: string, eventId: number): readonly VisibleChange[] {
    const record = this.#recordOf(name);
    const before = this.#flags.get(name);
    if (record === null) return before === undefined ? [] : this.#remove(name, before, eventId);
    const { state, query, blocks } = this.#options;
    const { json, look, sources } = blocks.of(record, surroundingsOf(state.world, query));
    const used = sources.filter((segment) => segment !== undefined);
    if (used.length < sources.length) this.#incomplete.add(name);
    else this.#incomplete.delete(name);
    if (before?.digest === look.digest) return [];
    this.#flags.set(name, look);
    const hasMoved = before !== undefined && before.project !== look.project;
    return [
      ...used.flatMap((segment) => this.#use(segment, eventId)),
      ...(hasMoved ? [flagRemoved(eventId, name, before.project)] : []),
      { eventId, json: `{"type":"feature-updated","eventId":${eventId},"feature":${json}}` },
      ...(before?.segments ?? []).flatMap((id) => this.#release(id, eventId)),
    ];
  }

  /** Changes of the segment, and of flags that refer to it, that clients must get after event `eventId`. */
  lookAtSegment(id: number, eventId: number): readonly VisibleChange[] {
    const segment = this.#options.state.world.directory.segments.get(id);
    const used = this.#segments.get(id);
    if (segment === undefined && used === undefined) return [];
    if (segment === undefined) return this.#lookAtFlags(this.#usersOf(id), eventId);
    if (used === undefined) return this.#lookAtFlags([...this.#incomplete], eventId);
    const json = segmentJson(segment);
    if (json === used.json) return [];
    used.json = json;
    return [segmentUpdated(eventId, json)];
  }

  #lookAtFlags(names: readonly string[], eventId: number): readonly VisibleChange[] {
    return names.flatMap((name) => this.lookAtFlag(name, eventId));
  }

  #usersOf(id: number): readonly string[] {
    return [...this.#flags].filter(([, { segments }]) => segments.includes(id)).map(([name]) => name);
  }

  /** Null for a flag that the query does not show. */
  #recordOf(name: string): FlagRecord | null {
    const { state, query } = this.#options;
    const { world } = state;
    const project = world.flagProjects.get(name);
    if (project === undefined || !coversProject(query, project)) return null;
    const record = world.projects.get(project)?.flags.get(name);
    if (record === undefined || record.flag.archivedAt !== null) return null;
    return passes(query, record.flag) ? record : null;
  }

  #remove(name: string, { project, segments }: FlagLook, eventId: number): readonly VisibleChange[] {
    this.#flags.delete(name);
    this.#incomplete.delete(name);
    return [flagRemoved(eventId, name, project), ...segments.flatMap((id) => this.#release(id, eventId))];
  }

  #use(segment: SegmentSource, eventId: number): readonly VisibleChange[] {
    const used = this.#segments.get(segment.id);
    if (used !== undefined) {
      used.flagCount += 1;
      return [];
    }
    const json = segmentJson(segment);
    this.#segments.set(segment.id, { json, flagCount: 1 });
    return [segmentUpdated(eventId, json)];
  }

  #release(id: number, eventId: number): readonly VisibleChange[] {
    const used = this.#segments.get(id);
    if (used === undefined) return [];
    used.flagCount -= 1;
    if (used.flagCount > 0) return [];
    this.#segments.delete(id);
    return [{ eventId, json: JSON.stringify({ type: 'segment-removed', eventId, segmentId: id }) }];
  }
}

function flagRemoved(eventId: number, featureName: string, project: string): VisibleChange {
  return { eventId, json: JSON.stringify({ type: 'feature-removed', eventId, featureName, project }) };
}

function segmentUpdated(eventId: number, segmentJson: string): VisibleChange {
  return { eventId, json: `{"type":"segment-updated","eventId":${eventId},"segment":${segmentJson}}` };
}
