/**
 * Renders a flag as JSON bytes, made once for each change of the flag and kept in its record, so a read of an unchanged
 * flag sends the same bytes again; and what lists show of a flag (shelf-summaries.ts keeps their bytes).
 *
 * A flag's JSON also shows the project's environments, and `environmentsRevision` says when those changed. The ETag
 * is the newer of both revisions, with the time at which the flag was seen in use, so it needs no hashing.
 */
import { environmentOf, type Flag, flagData, flagVariants } from '../../../domain/flags/flag.ts';
import { listedMetadata } from '../../../domain/flags/metadata-changes.ts';
import { hasEnabledStrategy } from '../../../domain/flags/strategy.ts';
import { FlagProjection } from '../../../domain/state/flag-projection.ts';
import { firstEnvironment } from '../../../domain/state/locate.ts';
import type { FlagRecord } from '../../../domain/state/project-flags.ts';
import {
  type Environment,
  type ProjectState,
  projectEnvironments,
  type World,
} from '../../../domain/state/world.ts';
import type { FlagSeen, FlagsSeen } from '../../../domain/usage/last-seen.ts';
import { environmentsRevision, flagEtag, seenTag } from '../../dispatch/etag.ts';
import { type TaggedResponse, taggedResponse } from '../../dispatch/json-response.ts';
import { stageView } from './lifecycle-view.ts';
import { timeOrNull } from './views.ts';

/** What a flag is shown from, apart from the flag. */
export interface FlagSources {
  readonly world: World;
  readonly seen: FlagsSeen;
}

interface FlagBytes {
  readonly environmentsRevision: number;
  /** Of the lineage: names of old revisions, which the ETag carries, seldom change. */
  readonly renames: number;
  readonly seen: FlagSeen | null;
  /** Of the times of use, up to which `seen` is known to hold: to look it up for each read would take as long as finding the flag. */
  seenVersion: number;
  whole: TaggedResponse | null;
}

const kept = new FlagProjection<FlagBytes>();

export function wholeFlag(sources: FlagSources, project: ProjectState, record: FlagRecord): TaggedResponse {
  const bytes = bytesOf(sources, project, record);
  if (bytes.whole === null) {
    const { seen } = bytes;
    const tag = seen === null ? '' : seenTag(seen.atMs, seen.first.size);
    const etag = flagEtag(sources.world, project, record, tag);
    const body = Buffer.from(JSON.stringify(wholeFlagView(sources, project, record.flag)));
    bytes.whole = taggedResponse(etag, body);
  }
  return bytes.whole;
}

function bytesOf({ world, seen }: FlagSources, project: ProjectState, record: FlagRecord): FlagBytes {
  const revision = environmentsRevision(world, project);
  const cached = kept.get(record);
  const { renames } = world.lineage;
  const isSame = cached?.environmentsRevision === revision && cached.renames === renames;
  if (isSame && cached.seenVersion === seen.version) return cached;
  const seenNow = seen.flag(record.flag.name);
  if (isSame && cached.seen === seenNow) {
    cached.seenVersion = seen.version;
    return cached;
  }
  // Written out: V8 reads the properties of an object made by spreading many times as slowly.
  const fresh: FlagBytes = {
    environmentsRevision: revision,
    renames,
    seen: seenNow,
    seenVersion: seen.version,
    whole: null,
  };
  kept.set(record, fresh);
  return fresh;
}

/** A flag as lists show it; `environments` are those of its project. */
export function flagSummary(flag: Flag, environments: readonly Environment[], seen: FlagSeen | null) {
  return {
    name: flag.name,
    ...listedMetadata(flag),
    favorite: false,
    createdAt: flag.createdAt,
    lastSeenAt: timeOrNull(seen?.atMs),
    environments: environments.map((environment) => environmentSummary(flag, environment, seen)),
  };
}

export function wholeFlagView({ world, seen }: FlagSources, project: ProjectState, flag: Flag) {
  const seenNow = seen.flag(flag.name);
  return {
    ...flagData(flag, flagVariants(flag, firstEnvironment(world, project))),
    lastSeenAt: timeOrNull(seenNow?.atMs),
    archivedAt: flag.archivedAt,
    lifecycle: stageView(world, flag, seenNow),
    environments: projectEnvironments(world, project).map((environment) =>
      environmentView(flag, environment, seenNow),
    ),
    children: flag.children,
    dependencies: flag.dependencies,
    tags: flag.tags,
  };
}

export function environmentView(flag: Flag, environment: Environment, seen: FlagSeen | null) {
  const { strategies } = environmentOf(flag, environment.name);
  return {
    ...environmentSummary(flag, environment, seen),
    strategies: strategies.map((strategy) => ({ ...strategy, featureName: flag.name })),
  };
}

/** What lists of flags show of an environment too. */
export function environmentSummary(
  flag: Flag,
  { name, type, sortOrder }: Environment,
  seen: FlagSeen | null,
) {
  const { enabled, strategies, variants } = environmentOf(flag, name);
  return {
    name,
    displayName: name,
    type,
    enabled,
    sortOrder,
    lastSeenAt: timeOrNull(seen?.environments.get(name)),
    variantCount: variants.length,
    hasStrategies: strategies.length > 0,
    hasEnabledStrategies: hasEnabledStrategy(strategies),
  };
}
