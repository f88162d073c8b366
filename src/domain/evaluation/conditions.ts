/** What a strategy asks for beside its kind: that its constraints hold, and those of its segments. */
import type { Strategy } from '../flags/strategy.ts';
import { type CompiledConstraint, compileConstraint } from './constraint-test.ts';
import { Interned } from './interned.ts';
import type { Run } from './run.ts';
import { compileSegment, type SegmentSource } from './segment-test.ts';

/** Where segments are looked up: they change without the strategies that refer to them. */
export interface Segments {
  segment(id: number): SegmentSource | undefined;
}

export class Conditions {
  readonly constraints: readonly CompiledConstraint[];
  /** Ids. */
  readonly segments: readonly number[];
  /** About how many microseconds the tests of the constraints take at worst. */
  readonly effort: number;
  #runId = 0;
  #hold = false;

  constructor(constraints: readonly CompiledConstraint[], segments: readonly number[]) {
    this.constraints = constraints;
    this.segments = segments;
    this.effort = constraints.reduce((sum, { effort }) => sum + effort, 0);
  }

  get isEmpty(): boolean {
    return this.constraints.length === 0 && this.segments.length === 0;
  }

  /** Tested once in a run, however many strategies have them. A segment that is not there holds for nobody. */
  hold(run: Run, scope: Segments): boolean {
    if (this.#runId !== run.id) {
      this.#hold = this.#test(run, scope);
      this.#runId = run.id;
    }
    return this.#hold;
  }

  #test(run: Run, scope: Segments): boolean {
    if (!allHold(this.constraints, run)) return false;
    for (const id of this.segments) {
      const segment = scope.segment(id);
      if (segment === undefined) return false;
      if (!(run.segmentResult(segment) ?? allHold(compileSegment(segment), run))) return false;
    }
    return true;
  }
}

function allHold(constraints: readonly CompiledConstraint[], run: Run): boolean {
  for (const constraint of constraints) {
    if (!constraint.holds(run)) return false;
  }
  return true;
}

const interned = new Interned<Conditions>();

/** The same object for strategies that ask for the same. */
export function compileConditions({
  constraints,
  segments,
}: Pick<Strategy, 'constraints' | 'segments'>): Conditions {
  const compiled = constraints.map(compileConstraint);
  const key = JSON.stringify([compiled.map(({ id }) => id), segments]);
  return interned.of(key, () => new Conditions(compiled, segments));
}
