/**
 * Figures about a project's flags, for lists of projects and environments. They are kept for each chunk of flags and put together
 * from those, until something in the project changes, or the health figure does, which also depends on the date.
 */
import { andThen, type Requester } from '../../actors/turn.ts';
import { endOfLife } from '../../domain/flags/lifetime.ts';
import type { FlagType, Lifetimes } from '../../domain/flags/metadata.ts';
import type { FlagChunk } from '../../domain/state/project-flags.ts';
import { lifetimesIn } from '../../domain/state/settings.ts';
import type { ProjectState, World } from '../../domain/state/world.ts';
import { Projection } from '../../domain/value/projection.ts';
import { type ChunkWork, ofEachChunk } from './chunk-walk.ts';

/** While the figures are right although nothing of the flags changes. */
interface Validity {
  readonly lifetimes: Lifetimes;
  /** The time of the computation, in milliseconds since 1970. */
  readonly validFrom: number;
  /** The time at which the next flag exceeds the lifetime of its type. */
  readonly validUntil: number;
}

export interface ProjectFigures extends Validity {
  /** The number of unarchived flags; figures count only those, unless they say otherwise. */
  readonly flagCount: number;
  readonly staleCount: number;
  /** Neither stale nor older than their type's lifetime. */
  readonly healthyCount: number;
  /** Number of flags by type; absent when there are none. */
  readonly typeCounts: ReadonlyMap<FlagType, number>;
  /** Name of the oldest flag; null when there is none. */
  readonly firstFlag: string | null;
  /** Ids of the users who created the flags. */
  readonly creators: ReadonlySet<number>;
}

interface Moment {
  readonly world: World;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** Also not valid before they were computed, because clocks are sometimes set back. */
function isValid(figures: Validity, project: string, { world, now }: Moment): boolean {
  const isRightAge = figures.validFrom <= now && now < figures.validUntil;
  return isRightAge && figures.lifetimes === lifetimesIn(world, project);
}

/** Percent of the flags that are healthy; 100 with none. */
export function healthOf({ flagCount, healthyCount }: ProjectFigures): number {
  return flagCount === 0 ? 100 : Math.round((100 * healthyCount) / flagCount);
}

/** The flags by their state, as responses call it (docs/specification/flags.md#staleness). */
export function stateCounts({ flagCount, staleCount, healthyCount }: ProjectFigures) {
  return {
    activeCount: healthyCount,
    potentiallyStaleCount: flagCount - staleCount - healthyCount,
    staleCount,
  };
}

interface ChunkFigures {
  readonly of: FlagChunk;
  readonly figures: ProjectFigures;
}

const chunkCache = new Projection<ChunkFigures>();

function figuresWork(moment: Moment): ChunkWork<ProjectFigures> {
  return {
    known: (chunk) => {
      const cached = chunkCache.get(chunk);
      const isKnown = cached?.of === chunk && isValid(cached.figures, projectOf(chunk), moment);
      return isKnown ? cached.figures : undefined;
    },
    // biome-ignore lint/correctness/useYield: a chunk takes no time.
    *make(chunk) {
      const figures = figuresOfChunk(chunk, moment);
      chunkCache.set(chunk, { of: chunk, figures });
      return figures;
    },
  };
}

const projectCache = new WeakMap<ProjectState, ProjectFigures>();

/** The figures of each project, all as they are at the moment of the call. */
export function projectFigures(
  projects: readonly ProjectState[],
  moment: Moment,
  requester: Requester,
): readonly ProjectFigures[] | Promise<readonly ProjectFigures[]> {
  const asked = projects.map((project) => {
    const known = projectCache.get(project);
    const figures = known !== undefined && isValid(known, project.settings.id, moment) ? known : null;
    return { project, figures, chunks: figures === null ? project.flags.chunks : [] };
  });
  const chunks = asked.flatMap((one) => one.chunks);
  const answer = (parts: readonly ProjectFigures[]): readonly ProjectFigures[] => {
    let at = 0;
    return asked.map(({ project, chunks: own, figures: known }) => {
      if (known !== null) return known;
      const figures = sumOf(project.settings.id, parts.slice(at, at + own.length), moment);
      at += own.length;
      projectCache.set(project, figures);
      return figures;
    });
  };
  return andThen(ofEachChunk(chunks, figuresWork(moment), requester), answer);
}

const projectOf = ({ values }: FlagChunk): string => values[0]!.flag.project;

function figuresOfChunk(chunk: FlagChunk, moment: Moment): ProjectFigures {
  const { now } = moment;
  const figures = new Figures(projectOf(chunk), moment);
  for (const { flag, createdBy } of chunk.values) {
    if (flag.archivedAt !== null) continue;
    figures.firstFlag ??= flag.name;
    figures.flagCount += 1;
    count(figures.typeCounts, flag.type, 1);
    if (createdBy !== null) figures.creators.add(createdBy);
    if (flag.stale) {
      figures.staleCount += 1;
      continue;
    }
    const end = endOfLife(flag, figures.lifetimes);
    if (end <= now) continue;
    figures.healthyCount += 1;
    figures.validUntil = Math.min(figures.validUntil, end);
  }
  return figures;
}

function sumOf(project: string, parts: readonly ProjectFigures[], moment: Moment): ProjectFigures {
  const sum = new Figures(project, moment);
  for (const part of parts) {
    sum.firstFlag ??= part.firstFlag;
    sum.flagCount += part.flagCount;
    sum.staleCount += part.staleCount;
    sum.healthyCount += part.healthyCount;
    for (const [type, more] of part.typeCounts) count(sum.typeCounts, type, more);
    for (const id of part.creators) sum.creators.add(id);
    sum.validUntil = Math.min(sum.validUntil, part.validUntil);
  }
  return sum;
}

class Figures implements ProjectFigures {
  readonly lifetimes: Lifetimes;
  readonly validFrom: number;
  validUntil = Number.POSITIVE_INFINITY;
  flagCount = 0;
  staleCount = 0;
  healthyCount = 0;
  firstFlag: string | null = null;
  readonly typeCounts = new Map<FlagType, number>();
  readonly creators = new Set<number>();

  constructor(project: string, { world, now }: Moment) {
    this.lifetimes = lifetimesIn(world, project);
    this.validFrom = now;
  }
}

function count<K>(counts: Map<K, number>, key: K, more: number): void {
  counts.set(key, (counts.get(key) ?? 0) + more);
}
