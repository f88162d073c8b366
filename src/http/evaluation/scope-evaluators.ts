/**
 * The evaluators that are kept, one for each scope that is asked for. Scopes are many (sets of projects × environments),
 * so those that were not asked for longest are forgotten once all of them hold too many flags.
 */
import { LRUCache } from 'lru-cache';
import type { Engine } from '../../actors/engine.ts';
import { ReadQueue, type ReadQueueLimits } from '../../actors/read-queue.ts';
import { ALL } from '../../domain/decide/token-commands.ts';
import { defaultEnvironment } from '../../domain/state/locate.ts';
import type { World } from '../../domain/state/world.ts';
import type { CallerScope } from '../dispatch/access.ts';
import { doneAtOnce, inSlices } from '../dispatch/slices.ts';
import { RepeatedResponses } from './repeated-responses.ts';
import { keyOf, type NextEvaluator, type Scope, ScopeEvaluator } from './scope-evaluator.ts';

/**
 * Of all kept evaluators together. Each flag of each evaluator takes some 150 bytes, most of them its columns, so these are 75 MB;
 * what a flag was compiled into is kept beside the flag, once for each environment.
 */
const FLAGS_MAX = 500_000;

/** An evaluator takes some memory however few its flags are. */
const FLAGS_EACH = 50;

/** Each takes up to some 20 MB when it is done. Who asks for one mostly shares a token with others, and not an address. */
export const LONG_LISTS: ReadQueueLimits = {
  runningMax: 4,
  runningPerAskerMax: 2,
  waitingMax: 32 * 1024 * 1024,
};

interface Entry {
  readonly evaluator: ScopeEvaluator;
  /** Set while it is brought up to date in slices. */
  updating: Promise<void> | null;
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
  /** For lists of so many flags that they are made in slices; what waits counts in bytes. */
  readonly longLists = new ReadQueue(LONG_LISTS);

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

  /** The evaluator of what `scope` covers, which shows at least what there is after the event `lastId()`, the newest one. */
  get(scope: CallerScope, lastId: () => number): ScopeEvaluator | Promise<ScopeEvaluator> {
    const entry = this.#entryOf(scope);
    const { evaluator } = entry;
    const wanted = lastId();
    if (evaluator.shows(wanted)) return evaluator;
    if (entry.updating === null) {
      const next = evaluator.next(wanted);
      if (doneAtOnce(() => next.update.advance())) {
        this.#adopt(evaluator, next);
        return evaluator;
      }
      this.#goOn(entry, next);
    }
    return this.#whenShown(entry, wanted, lastId);
  }

  #goOn(entry: Entry, next: NextEvaluator): void {
    entry.updating = inSlices(() => next.update.advance())
      .then(() => this.#adopt(entry.evaluator, next))
      .finally(() => {
        entry.updating = null;
      });
  }

  async #whenShown(entry: Entry, wanted: number, lastId: () => number): Promise<ScopeEvaluator> {
    const { evaluator } = entry;
    await entry.updating;
    // What was under way may have been begun before the event that is wanted.
    while (!evaluator.shows(wanted)) {
      if (entry.updating === null) this.#goOn(entry, evaluator.next(lastId()));
      await entry.updating;
    }
    return evaluator;
  }

  #adopt(evaluator: ScopeEvaluator, next: NextEvaluator): void {
    const { revision } = evaluator.shown;
    evaluator.adopt(next);
    if (evaluator.shown.revision !== revision) this.repeated.forgetAll();
  }

  #entryOf(scope: CallerScope): Entry {
    const key = scope.environment === ALL ? keyOf(this.#scopeOf(scope)) : this.#knownKey(scope);
    const known = this.#entries.get(key);
    if (known !== undefined) return known;
    const entry: Entry = {
      evaluator: new ScopeEvaluator(this.#world, this.#scopeOf(scope)),
      updating: null,
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
