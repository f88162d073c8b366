/**
 * Figures about a project's flags, for lists of projects and environments. One pass over the flags computes all of
 * them. They are cached until something in the project changes, or the health figure does.
 */
import type { FlagType } from '../../../domain/flags/flag-type.ts';
import type { ProjectState } from '../../../domain/state/world.ts';
import { type Health, healthOf, isHealthOf } from './render-project.ts';

export interface ProjectFigures {
  /** The number of unarchived flags; all figures here count only those. */
  readonly flagCount: number;
  readonly staleCount: number;
  readonly health: Health;
  /** Number of enabled flags by environment; absent when there are none. */
  readonly enabledCounts: ReadonlyMap<string, number>;
  /** Number of flags by type; absent when there are none. */
  readonly typeCounts: ReadonlyMap<FlagType, number>;
  /** Name of the oldest flag; null when there is none. */
  readonly firstFlag: string | null;
}

/** Keyed by the objects of the state, so the figures of a deleted project are collected with it. */
const cache = new WeakMap<ProjectState, ProjectFigures & { readonly revision: number }>();

export function projectFigures(project: ProjectState, now: number): ProjectFigures {
  const known = cache.get(project);
  if (known !== undefined && known.revision === project.revision && isHealthOf(known.health, now))
    return known;
  const fresh = { revision: project.revision, health: healthOf(project, now), ...countFlags(project) };
  cache.set(project, fresh);
  return fresh;
}

function countFlags(project: ProjectState): Omit<ProjectFigures, 'health'> {
  const enabledCounts = new Map<string, number>();
  const typeCounts = new Map<FlagType, number>();
  let firstFlag: string | null = null;
  let flagCount = 0;
  let staleCount = 0;
  for (const { flag } of project.flags.values()) {
    if (flag.archivedAt !== null) continue;
    flagCount += 1;
    if (flag.stale) staleCount += 1;
    firstFlag ??= flag.name;
    typeCounts.set(flag.type, (typeCounts.get(flag.type) ?? 0) + 1);
    for (const { name, enabled } of flag.environments) {
      if (enabled) enabledCounts.set(name, (enabledCounts.get(name) ?? 0) + 1);
    }
  }
  return { flagCount, staleCount, enabledCounts, typeCounts, firstFlag };
}
