/**
 * A project's overview and lists of its flags, put together from the cached summaries of its flags (chunk-summaries.ts). They show the
 * project as it was when the request was begun, however many turns they take. Of what they consist nothing is copied before it is
 * sent.
 */
import { cacheOf, partOfEach } from '../../actors/cache.ts';
import { andThen, atOnce, inTurns, type Requester } from '../../actors/turn.ts';
import { type Staleness, stalenessOf } from '../../domain/flags/lifetime.ts';
import type { Lifetimes } from '../../domain/flags/metadata.ts';
import { shownRules } from '../../domain/flags/project-rules.ts';
import { isRefusal, type Refusal } from '../../domain/state/refusal.ts';
import { lifetimesIn } from '../../domain/state/settings.ts';
import {
  type Favorites,
  type ProjectState,
  projectEnvironments,
  type World,
} from '../../domain/state/world.ts';
import { Projection, type Slot } from '../../domain/value/projection.ts';
import { environmentsRevision, etagOf, FAVORITE_TAG } from '../serving/etag.ts';
import { type FlagFilter, passes } from '../serving/flag-filter.ts';
import { type TaggedResponse, taggedResponse } from '../serving/json-response.ts';
import { refuseTooManyPieces } from '../serving/read-path.ts';
import type { ReadResponse } from '../serving/route.ts';
import { BodyPieces, type ResponseBody } from '../transport/response.ts';
import {
  asFavorite,
  type ChunkSummaries,
  forgetSummaries,
  listedFlags,
  summariesWork,
  UseSum,
  withFavorites,
} from './chunk-summaries.ts';
import { type ChunkWork, eachChunk } from './chunk-walk.ts';
import { healthOf, projectFigures } from './project-figures.ts';
import type { FlagSources } from './render-flag.ts';

/** The format versions of these responses (docs/specification/flags.md#overview). */
const OVERVIEW_VERSION = 1;
const FLAG_LIST_VERSION = 2;

/** Up to so many bytes, a body is joined once for all its readers; more stays in pieces, which the engines send one by one. */
const JOINED_BYTES_MAX = 256 * 1024;

/** The sources of a list, and the caller who is charged for making it. */
export interface ListSources extends FlagSources {
  /** The favorites of the caller; null for one who has marked nothing. */
  readonly favorites: Favorites | null;
  readonly requester: Requester;
  /** Bytes of the pieces of which a list may be made. */
  readonly bytesMax: number;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** The newest event that the overview and the list show. */
export function projectRevision(world: World, project: ProjectState): number {
  return Math.max(project.revision, environmentsRevision(world, project));
}

/** One of the responses that are cached until something changes that it shows. */
interface CachedResponse {
  readonly revision: number;
  /** Changes of the lineage, whose names are in the ETags. */
  readonly renames: number;
  /** The version of what is known of the use of flags, all projects together. */
  readonly seenVersion: number;
  readonly lifetimes: Lifetimes;
  /** Between these times, in milliseconds since 1970. */
  readonly validFrom: number;
  readonly validUntil: number;
  readonly response: TaggedResponse;
}

/** Beside the flags of a project. */
const overviews = new Projection<CachedResponse>();
const lists = new Projection<CachedResponse>();

/** Bytes of the summaries, by the slots of chunks. The responses that consist of them go with them. */
const summaryBytesIn = partOfEach<Slot, number>({
  bytesOf: (bytes) => bytes,
  onEvicted: (_bytes, slot) => {
    if (slot.within !== null) {
      overviews.dropIn(slot.within);
      lists.dropIn(slot.within);
    }
    forgetSummaries(slot);
  },
});

type Listed = ReadResponse | Refusal | Promise<ReadResponse | Refusal>;

export function projectOverview(sources: ListSources, project: ProjectState): Listed {
  const { world, requester } = sources;
  const marks = marksIn(sources, project);
  const cached = marks === null ? cachedResponse(overviews, sources, project) : null;
  if (cached !== null) return cached;
  const refusal = refuseLarge(sources, project);
  if (refusal !== null) return refusal;
  const moment = momentOf(sources, project);
  const head = overviewHead(world, project, marks);
  const counting = projectFigures([project], sources, requester);
  const summing = summariesOf(sources, project);
  return andThen(both(counting, summing), ([[figures], summaries]) => {
    if (isRefusal(summaries)) return summaries;
    const health = healthOf(figures!);
    const etag = etagOf(world, moment.revision, `-${health}${useTag(summaries)}${tagOf(marks)}`);
    const response = taggedResponse(etag, listBody({ ...head, health }, summaries, marks));
    const { validFrom, validUntil } = figures!;
    const fresh = { ...moment, validFrom, validUntil, response };
    return marks === null ? cacheResponse(overviews, project, fresh) : fresh;
  });
}

/** Both fail when nobody waits for the response any more: each rejection has to be taken, or it would end the process. */
function both<A, B>(one: A | Promise<A>, other: B | Promise<B>): [A, B] | Promise<[A, B]> {
  if (one instanceof Promise || other instanceof Promise) return Promise.all([one, other]);
  return [one, other];
}

export function flagList(sources: ListSources, project: ProjectState): Listed {
  const marks = flagMarksIn(sources, project);
  const cached = marks === null ? cachedResponse(lists, sources, project) : null;
  if (cached !== null) return cached;
  const refusal = refuseLarge(sources, project);
  if (refusal !== null) return refusal;
  const moment = momentOf(sources, project);
  return andThen(summariesOf(sources, project), (summaries) => {
    if (isRefusal(summaries)) return summaries;
    const etag = etagOf(sources.world, moment.revision, useTag(summaries) + tagOf(marks));
    const response = taggedResponse(etag, listBody({ version: FLAG_LIST_VERSION }, summaries, marks));
    const fresh = { ...moment, ...ALWAYS, response };
    return marks === null ? cacheResponse(lists, project, fresh) : fresh;
  });
}

const ALWAYS = { validFrom: Number.NEGATIVE_INFINITY, validUntil: Number.POSITIVE_INFINITY } as const;

function momentOf(
  { world, seen }: FlagSources,
  project: ProjectState,
): Pick<CachedResponse, 'revision' | 'renames' | 'seenVersion' | 'lifetimes'> {
  const { renames } = world.lineage;
  const lifetimes = lifetimesIn(world, project.settings.id);
  return { revision: projectRevision(world, project), renames, seenVersion: seen.version, lifetimes };
}

function cachedResponse(
  from: Projection<CachedResponse>,
  sources: ListSources,
  project: ProjectState,
): ReadResponse | null {
  const cached = from.get(project.flags);
  if (cached === undefined) return null;
  const { revision, renames, seenVersion, lifetimes } = momentOf(sources, project);
  const isSame =
    cached.revision === revision &&
    cached.renames === renames &&
    cached.seenVersion === seenVersion &&
    cached.lifetimes === lifetimes;
  return isSame && cached.validFrom <= sources.now && sources.now < cached.validUntil ? cached : null;
}

function cacheResponse(
  into: Projection<CachedResponse>,
  project: ProjectState,
  fresh: CachedResponse,
): ReadResponse {
  const before = into.get(project.flags);
  // A slower request may have begun before the one that made what is cached.
  if (before === undefined || before.revision <= fresh.revision) into.set(project.flags, fresh);
  return fresh;
}

/** Bytes of the summary of a flag that stand for each environment, at least. */
const ENVIRONMENT_BYTES_MIN =
  '{"name":,"displayName":,"type":,"enabled":true,"sortOrder":1,"lastSeenAt":null,"variantCount":0,"hasStrategies":true,"hasEnabledStrategies":true,"enabledStrategyCount":0,"rollout":0},'
    .length;

/** By what is known of the flags before anything is made. Their tags, for one, are not. */
function refuseLarge({ world, bytesMax }: ListSources, { flags, settings }: ProjectState): Refusal | null {
  const { activeCount } = flags;
  const environments = activeCount * settings.environments.length * ENVIRONMENT_BYTES_MIN;
  return refuseTooManyPieces(world.served.metadataBytes(settings.id) + environments, bytesMax);
}

/** The summaries of the project as it is now; refused as soon as they have too many bytes. Those that take turns are made one list at a time. */
function summariesOf(
  sources: ListSources,
  project: ProjectState,
): readonly ChunkSummaries[] | Refusal | Promise<readonly ChunkSummaries[] | Refusal> {
  const { world, requester, bytesMax } = sources;
  const { chunks } = project.flags;
  const work = summaryWork(sources, project);
  const collecting = () => {
    const summaries: ChunkSummaries[] = [];
    let bytes = 0;
    const add = (one: ChunkSummaries): boolean => {
      summaries.push(one);
      bytes += one.bytes.byteLength;
      return bytes > bytesMax;
    };
    const end = () => refuseTooManyPieces(bytes, bytesMax) ?? summaries;
    return { steps: eachChunk(chunks, work, add), end };
  };
  const quick = collecting();
  if (atOnce(quick.steps) !== null) return quick.end();
  const collect = async () => {
    const { steps, end } = collecting();
    await inTurns(steps, requester);
    return end();
  };
  return cacheOf({ world }).making.run(collect, requester);
}

function summaryWork({ world, seen }: ListSources, project: ProjectState): ChunkWork<ChunkSummaries> {
  return summariesWork({
    world,
    seen,
    environments: projectEnvironments(world, project),
    environmentsRevision: environmentsRevision(world, project),
    kept: summaryBytesIn({ world }),
  });
}

function useTag(summaries: readonly ChunkSummaries[]): string {
  const uses = new UseSum();
  for (const one of summaries) uses.addAll(one);
  return uses.tag;
}

/**
 * A caller's favorites in a project. Lists that show them are made for each request, from the summaries that all
 * callers share.
 */
interface Marks {
  readonly userId: number;
  /** Names of flags. */
  readonly names: ReadonlySet<string>;
  /** Whether the project itself is marked. */
  readonly isFavorite: boolean;
}

function marksIn({ favorites }: ListSources, { flags, settings }: ProjectState): Marks | null {
  if (favorites === null) return null;
  const names = new Set(favorites.flags.filter((name) => flags.has(name)));
  const isFavorite = favorites.projects.includes(settings.id);
  return names.size === 0 && !isFavorite ? null : { userId: favorites.userId, names, isFavorite };
}

function flagMarksIn(sources: ListSources, project: ProjectState): Marks | null {
  const marks = marksIn(sources, project);
  return marks === null || marks.names.size === 0 ? null : marks;
}

/** For an ETag: whoever marks a flag or its project changes the revision of its project, so at one revision each user has marked one thing. */
const tagOf = (marks: Marks | null): string => (marks === null ? '' : `${FAVORITE_TAG}${marks.userId}`);

function listBody(head: object, summaries: readonly ChunkSummaries[], marks: Marks | null): ResponseBody {
  return bodyOf(
    head,
    summaries.map((one) => (marks === null ? one.bytes : withFavorites(one, marks.names))),
  );
}

const COMMA = Buffer.from(',');
const END = Buffer.from(']}');

/** `head`, which has fields, with the list `features` behind them. Items that are empty are none. */
function bodyOf(head: object, items: readonly Buffer[]): ResponseBody {
  const pieces: Buffer[] = [Buffer.from(`${JSON.stringify(head).slice(0, -1)},"features":[`)];
  for (const item of items) {
    if (item.byteLength === 0) continue;
    if (pieces.length > 1) pieces.push(COMMA);
    pieces.push(item);
  }
  pieces.push(END);
  const byteLength = pieces.reduce((sum, piece) => sum + piece.byteLength, 0);
  return byteLength <= JOINED_BYTES_MAX
    ? Buffer.concat(pieces, byteLength)
    : new BodyPieces(pieces, byteLength);
}

export interface WantedFlags {
  readonly filter: FlagFilter;
  /** Null: any. */
  readonly state: Staleness | null;
}

/** The list of some of the flags, put together anew each time. */
export async function filteredFlagList(
  sources: ListSources,
  project: ProjectState,
  { filter, state }: WantedFlags,
): Promise<ReadResponse | Refusal> {
  const { world, now, requester, bytesMax } = sources;
  const { revision, lifetimes } = momentOf(sources, project);
  const marks = flagMarksIn(sources, project);
  const uses = new UseSum();
  const found: Buffer[] = [];
  let [flagCount, bytes] = [0, 0];
  const add = (chunk: ChunkSummaries): boolean => {
    const items: Buffer[] = [];
    for (const [flag, summary, seen] of listedFlags(chunk)) {
      if (!passes(filter, flag) || (state !== null && stalenessOf(flag, lifetimes, now) !== state)) continue;
      if (items.length > 0) items.push(COMMA);
      items.push(marks?.names.has(flag.name) === true ? asFavorite(summary) : summary);
      uses.add(seen);
      flagCount += 1;
    }
    const piece = Buffer.concat(items);
    found.push(piece);
    bytes += piece.byteLength;
    return bytes > bytesMax;
  };
  const steps = eachChunk(project.flags.chunks, summaryWork(sources, project), add);
  if (atOnce(steps) === null) await cacheOf({ world }).making.run(() => inTurns(steps, requester), requester);
  const refusal = refuseTooManyPieces(bytes, bytesMax);
  if (refusal !== null) return refusal;
  // Between two changes of flags and lifetimes flags only grow older, one after the other, so the count tells which of them are listed.
  const ageTag = state === null ? '' : `-${flagCount}.${Object.values(lifetimes).join('.')}`;
  const etag = etagOf(world, revision, `${ageTag}${uses.tag}${tagOf(marks)}`);
  return { revision, response: taggedResponse(etag, bodyOf({ version: FLAG_LIST_VERSION }, found)) };
}

function overviewHead(world: World, project: ProjectState, marks: Marks | null) {
  const { name, description, defaultStickiness, createdAt, updatedAt } = project.settings;
  return {
    version: OVERVIEW_VERSION,
    name,
    description: description ?? '',
    members: project.members.size,
    favorite: marks?.isFavorite === true,
    defaultStickiness,
    createdAt,
    updatedAt,
    ...shownRules(project.settings),
    environments: projectEnvironments(world, project).map((one) => ({ environment: one.name })),
  };
}
