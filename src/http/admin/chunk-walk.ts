/**
 * Walks over the chunks of flags of a project (src/domain/state/project-flags.ts). What is made of a chunk is cached beside it, so mostly there
 * is little to do, and it is done at once; much is done in turns, for the caller's account.
 */
import { atOnce, each, inTurns, type Requester } from '../../actors/turn.ts';
import type { FlagRecord } from '../../domain/state/flag-record.ts';
import type { FlagChunk } from '../../domain/state/project-flags.ts';
import type { Refusal } from '../../domain/state/refusal.ts';
import type { ProjectState } from '../../domain/state/world.ts';
import type { RequestContext } from '../serving/route.ts';

/** A flag as it is at the moment of a walk. */
export interface ShownFlag {
  readonly project: ProjectState;
  readonly record: Pick<FlagRecord, 'flag' | 'createdBy' | 'revision'>;
}

/** All flags of the projects as they are at the moment of the call, however long it takes to go through them. */
export function* flagsNow(projects: Iterable<ProjectState>): Generator<ShownFlag, undefined> {
  for (const project of projects) for (const record of project.flags.values()) yield { project, record };
}

/**
 * Calls `visit` with each flag of the projects until it returns true. It waits in a queue that is fair between callers, so that few of
 * them keep what they found in memory; refuses with 503 when too many others look for something.
 */
export function walkFlags(
  { reads, requester }: Pick<RequestContext<unknown>, 'reads' | 'requester'>,
  projects: Iterable<ProjectState>,
  visit: (flag: ShownFlag) => unknown,
): Promise<Refusal | undefined> {
  return reads.walk(async () => {
    await inTurns(each(flagsNow(projects), visit), requester);
    return undefined;
  }, requester);
}

/** How something is made of each chunk. */
export interface ChunkWork<T> {
  /** The cached value, if it is still right. */
  known(chunk: FlagChunk): T | undefined;
  /** The value of a chunk, made in steps. */
  make(chunk: FlagChunk): Generator<void, T>;
}

/** Calls `use` with what `work` makes of each chunk, in their order, until it returns true. */
export function* eachChunk<T>(
  chunks: readonly FlagChunk[],
  work: ChunkWork<T>,
  use: (made: T) => boolean,
): Generator<void, void> {
  for (const chunk of chunks) {
    const one = work.known(chunk) ?? (yield* work.make(chunk));
    yield;
    if (use(one)) return;
  }
}

/** Returns what `work` makes of each chunk, in their order. */
export function ofEachChunk<T>(
  chunks: readonly FlagChunk[],
  work: ChunkWork<T>,
  requester: Requester,
): readonly T[] | Promise<readonly T[]> {
  const made: T[] = [];
  const steps = eachChunk(chunks, work, (one) => {
    made.push(one);
    return false;
  });
  return atOnce(steps) !== null ? made : inTurns(steps, requester).then(() => made);
}
