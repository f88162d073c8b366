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
  /** By name, in the order of UTF-16 units. */
  readonly #sorted: CompiledFlag[];
  readonly #environment: string;

  constructor({ environment, environmentEnabled, flags, segments }: EvaluationScope) {
    this.#environment = environment;
    for (const flag of flags) {
      if (flag.archivedAt === null) this.#flags.set(flag.name, compileFlag(flag, environment));
    }
    this.#sorted = [...this.#flags.values()].sort((a, b) => (a.flag.name < b.flag.name ? -1 : 1));
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
    this.#sorted.splice(this.#positionOf(flag.name), this.#flags.has(flag.name) ? 1 : 0, compiled);
    this.#flags.set(flag.name, compiled);
  }

  /** A flag that was deleted, or moved out of the scope. */
  delete(name: string): void {
    if (this.#flags.delete(name)) this.#sorted.splice(this.#positionOf(name), 1);
  }

  /** A flag that is not in the scope is off. */
  evaluate(name: string, input: EvaluationInput): Outcome {
    const compiled = this.#flags.get(name);
    return compiled === undefined ? unknownFlagOutcome(name) : this.#outcome(compiled, new Run(input));
  }

  /** Of every flag, on or off, by name. */
  evaluateAll(input: EvaluationInput): Outcome[] {
    const run = new Run(input);
    return this.#sorted.map((compiled) => this.#outcome(compiled, run));
  }

  /** Of the flags that are on, by name. */
  evaluateEnabled(input: EvaluationInput): Outcome[] {
    const run = new Run(input);
    const enabled: Outcome[] = [];
    for (const compiled of this.#sorted) {
      const outcome = this.#outcome(compiled, run);
      if (outcome.enabled) enabled.push(outcome);
    }
    return enabled;
  }

  /** The outcome with what led to it; null for a flag that is not in the scope. */
  explain(name: string, input: EvaluationInput): Explanation | null {
    const compiled = this.#flags.get(name);
    return compiled === undefined ? null : explainFlag(compiled, this.#scope, new Run(input));
  }

  /** How many flags are in the scope. */
  get size(): number {
    return this.#sorted.length;
  }

  has(name: string): boolean {
    return this.#flags.has(name);
  }

  /** In the list of sorted flags: of the one of that name, or where it would be. */
  #positionOf(name: string): number {
    let [start, end] = [0, this.#sorted.length];
    while (start < end) {
      const middle = (start + end) >> 1;
      if (this.#sorted[middle]!.flag.name < name) start = middle + 1;
      else end = middle;
    }
    return start;
  }

  #outcome(compiled: CompiledFlag, run: Run): Outcome {
    return outcomeOf(compiled, this.#scope, run);
  }
}
