/**
 * ETags: revisions, which are event ids, with the name that the history had at that event (lineage.ts). They cost no
 * hashing, survive restarts, and are the same on every node.
 */
import type { FlagRecord, ProjectState, World } from '../../domain/state/world.ts';

/** In quotes: the newest event that the flag's JSON shows, and the history that it belongs to. */
export function flagEtag(world: World, project: ProjectState, record: FlagRecord): string {
  return etagOf(world, Math.max(record.revision, environmentsRevision(world, project)));
}

/** In quotes. `tag` tells apart all that a path can show at one revision. */
export function etagOf({ lineage }: World, revision: number, tag = ''): string {
  return `"${revision}${tag}-${lineage.nameAt(revision)}"`;
}

/** The newest event that any flag's JSON in the project shows besides those about the flag itself. */
export function environmentsRevision(world: World, project: ProjectState): number {
  return Math.max(project.environmentsRevision, world.directory.environmentsRevision);
}
