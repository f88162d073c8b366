/** Segments: constraints that many strategies share by id. */
import {
  type CompiledConstraint,
  type ConstraintSource,
  compileConstraint,
  effortOf,
} from './constraint-test.ts';

/** What an evaluation needs of a segment. Immutable: a change makes another object. */
export interface SegmentSource {
  readonly id: number;
  readonly name: string;
  readonly constraints: readonly ConstraintSource[];
}

const compiledSegments = new WeakMap<SegmentSource, readonly CompiledConstraint[]>();

export function compileSegment(segment: SegmentSource): readonly CompiledConstraint[] {
  let compiled = compiledSegments.get(segment);
  if (compiled === undefined) {
    compiled = segment.constraints.map(compileConstraint);
    compiledSegments.set(segment, compiled);
  }
  return compiled;
}

const efforts = new WeakMap<SegmentSource, number>();

/** About how many microseconds its tests take at worst, told without compiling it. */
export function segmentEffort(segment: SegmentSource): number {
  let effort = efforts.get(segment);
  if (effort === undefined) {
    effort = segment.constraints.reduce((sum, constraint) => sum + effortOf(constraint), 0);
    efforts.set(segment, effort);
  }
  return effort;
}
