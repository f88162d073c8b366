/**
 * Evaluates the flags of one scope: an environment, the flags that whoever asks may see, and the segments. Its owner
 * tells it of each flag that changed, which costs as much as that flag; the segments are the owner's, and are looked up
 * at each evaluation. The rules are those of the Unleash SDKs, as @unleash/client-specification states them.
 */
import type { Flag } from '../flags/flag.ts';
import { type CompiledFlag, compileFlag } from './compiled-flag.ts';
import { type Explanation, explainFlag } from './explanation.ts';
import { type Outcome, unknownFlagOutcome } from './outcome.ts';
import { type CompiledScope, outcomeOf } from './rules.ts';
import { type EvaluationInput, Run } from './run.ts';
import type { SegmentSource } from './segment-test.ts';
import { SortedFlags } from './sorted-flags.ts';

export interface EvaluationScope {
  readonly environment: string;
  /** Whether the environment as a whole is on; every flag is off in one that is not. */
  readonly environmentEnabled: boolean;
  /** Archived ones count as not there. A parent outside the scope is not there either. */
  readonly flags: Iterable<Flag>;
  readonly segments: Pick<ReadonlyMap<number, SegmentSource>, 'get'>;
}

export class Evaluator {
  readonly #scope: CompiledScope;
  readonly #flags = new Map<string, CompiledFlag>();
  readonly #sorted: SortedFlags;
  readonly #environment: string;

  constructor({ environment, environmentEnabled, flags, segments }: EvaluationScope) {
    this.#environment = environment;
    for (const flag of flags) {
      if (flag.archivedAt === null) this.#flags.set(flag.name, compileFlag(flag, environment));
    }
    this.#sorted = new SortedFlags(this.#flags.values());
    this.#scope = {
      environmentEnabled,
      flag: (name) => this.#flags.get(name),
      segment: (id) => segments.get(id),
    };
  }

  /** Puts the flag in place of the one of its name; an archived one leaves the scope. */
  set(flag: Flag): void {
    if (flag.archivedAt !== null) {
      this.delete(flag.name);
      return;
    }
    const compiled = compileFlag(flag, this.#environment);
    this.#sorted.set(compiled);
    this.#flags.set(flag.name, compiled);
  }

  /** A flag that was deleted, or moved out of the scope. */
  delete(name: string): void {
    if (this.#flags.delete(name)) this.#sorted.delete(name);
  }

  /** A flag that is not in the scope is off. */
  evaluate(name: string, input: EvaluationInput): Outcome {
    const compiled = this.#flags.get(name);
    return compiled === undefined
      ? unknownFlagOutcome(name)
      : outcomeOf(compiled, this.#scope, new Run(input));
  }

  /** Of every flag, on or off, by name. */
  evaluateAll(input: EvaluationInput): Outcome[] {
    return this.#outcomes(input, false);
  }

  /** Of the flags that are on, by name. */
  evaluateEnabled(input: EvaluationInput): Outcome[] {
    return this.#outcomes(input, true);
  }

  /** The outcome with what led to it; null for a flag that is not in the scope. */
  explain(name: string, input: EvaluationInput): Explanation | null {
    const compiled = this.#flags.get(name);
    return compiled === undefined ? null : explainFlag(compiled, this.#scope, new Run(input));
  }

  /** Makes some of what lists are evaluated by, which would else be made all at once for the next one. True when there is nothing left. */
  makeColumns(): boolean {
    return this.#sorted.makeColumns();
  }

  /** How many flags are in the scope. */
  get size(): number {
    return this.#flags.size;
  }

  has(name: string): boolean {
    return this.#flags.has(name);
  }

  #outcomes(input: EvaluationInput, onlyEnabled: boolean): Outcome[] {
    const run = new Run(input);
    const outcomes: Outcome[] = [];
    for (const block of this.#sorted.blocks) block.columns.evaluate(run, this.#scope, onlyEnabled, outcomes);
    return outcomes;
  }
}
