/**
 * ETags: revisions, which are event ids, with the name of their history. They cost no hashing and survive restarts.
 */
import type { FlagRecord, ProjectState, World } from '../../domain/state/world.ts';

/** In quotes: the newest event that the flag's JSON shows, and the history that it belongs to. */
export function flagEtag(world: World, project: ProjectState, record: FlagRecord): string {
  return etagOf(world, Math.max(record.revision, environmentsRevision(world, project)));
}

/** In quotes. `tag` tells apart all that a path can answer within one history. */
export function etagOf({ lineage }: World, tag: number | string): string {
  return `"${tag}-${lineage}"`;
}

/** The newest event that any flag's JSON in the project shows besides those about the flag itself. */
export function environmentsRevision(world: World, project: ProjectState): number {
  return Math.max(project.environmentsRevision, world.directory.environmentsRevision);
}
