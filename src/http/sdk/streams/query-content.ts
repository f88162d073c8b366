/**
 * The content of a query: the look of each flag, and the segments that the flags refer to. All queries of an
 * environment share the looks, so a query takes little for each flag. Looking at a flag or a segment again returns
 * the changes that clients must be told; most events change nothing that they see.
 *
 * Clients that go by these changes know segments, so segments are never inlined.
 */
import type { SegmentSource } from '../../../domain/evaluation/segment-test.ts';
import type { FlagRecord } from '../../../domain/state/flag-record.ts';
import type { World } from '../../../domain/state/world.ts';
import { passes } from '../../serving/flag-filter.ts';
import { surroundingsOf } from '../documents/client-document.ts';
import { type ClientQuery, coversProject, projectsOf } from '../documents/client-query.ts';
import type { FlagBlocks, FlagLook } from '../documents/flag-blocks.ts';
import { segmentJson } from '../documents/flag-view.ts';

/** A change that clients see. */
export interface VisibleChange {
  /** The id of the event that it comes from, or of the newest of several. */
  readonly eventId: number;
  readonly json: string;
}

export interface QueryContentOptions {
  readonly world: World;
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
    const { world, query } = this.#options;
    for (const { flags } of projectsOf(world, query)) yield* flags.keys();
    for (const [name, { project }] of this.#flags) {
      if (world.directory.flagProjects.get(name) !== project) yield name;
    }
  }

  /** Changes of the flag that clients must be told after event `eventId`. */
  lookAtFlag(name: string, eventId: number): readonly VisibleChange[] {
    const record = this.#recordOf(name);
    const before = this.#flags.get(name);
    if (record === null) return before === undefined ? [] : this.#remove(name, before, eventId);
    const { world, query, blocks } = this.#options;
    const { json, look, sources } = blocks.of(record, surroundingsOf(world, query));
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

  /** Changes of the segment, and of flags that refer to it, that clients must be told after event `eventId`. */
  lookAtSegment(id: number, eventId: number): readonly VisibleChange[] {
    const segment = this.#options.world.directory.segments.get(id);
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
    const { world, query } = this.#options;
    const project = world.directory.flagProjects.get(name);
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
