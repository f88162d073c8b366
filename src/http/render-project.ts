/**
 * A project's overview and list of flags: the cached summaries of its flags, joined. Kept until something in the
 * project changes, or until the health figure does, which also depends on the date.
 */
import { type Flag, LIFETIME_DAYS } from '../domain/flag.ts';
import { type ProjectState, projectEnvironments, type World } from '../domain/world.ts';
import { type TaggedReply, taggedReply } from './json-reply.ts';
import { environmentsRevision, etagOf, flagSummary } from './render-flag.ts';

/** The format versions of these answers (decisions.md §2). */
const OVERVIEW_VERSION = 1;
const FLAG_LIST_VERSION = 2;

const DAY_MS = 24 * 60 * 60 * 1000;

interface ProjectBytes {
  readonly revision: number;
  readonly features: string;
  readonly health: Health;
  overview: TaggedReply | null;
  list: TaggedReply | null;
}

export interface Health {
  /** Percent. */
  readonly percent: number;
  /** Milliseconds since 1970: when it was worked out, */
  readonly validFrom: number;
  /** and when the next flag outlives its type. */
  readonly validUntil: number;
}

/** Not before it was worked out either: clocks are set back at times. */
export function isHealthOf({ validFrom, validUntil }: Health, now: number): boolean {
  return validFrom <= now && now < validUntil;
}

/** Keyed by the state's own objects: a deleted project's bytes go with it. */
const cache = new WeakMap<ProjectState, ProjectBytes>();

/** The newest event that the overview and the list show. */
export function projectRevision(world: World, project: ProjectState): number {
  return Math.max(project.revision, environmentsRevision(world, project));
}

export function projectOverview(world: World, project: ProjectState, now: number): TaggedReply {
  const bytes = bytesOf(world, project, now);
  bytes.overview ??= taggedReply(
    etagOf(world, `${bytes.revision}-${bytes.health.percent}`),
    withFeatures(overviewHead(world, project, bytes.health), bytes.features),
  );
  return bytes.overview;
}

export function flagList(world: World, project: ProjectState, now: number): TaggedReply {
  const bytes = bytesOf(world, project, now);
  bytes.list ??= taggedReply(
    etagOf(world, bytes.revision),
    withFeatures({ version: FLAG_LIST_VERSION }, bytes.features),
  );
  return bytes.list;
}

function bytesOf(world: World, project: ProjectState, now: number): ProjectBytes {
  const revision = projectRevision(world, project);
  const known = cache.get(project);
  if (known !== undefined && known.revision === revision && isHealthOf(known.health, now)) return known;
  const fresh: ProjectBytes = {
    revision,
    features: joinSummaries(world, project),
    health: healthOf(project, now),
    overview: null,
    list: null,
  };
  cache.set(project, fresh);
  return fresh;
}

function joinSummaries(world: World, project: ProjectState): string {
  const summaries: string[] = [];
  for (const record of project.flags.values()) {
    if (record.flag.archivedAt === null) summaries.push(flagSummary(world, project, record));
  }
  return summaries.join(',');
}

function overviewHead(world: World, project: ProjectState, health: Health) {
  const { name, description, defaultStickiness, createdAt, updatedAt } = project.settings;
  return {
    version: OVERVIEW_VERSION,
    name,
    description,
    health: health.percent,
    members: project.members.size,
    defaultStickiness,
    createdAt,
    updatedAt,
    environments: projectEnvironments(world, project).map((one) => ({ environment: one.name })),
  };
}

/** Puts the summaries, which are JSON already, in as the last field. */
function withFeatures(head: object, features: string): Buffer {
  return Buffer.from(`${JSON.stringify(head).slice(0, -1)},"features":[${features}]}`);
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

function endOfLife(flag: Flag): number {
  const days = LIFETIME_DAYS[flag.type];
  return days === null ? Number.POSITIVE_INFINITY : timeOf(flag.createdAt) + days * DAY_MS;
}

/** Times already read: `Date.parse` of every flag would take a third of an overview. Flags made at once share theirs. */
const times = new Map<string, number>();

/** Protects memory; beyond it the map begins anew. */
const TIMES_MAX = 100_000;

function timeOf(createdAt: string): number {
  let time = times.get(createdAt);
  if (time === undefined) {
    if (times.size >= TIMES_MAX) times.clear();
    time = Date.parse(createdAt);
    times.set(createdAt, time);
  }
  return time;
}
