/**
 * A flag in one environment, compiled into tests. Flags are immutable, so each is compiled once per environment and
 * kept as long as the flag itself; segments and parents may change without it, so these are looked up in the scope.
 */

import {
  type Cost,
  choiceCost,
  NO_COST,
  strategyCost,
  sumOf,
} from '../../../domain/flags/evaluation-cost.ts';
import { type Dependency, environmentOf, type Flag } from '../../../domain/flags/flag.ts';
import { parameterReader } from '../../../domain/flags/parameters.ts';
import type { Strategy } from '../../../domain/flags/strategy.ts';
import type { Variant } from '../../../domain/flags/variant.ts';
import { stickyReader, variantBucket } from './buckets.ts';
import { type Conditions, compileConditions } from './conditions.ts';
import { contextReader } from './context.ts';
import { type Outcome, offOutcome, onOutcome, type Reason } from './outcome.ts';
import type { Run, Test } from './run.ts';
import { type CompiledKind, compileKind } from './strategy-kind.ts';

export interface CompiledStrategy {
  readonly source: Strategy;
  readonly conditions: Conditions;
  readonly kind: CompiledKind | null;
  readonly choice: CompiledChoice | null;
  /** On without a variant of this strategy's own. */
  readonly on: Outcome;
  readonly cost: Cost;
}

export interface CompiledChoice {
  readonly choice: VariantChoice;
  /** One for each variant, in the same order. */
  readonly outcomes: readonly Outcome[];
}

export interface CompiledFlag {
  readonly flag: Flag;
  /** The flag's name: lists are sorted by it, and searched. */
  readonly name: string;
  readonly enabled: boolean;
  readonly dependencies: readonly Dependency[];
  /** Enabled, and with a strategy that is not disabled if it has any: SDKs take an empty list for "everyone". */
  readonly isOn: boolean;
  readonly strategies: readonly CompiledStrategy[];
  readonly disabledStrategies: readonly Strategy[];
  /** The flag's variants, for strategies that have none of their own. */
  readonly choice: CompiledChoice | null;
  /** Off for all users. */
  readonly disabled: Outcome;
  /** On, but not for this context. */
  readonly missed: Outcome;
  /** On without any strategy, and so for all users whom its parents allow. */
  readonly on: Outcome;
  readonly cost: Cost;
}

const compiledFlags = new WeakMap<Flag, Map<string, CompiledFlag>>();

export function compileFlag(flag: Flag, environment: string): CompiledFlag {
  let byEnvironment = compiledFlags.get(flag);
  if (byEnvironment === undefined) {
    byEnvironment = new Map();
    compiledFlags.set(flag, byEnvironment);
  }
  let compiled = byEnvironment.get(environment);
  if (compiled === undefined) {
    compiled = compile(flag, environment);
    byEnvironment.set(environment, compiled);
  }
  return compiled;
}

function compile(flag: Flag, environment: string): CompiledFlag {
  const { enabled, strategies: all, variants } = environmentOf(flag, environment);
  const active = all.filter(({ disabled }) => disabled !== true);
  const strategies = active.map((strategy) => compileStrategy(flag, strategy));
  const isOn = enabled && (active.length > 0 || all.length === 0);
  const choice = compileVariants({ variants, groupId: flag.name, stickiness: '' });
  const costs = strategies.map(({ cost }) => cost);
  return {
    flag,
    name: flag.name,
    enabled,
    dependencies: flag.dependencies,
    isOn,
    strategies,
    disabledStrategies: all.filter(({ disabled }) => disabled === true),
    choice: choiceOf(flag, choice),
    disabled: offOutcome(flag, 'DISABLED'),
    missed: offOutcome(flag, missReason(flag, strategies)),
    on: onOutcome(flag, flag.dependencies.length > 0 ? 'TARGETING_MATCH' : 'STATIC'),
    cost: sumOf([...costs, choice?.cost ?? NO_COST]),
  };
}

function compileStrategy(flag: Flag, source: Strategy): CompiledStrategy {
  const { parameters, variants } = source;
  const kind = compileKind(source.name, parameters);
  const read = parameterReader(parameters);
  const choice = compileVariants({
    variants,
    groupId: read('groupId') || flag.name,
    stickiness: read('stickiness'),
  });
  const conditions = compileConditions(source);
  return {
    source,
    conditions,
    kind,
    choice: choiceOf(flag, choice),
    on: onOutcome(flag, hitReason(flag, source, kind)),
    cost: strategyCost(source),
  };
}

function choiceOf(flag: Flag, choice: VariantChoice | null): CompiledChoice | null {
  if (choice === null) return null;
  const reason = choice.variants.length === 1 ? 'TARGETING_MATCH' : 'SPLIT';
  return { choice, outcomes: choice.variants.map((variant) => onOutcome(flag, reason, variant)) };
}

function isConditional(
  flag: Flag,
  { constraints, segments }: Pick<Strategy, 'constraints' | 'segments'>,
): boolean {
  return flag.dependencies.length > 0 || constraints.length > 0 || segments.length > 0;
}

function isConstant(kind: CompiledKind | null): boolean {
  return kind !== null && kind.constant !== null;
}

function hitReason(flag: Flag, source: Strategy, kind: CompiledKind | null): Reason {
  if (isConstant(kind) && !isConditional(flag, source)) return 'STATIC';
  return kind?.rollout && !isConstant(kind) ? 'SPLIT' : 'TARGETING_MATCH';
}

/** For a context that the flag's parents or all of its strategies turn down. */
function missReason(flag: Flag, strategies: readonly CompiledStrategy[]): Reason {
  const plain = strategies.filter(({ source, kind }) => kind !== null && !isConditional(flag, source));
  if (plain.length === 0 || plain.length < strategies.length) return 'TARGETING_MATCH';
  if (plain.every(({ kind }) => isConstant(kind))) return 'STATIC';
  return plain.every(({ kind }) => kind?.rollout) ? 'SPLIT' : 'TARGETING_MATCH';
}

// Chooses the variant of a list that a context gets: an override's, or else by weight.

interface VariantChoice {
  readonly variants: readonly Variant[];
  readonly stickiness: string;
  readonly groupId: string;
  readonly totalWeight: number;
  readonly cost: Cost;
  /** Null when nothing can be chosen, because the weights add up to nothing or are no weights. */
  pick(run: Run): VariantPick | null;
}

interface VariantPick {
  readonly position: number;
  /** From 1 to the total weight; null when an override decided. */
  readonly bucket: number | null;
}

interface VariantChoiceOptions {
  readonly variants: readonly Variant[];
  readonly groupId: string;
  /** The stickiness of variants that name none: that of the list's first variant. */
  readonly stickiness: string;
}

function compileVariants({
  variants,
  groupId,
  stickiness: otherwise,
}: VariantChoiceOptions): VariantChoice | null {
  const [first] = variants;
  if (first === undefined) return null;
  const stickiness = first.stickiness || otherwise || 'default';
  const totalWeight = variants.reduce((sum, { weight }) => sum + weight, 0);
  const sticky = variantBucket({ groupId, sticky: stickyReader(stickiness), highest: totalWeight });
  const overrides = variants.map(compileOverrides);
  const pick = (run: Run): VariantPick | null => {
    if (!(totalWeight > 0)) return null;
    const overridden = overrides.findIndex((test) => test?.(run));
    if (overridden !== -1) return { position: overridden, bucket: null };
    const bucket = sticky.of(run) || run.draw(totalWeight);
    const position = positionOf(bucket, variants);
    return position === -1 ? null : { position, bucket };
  };
  return { variants, stickiness, groupId, totalWeight, cost: choiceCost(variants), pick };
}

function compileOverrides({ overrides }: Variant): Test | null {
  // Documents of older servers may lack the list.
  if (!overrides?.length) return null;
  const tests = overrides.map(({ contextName, values }): Test => {
    const read = contextReader(contextName);
    const texts: ReadonlySet<string | undefined> = new Set(values);
    return ({ context }) => texts.has(read(context));
  });
  return (run) => tests.some((test) => test(run));
}

/** The position of the variant whose share holds the bucket; -1 for none, as when weights are negative. */
function positionOf(bucket: number, variants: readonly Variant[]): number {
  let end = 0;
  return variants.findIndex(({ weight }) => {
    end += weight;
    return weight > 0 && bucket <= end;
  });
}
