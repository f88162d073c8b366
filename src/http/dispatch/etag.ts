/**
 * ETags: revisions, which are event ids, with the name that the history had at that event (lineage.ts). They cost no
 * hashing, survive restarts, and are the same on every node.
 */
import type { FlagRecord } from '../../domain/state/project-flags.ts';
import type { ProjectState, World } from '../../domain/state/world.ts';

/**
 * In quotes: the newest event that the flag's JSON shows, and the history that it belongs to. `tag`, of `seenTag`, stands for what the
 * JSON shows besides.
 */
export function flagEtag(world: World, project: ProjectState, record: FlagRecord, tag = ''): string {
  return etagOf(world, Math.max(record.revision, environmentsRevision(world, project)), tag);
}

/**
 * For a time at which flags were seen in use, which no event tells; 0 for never. `firstCount`: of first times that a flag's JSON
 * depends on, which reviving the flag takes away.
 */
export function seenTag(atMs: number, firstCount = 0): string {
  return atMs === 0 ? '' : `-s${atMs.toString(36)}${firstCount === 0 ? '' : `z${firstCount}`}`;
}

/** The tag of a flag without the time of use: whether the flag was evaluated meanwhile is no reason to refuse a change of it. */
export function withoutSeen(etag: string): string {
  return etag.replace(/^("[0-9]+)-s[0-9a-z]+-/, '$1-');
}

/** In quotes. `tag` tells apart all that a path can show at one revision. */
export function etagOf({ lineage }: World, revision: number, tag = ''): string {
  return `"${revision}${tag}-${lineage.nameAt(revision)}"`;
}

/** The newest event that any flag's JSON in the project shows besides those about the flag itself. */
export function environmentsRevision(world: World, project: ProjectState): number {
  return Math.max(project.environmentsRevision, world.directory.environmentsRevision);
}
