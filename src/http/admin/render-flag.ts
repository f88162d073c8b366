/**
 * Renders a flag as JSON bytes, made once for each change of the flag and kept in its record, so a read of an unchanged
 * flag sends the same bytes again; and what lists show of a flag (chunk-summaries.ts keeps their bytes). The bytes of all flags may be
 * six times what the flags take, so they are part of the cache.
 *
 * A flag's JSON also shows the project's environments, and `environmentsRevision` says when those changed. The ETag
 * is the newer of both revisions, with the time at which the flag was seen in use, so it needs no hashing.
 */
import { partOfEach } from '../../actors/cache.ts';
import type { FlagSeen, FlagsUse, HourCounts } from '../../actors/usage-view.ts';
import {
  environmentOf,
  environmentsOf,
  type Flag,
  type FlagEnvironment,
  flagData,
  flagVariants,
} from '../../domain/flags/flag.ts';
import { listedMetadata } from '../../domain/flags/metadata.ts';
import { soleRollout } from '../../domain/flags/strategy.ts';
import type { FlagRecord } from '../../domain/state/flag-record.ts';
import { firstEnvironment } from '../../domain/state/locate.ts';
import { pendingRequests } from '../../domain/state/pending-requests.ts';
import {
  type Environment,
  type ProjectState,
  projectEnvironments,
  type World,
} from '../../domain/state/world.ts';
import { Projection, type Slot } from '../../domain/value/projection.ts';
import { environmentsRevision, etagOf, FAVORITE_TAG, pendingTag, seenTag } from '../serving/etag.ts';
import { type TaggedResponse, taggedResponse } from '../serving/json-response.ts';
import type { ReadResponse, RequestContext } from '../serving/route.ts';
import { byteLengthOf } from '../transport/response.ts';
import { stageView, timeOrNull } from './views.ts';

/** The sources of a flag's view, apart from the flag. */
export interface FlagSources {
  readonly world: World;
  readonly seen: FlagsUse;
}

/** A read of a flag: the newest event that it shows, and its bytes. */
interface FlagRead extends ReadResponse {
  readonly response: TaggedResponse;
}

interface FlagBytes {
  readonly environmentsRevision: number;
  /** Id of the newest event about requests to change flags. */
  readonly pendingRevision: number;
  /** Changes of the lineage: names of old revisions, which the ETag carries, seldom change. */
  readonly renames: number;
  readonly seen: FlagSeen | null;
  /** The version of the times of use up to which `seen` is known to hold: to look it up for each read would take as long as finding the flag. */
  seenVersion: number;
  /** The counts of the running hour, as they were in this step. */
  readonly hour: ReadonlyMap<string, HourCounts>;
  step: number;
  whole: FlagRead | null;
  /** The response for users who marked it as a favorite. */
  favorite: FlagRead | null;
}

const projection = new Projection<FlagBytes>();

/** A response takes some memory however small it is. */
const BYTES_EACH = 1_024;

/** Bytes of what is kept in the records. The flags that were read longest ago lose theirs: to the minute, since a read looks nothing up. */
const keptBytesIn = partOfEach<Slot, number>({
  bytesOf: (bytes) => bytes,
  onEvicted: (_bytes, slot) => projection.dropIn(slot),
});

export function wholeFlag(
  sources: FlagSources,
  project: ProjectState,
  record: FlagRecord,
  isFavorite = false,
): FlagRead {
  const bytes = bytesOf(sources, project, record);
  const kind = isFavorite ? 'favorite' : 'whole';
  const cached = bytes[kind];
  if (cached !== null) return cached;
  const { seen, hour, pendingRevision } = bytes;
  const view = wholeFlagView(sources.world, { seen, hour }, project, record.flag, isFavorite);
  const isPending = view.environments.some(({ changeRequestIds }) => changeRequestIds.length > 0);
  const tag =
    seenTag(seen?.atMs ?? 0, seen?.first.size, hour) +
    (isPending ? pendingTag(pendingRevision) : '') +
    (isFavorite ? FAVORITE_TAG : '');
  const itself = Math.max(record.revision, bytes.environmentsRevision);
  const etag = etagOf(sources.world, itself, tag);
  const revision = Math.max(itself, pendingRevision);
  const read = { revision, response: taggedResponse(etag, Buffer.from(JSON.stringify(view))) };
  bytes[kind] = read;
  const kept = [bytes.whole, bytes.favorite].map((one) => byteLengthOf(one?.response.body ?? null));
  keptBytesIn(sources).set(record.slot, BYTES_EACH + kept[0]! + kept[1]!);
  return read;
}

function bytesOf({ world, seen }: FlagSources, project: ProjectState, record: FlagRecord): FlagBytes {
  const revision = environmentsRevision(world, project);
  const cached = projection.get(record);
  const { renames } = world.lineage;
  const pendingRevision = pendingRequests.revision(world);
  const isSame =
    cached?.environmentsRevision === revision &&
    cached.renames === renames &&
    cached.pendingRevision === pendingRevision;
  const { version, step } = seen;
  if (isSame && cached.seenVersion === version && cached.step === step) return cached;
  const { name } = record.flag;
  const seenNow = seen.flag(name);
  // Within a step a flag is shown in one way, whoever asks.
  if (isSame && cached.seen === seenNow && cached.step === step) {
    cached.seenVersion = version;
    return cached;
  }
  const hour = seen.hour(name);
  if (isSame && cached.seen === seenNow && areEqual(cached.hour, hour)) {
    cached.seenVersion = version;
    cached.step = step;
    keptBytesIn({ world }).get(record.slot);
    return cached;
  }
  // Written out: V8 reads the properties of an object made by spreading many times as slowly.
  const fresh: FlagBytes = {
    environmentsRevision: revision,
    pendingRevision,
    renames,
    seen: seenNow,
    seenVersion: version,
    hour,
    step,
    whole: null,
    favorite: null,
  };
  projection.set(record, fresh);
  return fresh;
}

export function isFavoriteFlag(
  context: Pick<RequestContext<unknown>, 'world' | 'caller' | 'params'>,
): boolean {
  const { user } = context.caller;
  if (user === null) return false;
  const { directory } = context.world;
  return directory.favorites.get(user.id)?.flags.includes(context.params.featureName) === true;
}

/** A flag as lists show it; `environments` are those of its project. */
export function flagSummary(
  world: World,
  { createdBy, flag }: Pick<FlagRecord, 'createdBy' | 'flag'>,
  environments: readonly Environment[],
  seen: FlagSeen | null,
) {
  const environmentNamed = environmentsOf(flag);
  return {
    name: flag.name,
    ...listedMetadata(flag),
    favorite: false,
    createdAt: flag.createdAt,
    createdByUserId: createdBy ?? 0,
    lastSeenAt: timeOrNull(seen?.atMs),
    lifecycle: stageView(world, flag, seen),
    tags: flag.tags,
    environments: environments.map((environment) =>
      environmentSummary(environmentNamed(environment.name), environment, seen),
    ),
  };
}

export interface FlagUse {
  readonly seen: FlagSeen | null;
  /** The counts of the running hour, by environment. */
  readonly hour: ReadonlyMap<string, HourCounts>;
}

export function useOf(use: FlagsUse, name: string): FlagUse {
  return { seen: use.flag(name), hour: use.hour(name) };
}

export function wholeFlagView(
  world: World,
  use: FlagUse,
  project: ProjectState,
  flag: Flag,
  isFavorite = false,
) {
  return {
    ...flagData(flag, flagVariants(flag, firstEnvironment(world, project))),
    favorite: isFavorite,
    lastSeenAt: timeOrNull(use.seen?.atMs),
    archivedAt: flag.archivedAt,
    lifecycle: stageView(world, flag, use.seen),
    environments: projectEnvironments(world, project).map((environment) =>
      environmentView(world, flag, environment, use),
    ),
    children: flag.children,
    dependencies: flag.dependencies,
    tags: flag.tags,
  };
}

export function environmentView(world: World, flag: Flag, environment: Environment, use: FlagUse) {
  const { strategies } = environmentOf(flag, environment.name);
  return {
    ...usedEnvironmentSummary(world, flag, environment, use),
    strategies: strategies.map((strategy) => ({ ...strategy, featureName: flag.name })),
  };
}

/** With how often the flag was evaluated there in the running hour, and the requests to change it there. */
export function usedEnvironmentSummary(
  world: World,
  flag: Flag,
  environment: Environment,
  { seen, hour }: FlagUse,
) {
  const { name } = environment;
  const { yes, no } = hour.get(name) ?? { yes: 0, no: 0 };
  const changeRequestIds = pendingRequests.ofFlag(world, flag.project, flag.name, name);
  return { ...environmentSummary(environmentOf(flag, name), environment, seen), yes, no, changeRequestIds };
}

/** The part of an environment's view that lists of flags show too. */
function environmentSummary(
  { enabled, strategies, variants }: FlagEnvironment,
  { name, type, sortOrder }: Environment,
  seen: FlagSeen | null,
) {
  const decisive = strategies.filter(({ disabled }) => disabled !== true);
  return {
    name,
    displayName: name,
    type,
    enabled,
    sortOrder,
    lastSeenAt: timeOrNull(seen?.environments.get(name)),
    variantCount: variants.length,
    hasStrategies: strategies.length > 0,
    hasEnabledStrategies: decisive.length > 0,
    enabledStrategyCount: decisive.length,
    rollout: soleRollout(decisive),
  };
}

function areEqual(a: ReadonlyMap<string, HourCounts>, b: ReadonlyMap<string, HourCounts>): boolean {
  if (a.size !== b.size) return false;
  for (const [name, { yes, no }] of a) {
    const other = b.get(name);
    if (other === undefined || other.yes !== yes || other.no !== no) return false;
  }
  return true;
}
