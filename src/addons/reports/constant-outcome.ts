/**
 * The outcome of a flag that is the same for every context, found without evaluating one: the rules of src/addons/sdk/evaluation/rules.ts, in which each test
 * passes always, never or sometimes.
 */
import type { Dependency } from '../../domain/flags/flag.ts';
import type { CompiledChoice, CompiledFlag, CompiledStrategy } from '../sdk/evaluation/compiled-flag.ts';
import { type Outcome, variantNameOf } from '../sdk/evaluation/outcome.ts';
import type { CompiledScope } from '../sdk/evaluation/rules.ts';

export interface ConstantOutcome {
  readonly enabled: boolean;
  /** The name of the variant; null without one. */
  readonly variant: string | null;
  /** Whether it follows from the flag and the switch of its environment, and not from parents or segments. */
  readonly isOwn: boolean;
}

/** Null where it may depend on the context. */
export function constantOutcome(flag: CompiledFlag, scope: CompiledScope): ConstantOutcome | null {
  const found = only(possibleOutcomes(flag, scope), keyOf);
  if (found === null) return null;
  const { enabled, variant } = found;
  return { enabled, variant: variant === null ? null : variant.name, isOwn: isOwn(flag) };
}

/** Variants of two strategies may have one name, and different payloads. */
const keyOf = ({ enabled, variant }: Outcome): string =>
  JSON.stringify([enabled, variant?.name, variant?.payload]);

function isOwn({ isOn, dependencies, strategies }: CompiledFlag): boolean {
  if (!isOn) return true;
  return dependencies.length === 0 && strategies.every(({ conditions }) => conditions.segments.length === 0);
}

/** The first item if all have the same key. */
function only<T>(items: Iterable<T>, key: (item: T) => unknown): T | null {
  let found: T | null = null;
  for (const item of items) {
    if (found !== null && key(found) !== key(item)) return null;
    found ??= item;
  }
  return found;
}

function* possibleOutcomes(flag: CompiledFlag, scope: CompiledScope): Generator<Outcome, void> {
  if (!flag.isOn || !scope.environmentEnabled) return yield flag.disabled;
  for (const dependency of flag.dependencies) {
    const allows = parentAllows(dependency, scope);
    if (allows !== true) yield flag.missed;
    if (allows === false) return;
  }
  if (flag.strategies.length === 0) return yield* chosen([flag.choice], flag.on);
  for (const strategy of flag.strategies) {
    const isTaken = takes(strategy, scope);
    if (isTaken !== false) yield* chosen([strategy.choice, flag.choice], strategy.on);
    if (isTaken === true) return;
  }
  yield flag.missed;
}

/** Null: for some contexts, as far as is known. */
function parentAllows({ feature, enabled, variants }: Dependency, scope: CompiledScope): boolean | null {
  const parent = scope.flag(feature);
  if (parent === undefined || parent.dependencies.length > 0) return false;
  const allows = (outcome: Outcome): boolean => {
    if (enabled === false) return !outcome.enabled;
    return outcome.enabled && (variants.length === 0 || variants.includes(variantNameOf(outcome)));
  };
  const outcome = only(possibleOutcomes(parent, scope), allows);
  return outcome === null ? null : allows(outcome);
}

function takes({ conditions, kind }: CompiledStrategy, scope: CompiledScope): boolean | null {
  const segments = conditions.segments.map((id) => scope.segment(id));
  if (kind?.constant === false || segments.includes(undefined)) return false;
  const isTested = conditions.constraints.length > 0 || segments.some((one) => one!.constraints.length > 0);
  // Applications may know kinds that are not built in.
  return kind?.constant === true && !isTested ? true : null;
}

/** The variants of the first list that any can be chosen from, or the outcome without one. */
function* chosen(choices: readonly (CompiledChoice | null)[], without: Outcome): Generator<Outcome, void> {
  for (const one of choices) {
    if (one === null || !(one.choice.totalWeight > 0)) continue;
    const { variants } = one.choice;
    for (const [at, { weight, overrides }] of variants.entries())
      if (weight > 0 || overrides?.length) yield one.outcomes[at]!;
    // Weights below 0 leave some contexts without any.
    if (variants.every(({ weight }) => weight >= 0)) return;
  }
  yield without;
}
