/**
 * Why a flag is on or off: every rule of it with what it came to. It asks the same compiled tests as an evaluation, but
 * continues where that would stop, so that all strategies and constraints are explained. Where chance decides, each rule is
 * asked once, and the outcome follows from the answers shown.
 */
import type { Dependency, Flag } from '../../../domain/flags/flag.ts';
import type { Strategy } from '../../../domain/flags/strategy.ts';
import type { CompiledChoice, CompiledFlag, CompiledStrategy } from './compiled-flag.ts';
import type { CompiledConstraint, ConstraintSource } from './constraint-test.ts';
import { contextReader } from './context.ts';
import type { Outcome } from './outcome.ts';
import { type CompiledScope, parentAllows } from './rules.ts';
import type { Run, Steps } from './run.ts';
import { compileSegment } from './segment-test.ts';
import { isInRollout, kindTakes } from './strategy-kind.ts';

/** The last rule that was needed to know whether the flag is on. */
export type DecidedBy =
  | { readonly kind: 'environment-disabled' }
  | { readonly kind: 'flag-disabled' }
  | { readonly kind: 'all-strategies-disabled' }
  | { readonly kind: 'parent'; readonly feature: string }
  | { readonly kind: 'no-strategies' }
  | { readonly kind: 'strategy'; readonly id: string }
  | { readonly kind: 'no-strategy-matched' };

export interface Explanation {
  readonly flag: Flag;
  readonly outcome: Outcome;
  readonly decidedBy: DecidedBy;
  readonly parents: readonly ParentResult[];
  /** Strategies in order, the disabled ones last. */
  readonly strategies: readonly StrategyResult[];
  /** Null when there was nothing to choose from. */
  readonly variant: VariantResult | null;
  /**
   * Values of the fields that constraints name; null for a field not given. Listed once, because each may be long, and many
   * constraints may name it.
   */
  readonly contextValues: ContextValues;
}

type ContextValues = ReadonlyMap<string, string | null>;

export interface ParentResult {
  readonly dependency: Dependency;
  readonly result: boolean;
}

export interface StrategyResult {
  readonly strategy: Strategy;
  /** A disabled strategy is not evaluated; one of an unknown kind is never on. */
  readonly status: 'evaluated' | 'disabled' | 'unknown-kind';
  readonly result: boolean;
  readonly constraints: readonly ConstraintResult[];
  readonly segments: readonly SegmentResult[];
  /** Null for a kind without a percentage. */
  readonly rollout: RolloutResult | null;
}

export interface ConstraintResult {
  readonly constraint: ConstraintSource;
  readonly result: boolean;
}

export interface SegmentResult {
  readonly id: number;
  /** Null when there is no such segment, which makes the result false. */
  readonly name: string | null;
  readonly constraints: readonly ConstraintResult[];
  readonly result: boolean;
}

export interface RolloutResult {
  readonly percentage: number;
  readonly stickiness: string;
  readonly groupId: string;
  /** From 1 to 100, within the rollout up to the percentage; 0 when the context lacks the field of the stickiness. */
  readonly bucket: number;
  readonly result: boolean;
}

export interface VariantResult {
  readonly of: 'strategy' | 'flag';
  readonly by: 'override' | 'weight';
  readonly stickiness: string;
  readonly groupId: string;
  readonly totalWeight: number;
  /** From 1 to the total weight; null for an override. */
  readonly bucket: number | null;
}

export function* explanationSteps(flag: CompiledFlag, scope: CompiledScope, run: Run): Steps<Explanation> {
  const parents: ParentResult[] = [];
  for (const dependency of flag.dependencies)
    parents.push({ dependency, result: yield* parentAllows(dependency, scope, run) });
  const active: StrategyResult[] = [];
  for (const strategy of flag.strategies) active.push(yield* explainStrategy(strategy, scope, run));
  const decidedBy = decide({ flag, scope, parents, active });
  const at = active.findIndex(({ result }) => result);
  const strategy = flag.strategies[at] ?? null;
  const strategies = [...active, ...flag.disabledStrategies.map(disabledResult)];
  const contextValues = contextValuesOf(strategies, run);
  if (decidedBy.kind !== 'strategy' && decidedBy.kind !== 'no-strategies') {
    const outcome =
      decidedBy.kind === 'parent' || decidedBy.kind === 'no-strategy-matched' ? flag.missed : flag.disabled;
    return { flag: flag.flag, outcome, decidedBy, parents, strategies, variant: null, contextValues };
  }
  const ofStrategy = explainChoice(strategy?.choice ?? null, 'strategy', run);
  const found = ofStrategy ?? explainChoice(flag.choice, 'flag', run);
  const outcome = found?.outcome ?? strategy?.on ?? flag.on;
  const variant = found?.variant ?? null;
  return { flag: flag.flag, outcome, decidedBy, parents, strategies, variant, contextValues };
}

function contextValuesOf(strategies: readonly StrategyResult[], { context }: Run): ContextValues {
  const values = new Map<string, string | null>();
  const add = ({ constraint: { contextName } }: ConstraintResult): void => {
    if (!values.has(contextName)) values.set(contextName, contextReader(contextName)(context) ?? null);
  };
  for (const { constraints, segments } of strategies) {
    constraints.forEach(add);
    for (const segment of segments) segment.constraints.forEach(add);
  }
  return values;
}

interface Decision {
  readonly flag: CompiledFlag;
  readonly scope: CompiledScope;
  readonly parents: readonly ParentResult[];
  readonly active: readonly StrategyResult[];
}

function decide({ flag, scope, parents, active }: Decision): DecidedBy {
  if (!scope.environmentEnabled) return { kind: 'environment-disabled' };
  if (!flag.enabled) return { kind: 'flag-disabled' };
  if (!flag.isOn) return { kind: 'all-strategies-disabled' };
  const refusing = parents.find(({ result }) => !result);
  if (refusing !== undefined) return { kind: 'parent', feature: refusing.dependency.feature };
  if (active.length === 0) return { kind: 'no-strategies' };
  const taking = active.find(({ result }) => result);
  return taking === undefined
    ? { kind: 'no-strategy-matched' }
    : { kind: 'strategy', id: taking.strategy.id };
}

function* explainStrategy(compiled: CompiledStrategy, scope: CompiledScope, run: Run): Steps<StrategyResult> {
  const { source, kind } = compiled;
  const constraints = yield* explainConstraints(compiled.conditions.constraints, run);
  const segments: SegmentResult[] = [];
  for (const id of source.segments) segments.push(yield* explainSegment(id, scope, run));
  const rollout = explainRollout(compiled, run);
  const applies = kind !== null && (rollout === null ? yield* kindTakes(kind, run) : rollout.result);
  return {
    strategy: source,
    status: kind === null ? 'unknown-kind' : 'evaluated',
    result: applies && areAllTrue(constraints) && areAllTrue(segments),
    constraints,
    segments,
    rollout,
  };
}

function disabledResult(strategy: Strategy): StrategyResult {
  return { strategy, status: 'disabled', result: false, constraints: [], segments: [], rollout: null };
}

function* explainConstraints(
  constraints: readonly CompiledConstraint[],
  run: Run,
): Steps<ConstraintResult[]> {
  const results: ConstraintResult[] = [];
  for (const constraint of constraints) {
    results.push({
      constraint: constraint.source,
      result: yield* constraint.holdsInSteps(run),
    });
  }
  return results;
}

function* explainSegment(id: number, scope: CompiledScope, run: Run): Steps<SegmentResult> {
  const segment = scope.segment(id);
  if (segment === undefined) return { id, name: null, constraints: [], result: false };
  const constraints = yield* explainConstraints(compileSegment(segment), run);
  return { id, name: segment.name, constraints, result: areAllTrue(constraints) };
}

function explainRollout({ kind }: CompiledStrategy, run: Run): RolloutResult | null {
  if (!kind?.rollout) return null;
  const { percentage, stickiness, groupId } = kind.rollout;
  const bucket = kind.rollout.bucket(run);
  return { percentage, stickiness, groupId, bucket, result: isInRollout(bucket, percentage) };
}

function explainChoice(
  compiled: CompiledChoice | null,
  of: VariantResult['of'],
  run: Run,
): { readonly outcome: Outcome; readonly variant: VariantResult } | null {
  if (compiled === null) return null;
  const { choice, outcomes } = compiled;
  const pick = choice.pick(run);
  if (pick === null) return null;
  const { stickiness, groupId, totalWeight } = choice;
  const { position, bucket } = pick;
  const by = bucket === null ? 'override' : 'weight';
  return { outcome: outcomes[position]!, variant: { of, by, stickiness, groupId, totalWeight, bucket } };
}

function areAllTrue(results: readonly { readonly result: boolean }[]): boolean {
  return results.every(({ result }) => result);
}
