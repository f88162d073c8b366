/**
 * Evaluates the flags of one scope: an environment, the flags that the caller may see, and the segments, as of one moment. Its owner makes a copy for the next moment and tells that of each flag that changed, which costs as much as that flag.
 * The rules are those of the Unleash SDKs, as @unleash/client-specification states them.
 */
import type { Flag } from '../../../domain/flags/flag.ts';
import { type CompiledFlag, compileFlag } from './compiled-flag.ts';
import { type Explanation, explanationSteps } from './explanation.ts';
import { type Outcome, unknownFlagOutcome } from './outcome.ts';
import { type CompiledScope, outcomeSteps } from './rules.ts';
import { type EvaluationInput, finished, Run, type Steps } from './run.ts';
import type { SegmentSource } from './segment-test.ts';
import { type FlagBlock, SortedFlags } from './sorted-flags.ts';

export interface EvaluationScope {
  readonly environment: string;
  /** Whether the environment as a whole is on; every flag is off in one that is not. */
  readonly environmentEnabled: boolean;
  /** Archived ones count as not there. A parent outside the scope is not there either. */
  readonly flags: Iterable<Flag>;
  readonly segments: Pick<ReadonlyMap<number, SegmentSource>, 'get'>;
}

type Surroundings = Omit<EvaluationScope, 'flags'>;

export class Evaluator {
  readonly #scope: CompiledScope;
  readonly #sorted: SortedFlags;
  readonly #around: Surroundings;
  /** Parents that were looked up: many flags may have the same. */
  readonly #parents = new Map<string, CompiledFlag>();

  constructor({ flags, ...around }: Surroundings & { readonly flags: Iterable<Flag> | SortedFlags }) {
    const { environment, environmentEnabled, segments } = around;
    const sorted = flags instanceof SortedFlags ? flags : sortedOf(flags, environment);
    this.#around = around;
    this.#sorted = sorted;
    this.#scope = {
      environmentEnabled,
      flag: (name) => this.#parent(name),
      segment: (id) => segments.get(id),
    };
  }

  /** Another one with the same flags, and with all that is given in place of what it has; the flags of both change independently. */
  copy(around: Partial<Omit<Surroundings, 'environment'>> = {}): Evaluator {
    return new Evaluator({ ...this.#around, ...around, flags: this.#sorted.copy() });
  }

  #parent(name: string): CompiledFlag | undefined {
    const known = this.#parents.get(name);
    if (known !== undefined) return known;
    const found = this.#sorted.get(name);
    if (found !== undefined) this.#parents.set(name, found);
    return found;
  }

  /** Puts the flag in place of the one of its name; an archived one leaves the scope. */
  set(flag: Flag): void {
    this.#parents.clear();
    if (flag.archivedAt !== null) this.delete(flag.name);
    else this.#sorted.set(compileFlag(flag, this.#around.environment));
  }

  /** A flag that was deleted, or moved out of the scope. */
  delete(name: string): void {
    this.#parents.clear();
    this.#sorted.delete(name);
  }

  /** A flag that is not in the scope is off. */
  evaluate(name: string, input: EvaluationInput): Outcome {
    return finished(this.evaluation(name, input));
  }

  evaluation(name: string, input: EvaluationInput): Steps<Outcome> {
    const compiled = this.#sorted.get(name);
    return compiled === undefined
      ? unknownFlagSteps(name)
      : outcomeSteps(compiled, this.#scope, new Run(input));
  }

  /** Evaluates every flag, or those that are on, by name and a few at a time. The evaluator must not be changed meanwhile. */
  walk(input: EvaluationInput, onlyEnabled: boolean): EvaluationWalk {
    return new EvaluationWalk(this.#sorted.blocks, this.#scope, new Run(input), onlyEnabled);
  }

  /** The outcome with what led to it; null for a flag that is not in the scope. */
  explanation(name: string, input: EvaluationInput): Steps<Explanation> | null {
    const compiled = this.#sorted.get(name);
    return compiled === undefined ? null : explanationSteps(compiled, this.#scope, new Run(input));
  }

  get size(): number {
    return this.#sorted.size;
  }

  has(name: string): boolean {
    return this.#sorted.get(name) !== undefined;
  }

  /** All flags by name, in blocks, whose columns lists are evaluated by. */
  get blocks(): readonly FlagBlock[] {
    return this.#sorted.blocks;
  }
}

export class EvaluationWalk {
  readonly #blocks: readonly FlagBlock[];
  readonly #scope: CompiledScope;
  readonly #run: Run;
  readonly #onlyEnabled: boolean;
  #at = 0;
  /** The next flag of a block whose flags are evaluated one by one; null for any other block. */
  #flagAt: number | null = null;
  #steps: Steps<Outcome> | null = null;

  constructor(blocks: readonly FlagBlock[], scope: CompiledScope, run: Run, onlyEnabled: boolean) {
    this.#blocks = blocks;
    this.#scope = scope;
    this.#run = run;
    this.#onlyEnabled = onlyEnabled;
  }

  /** Appends the outcomes of some more flags, which may be none. True when there are no more flags. */
  advance(into: Outcome[]): boolean {
    const block = this.#blocks[this.#at];
    if (block === undefined) return true;
    if (this.#flagAt === null && block.cost.isHeavy(this.#scope, this.#run)) this.#flagAt = 0;
    if (this.#flagAt === null) block.columns.evaluate(this.#run, this.#scope, this.#onlyEnabled, into);
    else if (!this.#advanceIn(block, this.#flagAt, into)) return false;
    this.#flagAt = null;
    this.#at += 1;
    return this.#at === this.#blocks.length;
  }

  /** Makes a step of the evaluation of the flag at that position. True when it was the last one, of the last flag of its block. */
  #advanceIn({ flags }: FlagBlock, at: number, into: Outcome[]): boolean {
    this.#steps ??= outcomeSteps(flags[at]!, this.#scope, this.#run);
    const { done, value: outcome } = this.#steps.next();
    if (done !== true) return false;
    this.#steps = null;
    if (outcome.enabled || !this.#onlyEnabled) into.push(outcome);
    this.#flagAt = at + 1;
    return this.#flagAt === flags.length;
  }
}

// biome-ignore lint/correctness/useYield: there is nothing to test.
function* unknownFlagSteps(name: string): Steps<Outcome> {
  return unknownFlagOutcome(name);
}

function sortedOf(flags: Iterable<Flag>, environment: string): SortedFlags {
  const compiled: CompiledFlag[] = [];
  for (const flag of flags) if (flag.archivedAt === null) compiled.push(compileFlag(flag, environment));
  return SortedFlags.of(compiled);
}
