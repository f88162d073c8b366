/**
 * Renders a project's overview and list of flags by joining the cached summaries of its flags. Both are cached until
 * something in the project changes, or the health figure does, which also depends on the date. After a change of one
 * flag most bytes are the same, so they are kept in blocks, and only blocks with a changed summary are made again.
 */
import { endOfLife, type Staleness, stalenessOf } from '../../../domain/flags/lifetime.ts';
import {
  type FlagRecord,
  type ProjectState,
  projectEnvironments,
  type World,
} from '../../../domain/state/world.ts';
import type { FlagsSeen } from '../../../domain/usage/last-seen.ts';
import { environmentsRevision, etagOf, seenTag } from '../../dispatch/etag.ts';
import { type FlagFilter, passes } from '../../dispatch/flag-filter.ts';
import { blocksOf, type JsonBlock, withList } from '../../dispatch/json-blocks.ts';
import { type TaggedResponse, taggedResponse } from '../../dispatch/json-response.ts';
import { type FlagSources, flagSummary } from './render-flag.ts';

/** The format versions of these responses (docs/specification/flags.md#overview). */
const OVERVIEW_VERSION = 1;
const FLAG_LIST_VERSION = 2;

interface ProjectBytes {
  readonly revision: number;
  /** Of the lineage, whose names are in the ETags. */
  readonly renames: number;
  /** Of what is known of the use of flags, all projects together. */
  readonly seenVersion: number;
  /** Of the ETag: for the latest use of a flag of the project. */
  readonly seenTag: string;
  readonly blocks: readonly JsonBlock[];
  readonly health: Health;
  overview: TaggedResponse | null;
  list: TaggedResponse | null;
}

export interface Health {
  /** Percent. */
  readonly percent: number;
  /** When it was computed, in milliseconds since 1970. */
  readonly validFrom: number;
  /** When the next flag exceeds the lifetime of its type. */
  readonly validUntil: number;
}

/** Also not valid before it was computed, because clocks are sometimes set back. */
export function isHealthOf({ validFrom, validUntil }: Health, now: number): boolean {
  return validFrom <= now && now < validUntil;
}

/** Keyed by the objects of the state, so the bytes of a deleted project are collected with it. */
const cache = new WeakMap<ProjectState, ProjectBytes>();

/** The newest event that the overview and the list show. */
export function projectRevision(world: World, project: ProjectState): number {
  return Math.max(project.revision, environmentsRevision(world, project));
}

export function projectOverview(sources: FlagSources, project: ProjectState, now: number): TaggedResponse {
  const { world } = sources;
  const bytes = bytesOf(sources, project, now);
  bytes.overview ??= taggedResponse(
    etagOf(world, bytes.revision, `-${bytes.health.percent}${bytes.seenTag}`),
    withList(overviewHead(world, project, bytes.health), 'features', bytes.blocks),
  );
  return bytes.overview;
}

export function flagList(sources: FlagSources, project: ProjectState, now: number): TaggedResponse {
  const bytes = bytesOf(sources, project, now);
  bytes.list ??= taggedResponse(
    etagOf(sources.world, bytes.revision, bytes.seenTag),
    withList({ version: FLAG_LIST_VERSION }, 'features', bytes.blocks),
  );
  return bytes.list;
}

export interface WantedFlags {
  readonly filter: FlagFilter;
  /** Null: any. */
  readonly state: Staleness | null;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** The list of some of the flags, put together anew each time. */
export function filteredFlagList(
  sources: FlagSources,
  project: ProjectState,
  { filter, state, now }: WantedFlags,
): TaggedResponse {
  const { world, seen } = sources;
  const isWanted = ({ flag }: FlagRecord) =>
    passes(filter, flag) && (state === null || stalenessOf(flag, now) === state);
  const summaries = summariesOf(sources, project, isWanted);
  // Between two changes flags only grow older, one after the other, so the count tells which of them are listed.
  const ageTag = state === null ? '' : `-${summaries.length}`;
  return taggedResponse(
    etagOf(world, projectRevision(world, project), `${ageTag}${seenTag(latestUse(project, seen))}`),
    withList({ version: FLAG_LIST_VERSION }, 'features', blocksOf(summaries, [])),
  );
}

function bytesOf(sources: FlagSources, project: ProjectState, now: number): ProjectBytes {
  const { world, seen } = sources;
  const revision = projectRevision(world, project);
  const known = cache.get(project);
  const { renames } = world.lineage;
  const isSame = known?.revision === revision && known.renames === renames;
  if (isSame && known.seenVersion === seen.version && isHealthOf(known.health, now)) return known;
  const fresh: ProjectBytes = {
    revision,
    renames,
    seenVersion: seen.version,
    seenTag: seenTag(latestUse(project, seen)),
    blocks: blocksOf(summariesOf(sources, project), known?.blocks ?? []),
    health: healthOf(project, now),
    overview: null,
    list: null,
  };
  cache.set(project, fresh);
  return fresh;
}

/** Milliseconds since 1970; 0 when none was seen. */
function latestUse({ flags }: ProjectState, seen: FlagsSeen): number {
  let latestMs = 0;
  for (const name of flags.keys()) latestMs = Math.max(latestMs, seen.flag(name)?.atMs ?? 0);
  return latestMs;
}

function summariesOf(
  sources: FlagSources,
  project: ProjectState,
  isWanted: (record: FlagRecord) => boolean = () => true,
): string[] {
  const summaries: string[] = [];
  for (const record of project.flags.values()) {
    if (record.flag.archivedAt === null && isWanted(record))
      summaries.push(flagSummary(sources, project, record));
  }
  return summaries;
}

function overviewHead(world: World, project: ProjectState, health: Health) {
  const { name, description, defaultStickiness, createdAt, updatedAt } = project.settings;
  return {
    version: OVERVIEW_VERSION,
    name,
    description: description ?? '',
    health: health.percent,
    members: project.members.size,
    defaultStickiness,
    createdAt,
    updatedAt,
    environments: projectEnvironments(world, project).map((one) => ({ environment: one.name })),
  };
}

/** Share of the unarchived flags that are neither stale nor older than their type's lifetime; 100 with none. */
export function healthOf(project: ProjectState, now: number): Health {
  let count = 0;
  let healthyCount = 0;
  let validUntil = Number.POSITIVE_INFINITY;
  for (const { flag } of project.flags.values()) {
    if (flag.archivedAt !== null) continue;
    count += 1;
    if (flag.stale) continue;
    const end = endOfLife(flag);
    if (end <= now) continue;
    healthyCount += 1;
    validUntil = Math.min(validUntil, end);
  }
  const percent = count === 0 ? 100 : Math.round((100 * healthyCount) / count);
  return { percent, validFrom: now, validUntil };
}
