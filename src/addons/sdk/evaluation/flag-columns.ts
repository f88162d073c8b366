/**
 * The rules of some neighbouring flags in columns of numbers, for evaluations of all flags. Such an evaluation spends its time in
 * waiting for memory: the numbers of a hundred rollouts take a few lines of the processor's cache, where as many objects take hundreds.
 *
 * Only what most flags are made of stands in columns: strategies that are rollouts, or for all users, with any conditions. Flags with
 * parents or other strategies, and the choice of variants, are left to rules.ts. The outcomes are those of the compiled flags, so
 * that both ways give the same object.
 */
import { type Bucket, rolloutBucketAfter, type StickyReader } from './buckets.ts';
import type { CompiledFlag, CompiledStrategy } from './compiled-flag.ts';
import type { Conditions } from './conditions.ts';
import type { Suffix } from './murmur3.ts';
import type { Outcome } from './outcome.ts';
import { type CompiledScope, outcomeBy, outcomeOf } from './rules.ts';
import type { Run } from './run.ts';
import { isInRollout } from './strategy-kind.ts';

/** Deciders of a flag. */
const BY_STRATEGIES = 0;
const BY_RULES = 1;
const IS_OFF = 2;

/** Whom a strategy takes whose conditions hold. */
const NOBODY = 0;
const EVERYBODY = 1;
/** A share of those who have something to be sticky on. */
const STICKY_SHARE = 2;
/** A share of those, and a random share of all others. */
const SHARE = 3;

const NO_GROUP = -1;

export class FlagColumns {
  readonly #flags: readonly CompiledFlag[];
  /** For each flag, the position of its first strategy; after the last flag, the number of all strategies. */
  readonly #firsts: Int32Array;
  /** For each flag, one of the constants above. Only flags decided by their strategies have any here. */
  readonly #deciders: Uint8Array;
  // One entry a strategy.
  readonly #conditions: readonly (Conditions | null)[];
  readonly #takers: Uint8Array;
  /** Whole ones: buckets are. */
  readonly #percentages: Uint8Array;
  readonly #groups: Int32Array;
  /** Null: a variant has to be chosen. */
  readonly #hits: readonly (Outcome | null)[];
  // One entry a rollout group, which strategies may share: where the hash of its name stands, and what a user is sticky on.
  readonly #hashes: Int32Array;
  readonly #blocks: Int32Array;
  readonly #lengths: Int32Array;
  readonly #stickies: readonly StickyReader[];

  constructor(flags: readonly CompiledFlag[]) {
    const deciders = flags.map(deciderOf);
    const own = flags.map(({ strategies }, at) => (deciders[at] === BY_STRATEGIES ? strategies : []));
    const strategies = own.flat();
    const buckets = strategies.map(({ kind }) => kind?.rollout?.sticky ?? null);
    const positions = new Map<Bucket, number>();
    for (const bucket of buckets)
      if (bucket !== null && !positions.has(bucket)) positions.set(bucket, positions.size);
    const groups = [...positions.keys()];
    const states = groups.map(({ group }) => group.state);
    this.#flags = flags;
    this.#deciders = Uint8Array.from(deciders);
    this.#firsts = firstsOf(own);
    this.#conditions = strategies.map(({ conditions }) => (conditions.isEmpty ? null : conditions));
    this.#takers = Uint8Array.from(strategies, takersOf);
    this.#percentages = Uint8Array.from(strategies, percentageOf);
    this.#groups = Int32Array.from(buckets, (bucket) =>
      bucket === null ? NO_GROUP : positions.get(bucket)!,
    );
    this.#hits = flags.flatMap((flag, at) => own[at]!.map((strategy) => hitOf(flag, strategy)));
    this.#hashes = Int32Array.from(states, ({ hash }) => hash);
    this.#blocks = Int32Array.from(states, ({ block }) => block);
    this.#lengths = Int32Array.from(states, ({ length }) => length);
    this.#stickies = groups.map(({ sticky }) => sticky);
  }

  /** Appends the outcome of each flag in order, except for those that are off where only the others are asked for. */
  evaluate(run: Run, scope: CompiledScope, onlyEnabled: boolean, into: Outcome[]): void {
    const flags = this.#flags;
    const visitor = new Visitor(run);
    for (let at = 0; at < flags.length; at += 1) {
      const decider = this.#deciders[at]!;
      if (decider === IS_OFF) {
        if (!onlyEnabled) into.push(flags[at]!.disabled);
        continue;
      }
      if (decider === BY_RULES || !scope.environmentEnabled) {
        const outcome = outcomeOf(flags[at]!, scope, run);
        if (outcome.enabled || !onlyEnabled) into.push(outcome);
        continue;
      }
      const strategy = this.#firstThatTakes(at, scope, visitor);
      if (strategy !== -1) {
        into.push(this.#hits[strategy] ?? this.#outcomeBy(strategy, at, run));
      } else if (!onlyEnabled) {
        into.push(flags[at]!.missed);
      }
    }
  }

  #outcomeBy(strategy: number, flagAt: number, run: Run): Outcome {
    const flag = this.#flags[flagAt]!;
    return outcomeBy(flag.strategies[strategy - this.#firsts[flagAt]!]!, flag, run);
  }

  #firstThatTakes(flag: number, scope: CompiledScope, visitor: Visitor): number {
    const end = this.#firsts[flag + 1]!;
    for (let at = this.#firsts[flag]!; at < end; at += 1) {
      const takers = this.#takers[at]!;
      if (takers === NOBODY) continue;
      const conditions = this.#conditions[at]!;
      if (conditions !== null && !conditions.hold(visitor.run, scope)) continue;
      if (takers === EVERYBODY) return at;
      const bucket =
        this.#bucket(this.#groups[at]!, visitor) || (takers === SHARE ? visitor.run.draw(100) : 0);
      if (isInRollout(bucket, this.#percentages[at]!)) return at;
    }
    return -1;
  }

  /** From 1 to 100; 0 when the context lacks the field that the group is sticky on. */
  #bucket(group: number, visitor: Visitor): number {
    if (group === visitor.group) return visitor.bucket;
    const suffix = visitor.suffixBy(this.#stickies[group]!);
    visitor.group = group;
    visitor.bucket =
      suffix === null
        ? 0
        : rolloutBucketAfter(this.#hashes[group]!, this.#blocks[group]!, this.#lengths[group]!, suffix);
    return visitor.bucket;
  }
}

/** State carried from one strategy to the next, because neighbours mostly need the same. */
class Visitor {
  readonly run: Run;
  group = NO_GROUP;
  bucket = 0;
  #sticky: StickyReader | null = null;
  #suffix: Suffix | null = null;

  constructor(run: Run) {
    this.run = run;
  }

  /** Null when the context lacks what `sticky` reads. */
  suffixBy(sticky: StickyReader): Suffix | null {
    if (sticky !== this.#sticky) {
      const text = sticky(this.run);
      this.#suffix = text ? this.run.suffixes.of(text) : null;
      this.#sticky = sticky;
    }
    return this.#suffix;
  }
}

function deciderOf({ isOn, dependencies, strategies }: CompiledFlag): number {
  if (!isOn) return IS_OFF;
  if (dependencies.length > 0 || strategies.length === 0) return BY_RULES;
  const fit = strategies.every(
    ({ kind }) => kind === null || kind.constant !== null || kind.rollout !== null,
  );
  return fit ? BY_STRATEGIES : BY_RULES;
}

function firstsOf(strategies: readonly (readonly CompiledStrategy[])[]): Int32Array {
  const firsts = new Int32Array(strategies.length + 1);
  for (let at = 0; at < strategies.length; at += 1) firsts[at + 1] = firsts[at]! + strategies[at]!.length;
  return firsts;
}

/** A kind that is not built in selects no users. */
function takersOf({ kind }: CompiledStrategy): number {
  const constant = kind === null ? false : kind.constant;
  if (constant !== null) return constant ? EVERYBODY : NOBODY;
  return kind?.rollout?.drawsWithout ? SHARE : STICKY_SHARE;
}

/** 0 for what is no number. */
function percentageOf({ kind }: CompiledStrategy): number {
  return Math.min(Math.max(Math.floor(kind?.rollout?.percentage ?? 0), 0), 100) || 0;
}

function hitOf(flag: CompiledFlag, { choice, on }: CompiledStrategy): Outcome | null {
  return choice === null && flag.choice === null ? on : null;
}
