/**
 * Renders a flag as JSON bytes, complete and as a summary for lists. Both are made once for each change of the flag
 * and kept in its record, so a read of an unchanged flag sends the same bytes again.
 *
 * A flag's JSON also shows the project's environments, and `environmentsRevision` says when those changed. The ETag
 * is the newer of both revisions, so it needs no hashing.
 */
import { environmentOf, type Flag, flagData, flagVariants } from '../../../domain/flags/flag.ts';
import { listedMetadata } from '../../../domain/flags/metadata-changes.ts';
import { hasEnabledStrategy } from '../../../domain/flags/strategy.ts';
import { FlagProjection } from '../../../domain/state/flag-projection.ts';
import { firstEnvironment } from '../../../domain/state/locate.ts';
import {
  type Environment,
  type FlagRecord,
  type ProjectState,
  projectEnvironments,
  type World,
} from '../../../domain/state/world.ts';
import { environmentsRevision, flagEtag } from '../../dispatch/etag.ts';
import { type TaggedResponse, taggedResponse } from '../../dispatch/json-response.ts';

interface FlagBytes {
  readonly environmentsRevision: number;
  /** Of the lineage: names of old revisions, which the ETag carries, seldom change. */
  readonly renames: number;
  whole: TaggedResponse | null;
  summary: string | null;
}

const kept = new FlagProjection<FlagBytes>();

export function wholeFlag(world: World, project: ProjectState, record: FlagRecord): TaggedResponse {
  const bytes = bytesOf(world, project, record);
  if (bytes.whole === null) {
    const etag = flagEtag(world, project, record);
    const body = Buffer.from(JSON.stringify(wholeFlagView(world, project, record.flag)));
    bytes.whole = taggedResponse(etag, body);
  }
  return bytes.whole;
}

export function flagSummary(world: World, project: ProjectState, record: FlagRecord): string {
  const bytes = bytesOf(world, project, record);
  bytes.summary ??= JSON.stringify(summaryView(record.flag, projectEnvironments(world, project)));
  return bytes.summary;
}

function bytesOf(world: World, project: ProjectState, record: FlagRecord): FlagBytes {
  const revision = environmentsRevision(world, project);
  const cached = kept.get(record);
  const { renames } = world.lineage;
  if (cached?.environmentsRevision === revision && cached.renames === renames) return cached;
  const fresh: FlagBytes = { environmentsRevision: revision, renames, whole: null, summary: null };
  kept.set(record, fresh);
  return fresh;
}

function summaryView(flag: Flag, environments: readonly Environment[]) {
  return {
    name: flag.name,
    ...listedMetadata(flag),
    favorite: false,
    createdAt: flag.createdAt,
    lastSeenAt: null,
    environments: environments.map((environment) => environmentSummary(flag, environment)),
  };
}

export function wholeFlagView(world: World, project: ProjectState, flag: Flag) {
  return {
    ...flagData(flag, flagVariants(flag, firstEnvironment(world, project))),
    archivedAt: flag.archivedAt,
    environments: projectEnvironments(world, project).map((environment) =>
      environmentView(flag, environment),
    ),
    children: flag.children,
    dependencies: flag.dependencies,
    tags: flag.tags,
  };
}

export function environmentView(flag: Flag, environment: Environment) {
  const { strategies } = environmentOf(flag, environment.name);
  return {
    ...environmentSummary(flag, environment),
    strategies: strategies.map((strategy) => ({ ...strategy, featureName: flag.name })),
  };
}

/** What lists of flags show of an environment too. */
function environmentSummary(flag: Flag, { name, type, sortOrder }: Environment) {
  const { enabled, strategies, variants } = environmentOf(flag, name);
  return {
    name,
    displayName: name,
    type,
    enabled,
    sortOrder,
    lastSeenAt: null,
    variantCount: variants.length,
    hasStrategies: strategies.length > 0,
    hasEnabledStrategies: hasEnabledStrategy(strategies),
  };
}
