/**
 * The order in which compiled rules decide: the environment, the flag, its parents, then the first strategy that takes
 * the context, then the variant. Outcomes are chosen here, never made. As the SDKs do, a parent with parents of its own allows
 * nobody, and neither does a segment that is not there.
 */
import type { Dependency } from '../../../domain/flags/flag.ts';
import type { CompiledChoice, CompiledFlag, CompiledStrategy } from './compiled-flag.ts';
import type { Segments } from './conditions.ts';
import { type Outcome, variantNameOf } from './outcome.ts';
import { finished, type Run, type Steps } from './run.ts';
import { kindTakes } from './strategy-kind.ts';

/** The things that one flag's rules look up outside of it. */
export interface CompiledScope extends Segments {
  /** False: every flag is off. */
  readonly environmentEnabled: boolean;
  flag(name: string): CompiledFlag | undefined;
}

/** Evaluates a flag in steps, because it may have a thousand rules. */
export function* outcomeSteps(flag: CompiledFlag, scope: CompiledScope, run: Run): Steps<Outcome> {
  if (!flag.isOn || !scope.environmentEnabled) return flag.disabled;
  for (const dependency of flag.dependencies) {
    if (!(yield* parentAllows(dependency, scope, run))) return flag.missed;
  }
  if (flag.strategies.length === 0) return outcomeWithout(flag, run);
  for (const strategy of flag.strategies) {
    if (yield* takes(strategy, scope, run)) return outcomeBy(strategy, flag, run);
  }
  return flag.missed;
}

/** Evaluates a flag whose rules are known to take negligible time. */
export function outcomeOf(flag: CompiledFlag, scope: CompiledScope, run: Run): Outcome {
  return finished(outcomeSteps(flag, scope, run));
}

export function* parentAllows(dependency: Dependency, scope: CompiledScope, run: Run): Steps<boolean> {
  const parent = scope.flag(dependency.feature);
  if (parent === undefined || parent.dependencies.length > 0) return false;
  const outcome = yield* outcomeSteps(parent, scope, run);
  if (dependency.enabled === false) return !outcome.enabled;
  const { variants } = dependency;
  return outcome.enabled && (variants.length === 0 || variants.includes(variantNameOf(outcome)));
}

function* takes({ conditions, kind }: CompiledStrategy, scope: CompiledScope, run: Run): Steps<boolean> {
  return kind !== null && (yield* conditions.holdInSteps(run, scope)) && (yield* kindTakes(kind, run));
}

export function outcomeBy(strategy: CompiledStrategy, flag: CompiledFlag, run: Run): Outcome {
  return chosen(strategy.choice, run) ?? chosen(flag.choice, run) ?? strategy.on;
}

function outcomeWithout(flag: CompiledFlag, run: Run): Outcome {
  return chosen(flag.choice, run) ?? flag.on;
}

function chosen(compiled: CompiledChoice | null, run: Run): Outcome | null {
  if (compiled === null) return null;
  const pick = compiled.choice.pick(run);
  return pick === null ? null : compiled.outcomes[pick.position]!;
}
