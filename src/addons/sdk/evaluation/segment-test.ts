/** Segments: constraints that many strategies share by id. */
import { type CompiledConstraint, type ConstraintSource, compileConstraint } from './constraint-test.ts';
import { onceEach } from './once-each.ts';

/** The part of a segment that an evaluation needs. Immutable: a change makes another object. */
export interface SegmentSource {
  readonly id: number;
  readonly name: string;
  readonly constraints: readonly ConstraintSource[];
}

export const compileSegment = onceEach(({ constraints }: SegmentSource): readonly CompiledConstraint[] =>
  constraints.map(compileConstraint),
);
