/**
 * The evaluators that are kept, one for each scope that is asked for. Scopes are many (sets of projects × environments),
 * so those that were not asked for longest are forgotten once all of them hold too many flags.
 */
import { LRUCache } from 'lru-cache';
import type { Engine } from '../../actors/engine.ts';
import { ALL } from '../../domain/decide/token-commands.ts';
import { compileFlag } from '../../domain/evaluation/compiled-flag.ts';
import type { Flag } from '../../domain/flags/flag.ts';
import { defaultEnvironment } from '../../domain/state/locate.ts';
import type { World } from '../../domain/state/world.ts';
import type { CallerScope } from '../dispatch/access.ts';
import { inSlices } from '../dispatch/slices.ts';
import { RepeatedResponses } from './repeated-responses.ts';
import { keyOf, type Scope, ScopeEvaluator } from './scope-evaluator.ts';

/**
 * Of all kept evaluators together. Each flag of each evaluator takes some 200 bytes, half of them its columns, so these are 100 MB; what a flag was compiled into
 * is kept beside the flag, once for each environment.
 */
const FLAGS_MAX = 500_000;

/** An evaluator takes some memory however few its flags are. */
const FLAGS_EACH = 50;

/** So many flags are compiled in one go, which takes some 5 ms; more, in slices. */
const FLAGS_AT_ONCE = 500;

interface Entry {
  readonly evaluator: ScopeEvaluator;
  /** Set while flags are compiled, and their columns made, in slices. */
  compiling: Promise<void> | null;
}

export interface ScopeEvaluatorsOptions {
  readonly world: World;
  readonly flagsMax?: number;
}

export class ScopeEvaluators {
  readonly #world: World;
  readonly #entries: LRUCache<string, Entry>;
  readonly #keys = new WeakMap<CallerScope, string>();
  /** What they came to in their newest state. */
  readonly repeated = new RepeatedResponses();

  constructor({ world, flagsMax = FLAGS_MAX }: ScopeEvaluatorsOptions) {
    this.#world = world;
    this.#entries = new LRUCache({
      maxSize: flagsMax,
      sizeCalculation: ({ evaluator }) => Math.min(evaluator.flagCount + FLAGS_EACH, flagsMax),
    });
  }

  /** Those kept at the moment. */
  get size(): number {
    return this.#entries.size;
  }

  /** The evaluator of what `scope` covers, as the state is after the event `lastId()`. */
  get(scope: CallerScope, lastId: () => number): ScopeEvaluator | Promise<ScopeEvaluator> {
    const entry = this.#entryOf(scope);
    const { evaluator } = entry;
    if (entry.compiling === null) {
      if (evaluator.isCurrent(lastId())) return evaluator;
      const changed = evaluator.changedFlags();
      if (changed.length <= FLAGS_AT_ONCE) return this.#update(evaluator, lastId(), changed);
      entry.compiling = this.#compile(evaluator, changed, lastId).finally(() => {
        entry.compiling = null;
      });
    }
    return entry.compiling.then(() => this.#update(evaluator, lastId()));
  }

  /** In slices. What is compiled stays beside the flags, so that the update has little left to do. */
  async #compile(scoped: ScopeEvaluator, changed: readonly Flag[], lastId: () => number): Promise<void> {
    await compileInSlices(changed, scoped.scope.environment);
    this.#update(scoped, lastId());
    await inSlices(() => scoped.evaluator.makeColumns());
  }

  #update(evaluator: ScopeEvaluator, lastId: number, changed?: readonly Flag[]): ScopeEvaluator {
    const { revision } = evaluator;
    evaluator.update(lastId, changed);
    if (evaluator.revision !== revision) this.repeated.forgetAll();
    return evaluator;
  }

  #entryOf(scope: CallerScope): Entry {
    const key = scope.environment === ALL ? keyOf(this.#scopeOf(scope)) : this.#knownKey(scope);
    const known = this.#entries.get(key);
    if (known !== undefined) return known;
    const entry: Entry = {
      evaluator: new ScopeEvaluator(this.#world, this.#scopeOf(scope)),
      compiling: null,
    };
    this.#entries.set(key, entry);
    return entry;
  }

  #knownKey(scope: CallerScope): string {
    let key = this.#keys.get(scope);
    if (key === undefined) {
      key = keyOf(this.#scopeOf(scope));
      this.#keys.set(scope, key);
    }
    return key;
  }

  /** Without a token that names it, the environment is the first one. */
  #scopeOf({ environment, projects }: CallerScope): Scope {
    return {
      environment: environment === ALL ? (defaultEnvironment(this.#world) ?? '') : environment,
      projects: projects === ALL ? ALL : [...new Set(projects)].sort(),
    };
  }
}

function compileInSlices(flags: readonly Flag[], environment: string): Promise<void> {
  let at = 0;
  return inSlices(() => {
    const flag = flags[at];
    at += 1;
    if (flag !== undefined && flag.archivedAt === null) compileFlag(flag, environment);
    return at >= flags.length;
  });
}

/** Keyed by the engine whose state they show: they go with it. */
const evaluatorsOf = new WeakMap<Engine, ScopeEvaluators>();

export function scopeEvaluators(engine: Engine): ScopeEvaluators {
  let known = evaluatorsOf.get(engine);
  if (known === undefined) {
    known = new ScopeEvaluators({ world: engine.world });
    evaluatorsOf.set(engine, known);
  }
  return known;
}
