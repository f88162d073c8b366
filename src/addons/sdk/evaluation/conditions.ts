/** Conditions of a strategy beside its kind: its constraints hold, and those of its segments. */

import { type Cost, sumOf } from '../../../domain/flags/evaluation-cost.ts';
import type { Strategy } from '../../../domain/flags/strategy.ts';
import { type CompiledConstraint, compileConstraint } from './constraint-test.ts';
import { Interned } from './interned.ts';
import type { Run, Steps } from './run.ts';
import { compileSegment, type SegmentSource } from './segment-test.ts';

/** Looks up segments, which change without the strategies that refer to them. */
export interface Segments {
  segment(id: number): SegmentSource | undefined;
}

export class Conditions {
  readonly constraints: readonly CompiledConstraint[];
  readonly segments: readonly number[];
  readonly cost: Cost;
  #runId = 0;
  #hold = false;

  constructor(constraints: readonly CompiledConstraint[], segments: readonly number[]) {
    this.constraints = constraints;
    this.segments = segments;
    this.cost = sumOf(constraints.map(({ cost }) => cost));
  }

  get isEmpty(): boolean {
    return this.constraints.length === 0 && this.segments.length === 0;
  }

  /** Tested once in a run, however many strategies have them. A missing segment never holds. */
  hold(run: Run, scope: Segments): boolean {
    if (this.#runId !== run.id) {
      this.#hold = this.#test(run, scope);
      this.#runId = run.id;
    }
    return this.#hold;
  }

  /** Tests in steps, where the conditions may take long. */
  *holdInSteps(run: Run, scope: Segments): Steps<boolean> {
    if (this.#runId === run.id) return this.#hold;
    const hold = yield* this.#testInSteps(run, scope);
    this.#hold = hold;
    this.#runId = run.id;
    return hold;
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

  *#testInSteps(run: Run, scope: Segments): Steps<boolean> {
    if (!(yield* allHoldInSteps(this.constraints, run))) return false;
    for (const id of this.segments) {
      const segment = scope.segment(id);
      if (segment === undefined || !(yield* segmentHolds(segment, run))) return false;
    }
    return true;
  }
}

function* segmentHolds(segment: SegmentSource, run: Run): Steps<boolean> {
  const known = run.segmentResult(segment);
  if (known !== undefined) return known;
  const holds = yield* allHoldInSteps(compileSegment(segment), run);
  run.rememberSegment(segment, holds);
  return holds;
}

function allHold(constraints: readonly CompiledConstraint[], run: Run): boolean {
  for (const constraint of constraints) {
    if (!constraint.holds(run)) return false;
  }
  return true;
}

function* allHoldInSteps(constraints: readonly CompiledConstraint[], run: Run): Steps<boolean> {
  for (const constraint of constraints) {
    if (!(yield* constraint.holdsInSteps(run))) return false;
  }
  return true;
}

const interned = new Interned<Conditions>();

export function compileConditions({
  constraints,
  segments,
}: Pick<Strategy, 'constraints' | 'segments'>): Conditions {
  const compiled = constraints.map(compileConstraint);
  const key = JSON.stringify([compiled.map(({ id }) => id), segments]);
  return interned.of(key, () => new Conditions(compiled, segments));
}
