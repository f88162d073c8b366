/**
 * A flag may have so many conditions, and its segments so many values, that testing all of them takes seconds. So the tests of such a
 * flag are made some at a time before it is evaluated, and the run remembers what they came to. Nothing is drawn at random here:
 * evaluating twice would draw twice.
 */
import type { CompiledFlag, CompiledStrategy } from './compiled-flag.ts';
import type { CompiledConstraint } from './constraint-test.ts';
import type { CompiledScope } from './rules.ts';
import type { Run } from './run.ts';
import { compileSegment, type SegmentSource, segmentEffort } from './segment-test.ts';

/** In about microseconds at worst, what is tested without a preparation. */
export const UNPREPARED_EFFORT_MAX = 2_000;

/** The same for what is tested between two looks at the clock. */
const STEP_EFFORT = 500;

/** A result that took less is not remembered: finding it out again takes no longer. */
const REMEMBERED_EFFORT_MIN = 8;

/** What some flags ask for together. */
export class Burden {
  /** Of their own constraints. */
  readonly #effort: number;
  readonly #segments: ReadonlySet<number>;
  readonly #parents: ReadonlySet<string>;

  constructor(flags: readonly CompiledFlag[]) {
    const segments = new Set<number>();
    const parents = new Set<string>();
    let effort = 0;
    for (const { strategies, dependencies } of flags) {
      for (const { conditions } of strategies) {
        effort += conditions.effort;
        for (const id of conditions.segments) segments.add(id);
      }
      for (const { feature } of dependencies) parents.add(feature);
    }
    this.#effort = effort;
    this.#segments = segments;
    this.#parents = parents;
  }

  isHeavy(scope: CompiledScope): boolean {
    let effort = this.#effort;
    for (const id of this.#segments) effort += effortOfSegment(id, scope);
    for (const name of this.#parents) {
      if (effort > UNPREPARED_EFFORT_MAX) return true;
      for (const { conditions } of scope.flag(name)?.strategies ?? []) {
        effort += conditions.effort;
        for (const id of conditions.segments) effort += effortOfSegment(id, scope);
      }
    }
    return effort > UNPREPARED_EFFORT_MAX;
  }
}

function effortOfSegment(id: number, scope: CompiledScope): number {
  const segment = scope.segment(id);
  return segment === undefined ? 0 : segmentEffort(segment);
}

export interface PreparationOptions {
  readonly scope: CompiledScope;
  readonly run: Run;
  /** Also what need not be known to evaluate the flag, because it is told why. */
  readonly isComplete: boolean;
}

/** The tests of one flag, its parents included. */
export class Preparation {
  readonly #efforts: Iterator<number>;

  constructor(flag: CompiledFlag, options: PreparationOptions) {
    this.#efforts = testsOfFlag(flag, options);
  }

  /** Makes some tests. True when all are made. */
  advance(): boolean {
    for (let effort = 0; effort < STEP_EFFORT; ) {
      const { done, value } = this.#efforts.next();
      if (done === true) return true;
      effort += value;
    }
    return false;
  }
}

/** Gives the effort of each test when it has been made. */
function* testsOfFlag(flag: CompiledFlag, options: PreparationOptions): Generator<number, void> {
  const { scope, isComplete } = options;
  if (!isComplete && !flag.isOn) return;
  for (const { feature } of flag.dependencies) {
    const parent = scope.flag(feature);
    if (parent === undefined) continue;
    for (const strategy of parent.strategies)
      yield* testsOfStrategy(strategy, { ...options, isComplete: false });
  }
  for (const strategy of flag.strategies) yield* testsOfStrategy(strategy, options);
}

function* testsOfStrategy(
  { conditions }: CompiledStrategy,
  options: PreparationOptions,
): Generator<number, void> {
  const { scope, isComplete } = options;
  const hold = yield* testsOf(conditions.constraints, options);
  if (!hold && !isComplete) return;
  for (const id of conditions.segments) {
    const segment = scope.segment(id);
    if (segment !== undefined && !(yield* testsOfSegment(segment, options)) && !isComplete) return;
  }
}

/** Returns whether the segment holds. */
function* testsOfSegment(segment: SegmentSource, options: PreparationOptions): Generator<number, boolean> {
  const { run, isComplete } = options;
  const known = isComplete ? undefined : run.segmentResult(segment);
  if (known !== undefined) return known;
  const holds = yield* testsOf(compileSegment(segment), options);
  run.rememberSegment(segment, holds);
  return holds;
}

/** Returns whether all of them hold. */
function* testsOf(
  constraints: readonly CompiledConstraint[],
  { run, isComplete }: PreparationOptions,
): Generator<number, boolean> {
  let hold = true;
  for (const constraint of constraints) {
    const holds = constraint.holds(run);
    const { effort } = constraint;
    if (effort >= REMEMBERED_EFFORT_MIN) run.remember(constraint, holds);
    yield effort;
    hold &&= holds;
    if (!hold && !isComplete) return false;
  }
  return hold;
}
