/** A flag as the search for flags shows it. */
import type { Flag } from '../../../domain/flags/flag.ts';
import { type ProjectState, projectEnvironments, type World } from '../../../domain/state/world.ts';
import { authorOf } from '../../serving/access.ts';
import { stageView } from './lifecycle-view.ts';
import { type FlagSources, usedEnvironmentSummary, useOf } from './render-flag.ts';
import type { ShownFlag } from './shelf-walk.ts';
import { imageUrlOf, timeOrNull } from './views.ts';

interface FoundFlagSources extends FlagSources {
  /** Names of the caller's favorite flags. */
  readonly favorites: ReadonlySet<string>;
}

export function foundFlagView(
  { world, seen, favorites }: FoundFlagSources,
  project: ProjectState,
  { flag, createdBy }: ShownFlag['record'],
) {
  const use = useOf(seen, flag.name);
  const { id, name, email } = authorOf(world, createdBy);
  return {
    name: flag.name,
    type: flag.type,
    description: flag.description,
    project: flag.project,
    stale: flag.stale,
    favorite: favorites.has(flag.name),
    impressionData: flag.impressionData,
    createdAt: flag.createdAt,
    archivedAt: flag.archivedAt,
    lastSeenAt: timeOrNull(use.seen?.atMs),
    lifecycle: stageView(world, flag, use.seen),
    dependencyType: dependencyType(flag),
    environments: projectEnvironments(world, project).map((one) => usedEnvironmentSummary(flag, one, use)),
    segments: segmentNames(world, flag),
    tags: flag.tags,
    createdBy: { id, name, imageUrl: imageUrlOf(email ?? name) },
  };
}

function dependencyType({ dependencies, children }: Flag): 'child' | 'parent' | null {
  if (dependencies.length > 0) return 'child';
  return children.length > 0 ? 'parent' : null;
}

/** Names of the segments that strategies of the flag use, each once. */
export function segmentNames({ directory }: World, { environments }: Flag): readonly string[] {
  const ids = environments.flatMap(({ strategies }) => strategies.flatMap(({ segments }) => segments));
  return [...new Set(ids)].flatMap((id) => directory.segments.get(id)?.name ?? []);
}
