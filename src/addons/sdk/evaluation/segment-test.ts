/** Segments: constraints that many strategies share by id. */
import { type CompiledConstraint, type ConstraintSource, compileConstraint } from './constraint-test.ts';

/** The part of a segment that an evaluation needs. Immutable: a change makes another object. */
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
