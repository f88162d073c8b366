/**
 * Walks over the shelves of a project (src/domain/state/project-flags.ts) as they are at one moment. What is made of a shelf is cached
 * beside it, so mostly there is little to do, and it is done at once; much is done in turns, for the caller's account.
 */
import { atOnce, each, inTurns, type Requester } from '../../actors/turn.ts';
import type { FlagRecord, ShelvedFlags } from '../../domain/state/flag-record.ts';
import type { Refusal } from '../../domain/state/refusal.ts';
import type { ProjectState } from '../../domain/state/world.ts';
import type { RequestContext } from '../serving/route.ts';

/** A flag as it is at the moment of a walk. */
export interface ShownFlag {
  readonly project: ProjectState;
  readonly record: Pick<FlagRecord, 'flag' | 'createdBy'>;
}

/** All flags of the projects as they are at the moment of the call, however long it takes to go through them. */
export function flagsNow(projects: Iterable<ProjectState>): Iterable<ShownFlag> {
  const shelves: (readonly [ProjectState, ShelvedFlags])[] = [];
  for (const project of projects)
    for (const shelved of project.flags.shelved()) shelves.push([project, shelved]);
  return flagsOf(shelves);
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

function* flagsOf(shelves: Iterable<readonly [ProjectState, ShelvedFlags]>): Generator<ShownFlag, undefined> {
  for (const [project, shelved] of shelves)
    for (const [at, { createdBy }] of shelved.records.entries())
      yield { project, record: { flag: shelved.flagAt(at), createdBy } };
}

/** How something is made of each shelf. */
export interface ShelfWork<T> {
  /** The cached value, if it is still right. */
  known(shelved: ShelvedFlags): T | undefined;
  /** The value of a shelf, made in steps. */
  make(shelved: ShelvedFlags): Generator<void, T>;
}

/** Calls `use` with what `work` makes of each shelf, in the order of the shelves, until it returns true. */
export function* eachShelf<T>(
  shelves: readonly ShelvedFlags[],
  work: ShelfWork<T>,
  use: (made: T) => boolean,
): Generator<void, void> {
  for (const shelved of shelves) {
    let one = work.known(shelved);
    if (one === undefined) {
      one = yield* work.make(shelved);
    }
    yield;
    if (use(one)) return;
  }
}

/** Returns what `work` makes of each shelf, in the order of the shelves. */
export function ofEachShelf<T>(
  shelves: readonly ShelvedFlags[],
  work: ShelfWork<T>,
  requester: Requester,
): readonly T[] | Promise<readonly T[]> {
  const made: T[] = [];
  const steps = eachShelf(shelves, work, (one) => {
    made.push(one);
    return false;
  });
  return atOnce(steps) !== null ? made : inTurns(steps, requester).then(() => made);
}
