/**
 * The cached evaluators, one for each scope that is asked for. Scopes are many (sets of projects × environments),
 * so evaluators are part of the cache.
 */
import { type Cache, type CachePart, cacheOf } from '../../../actors/cache.ts';
import { FairQueue, type FairQueueLimits } from '../../../actors/fair-queue.ts';
import type { ServedState } from '../../../actors/served-state.ts';
import { atOnce, inGroups, inTurns } from '../../../actors/turn.ts';
import { defaultEnvironment } from '../../../domain/state/locate.ts';
import { ALL, type WorldOwner } from '../../../domain/state/world.ts';
import type { CallerScope } from '../../../http/serving/access.ts';
import type { TaggedResponse } from '../../../http/serving/json-response.ts';
import { BodyPieces } from '../../../http/transport/response.ts';
import { onceEach } from './once-each.ts';
import { type Renderings, renderingsOf } from './renderings.ts';
import { keyOf, type NextEvaluator, type Scope, ScopeEvaluator } from './scope-evaluator.ts';

/**
 * Bytes of each flag in each evaluator, mostly for its columns. A compiled flag is kept beside the flag, once for
 * each environment.
 */
const FLAG_BYTES = 150;

/** An evaluator takes some memory however few its flags are. */
const BYTES_EACH = 8 * 1024;

/** Each takes up to some 20 MB when it is done. Who asks for one mostly shares a token with others, and not an address. */
export const LONG_LISTS: FairQueueLimits = {
  runningMax: 4,
  runningPerRequesterMax: 2,
  waitingMax: 16 * 1024 * 1024,
};

interface Entry {
  readonly key: string;
  readonly evaluator: ScopeEvaluator;
  /** Set while it is brought up to date in turns. */
  updating: Promise<void> | null;
}

export interface ScopeEvaluatorsOptions {
  readonly state: WorldOwner;
  readonly cache: Cache;
}

export class ScopeEvaluators {
  readonly #state: WorldOwner;
  readonly #entries: CachePart<string, Entry>;
  readonly #keyOf = onceEach((scope: CallerScope) => keyOf(this.#scopeOf(scope)));
  /** Responses that the evaluators in their newest state have already given. */
  readonly lists: ListCache;
  /** The encoded outcomes that lists are made of. Lists hold on to them, so they go together. */
  readonly renderings: Renderings;
  /** For lists of so many flags that they are made in turns; what waits counts in bytes. */
  readonly longLists = new FairQueue(LONG_LISTS);

  constructor({ state, cache }: ScopeEvaluatorsOptions) {
    this.#state = state;
    this.#entries = cache.part({
      bytesOf: ({ evaluator }, key) => BYTES_EACH + evaluator.flagCount * FLAG_BYTES + key.length * 2,
    });
    this.lists = new ListCache(cache);
    this.renderings = renderingsOf(cache, () => this.lists.clear());
  }

  /** The number of cached evaluators. */
  get size(): number {
    return this.#entries.size;
  }

  /** The evaluator of `scope`, as new as the event `lastId()`, the newest one. */
  get(scope: CallerScope, lastId: () => number): ScopeEvaluator | Promise<ScopeEvaluator> {
    const entry = this.#entryOf(scope);
    const { evaluator } = entry;
    const wanted = lastId();
    if (evaluator.shows(wanted)) return evaluator;
    if (entry.updating === null) {
      const next = evaluator.next(wanted);
      if (atOnce(next.steps) !== null) {
        this.#adopt(entry, next);
        return evaluator;
      }
      this.#goOn(entry, next);
    }
    return this.#whenShown(entry, wanted, lastId);
  }

  #goOn(entry: Entry, next: NextEvaluator): void {
    entry.updating = inTurns(next.steps)
      .then(() => this.#adopt(entry, next))
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
    await inGroups();
    return evaluator;
  }

  #adopt(entry: Entry, next: NextEvaluator): void {
    const { evaluator, key } = entry;
    const { revision } = evaluator.shown;
    evaluator.adopt(next);
    if (this.#entries.peek(key) === entry) this.#entries.set(key, entry);
    if (evaluator.shown.revision !== revision) this.lists.clear();
  }

  #entryOf(scope: CallerScope): Entry {
    const key = scope.environment === ALL ? keyOf(this.#scopeOf(scope)) : this.#keyOf(scope);
    const cached = this.#entries.get(key);
    if (cached !== undefined) return cached;
    const entry: Entry = {
      key,
      evaluator: new ScopeEvaluator(this.#state, this.#scopeOf(scope)),
      updating: null,
    };
    this.#entries.set(key, entry);
    return entry;
  }

  /** Without a token that names it, the environment is the first one. */
  #scopeOf({ environment, projects }: CallerScope): Scope {
    return {
      environment: environment === ALL ? (defaultEnvironment(this.#state.world) ?? '') : environment,
      projects: projects === ALL ? ALL : [...new Set(projects)].sort(),
    };
  }
}

export const scopeEvaluators = onceEach(
  (state: ServedState) => new ScopeEvaluators({ state, cache: cacheOf(state) }),
);

// Responses for contexts that come again: SDKs ask for the same one every few seconds. Only those that depend on nothing but the
// context that was sent, and not on the time, on chance or on the caller's address.
//
// A response that is not long is a list of references to bytes that are kept beside the flags, which makes it small; and all are forgotten once anything
// has changed that one of them shows, so that none keeps bytes of flags that are no more.

/** Bytes of a response without its pieces: headers, with a copy of them as text, and what the cache itself takes. */
const RESPONSE_BYTES = 2_000;
const PIECE_BYTES = 8;

/** Characters of a context as it was sent. A longer one is rare, and is evaluated each time. */
const KEY_LENGTH_MAX = 2_000;

export class ListCache {
  readonly #byKey: CachePart<string, TaggedResponse>;
  readonly #doorkeeper = new Doorkeeper();

  constructor(cache: Cache) {
    this.#byKey = cache.part({ bytesOf, isMultiplied: true });
  }

  get size(): number {
    return this.#byKey.size;
  }

  get(key: string): TaggedResponse | undefined {
    return this.#byKey.get(key);
  }

  /** Caches the response when its context has come a second time. */
  set(key: string, response: TaggedResponse): void {
    if (key.length <= KEY_LENGTH_MAX && this.#doorkeeper.has(key)) this.#byKey.set(key, response);
  }

  clear(): void {
    if (this.#byKey.size > 0) this.#byKey.clear();
  }
}

function bytesOf({ body }: TaggedResponse, key: string): number {
  const pieces = body instanceof BodyPieces ? piecesBytesOf(body) : 0;
  return RESPONSE_BYTES + pieces + 2 * key.length;
}

/** Large pieces were joined for this response alone. */
function piecesBytesOf(body: BodyPieces): number {
  return body.areLarge ? body.byteLength : body.count * PIECE_BYTES;
}

// Notes keys, so that only those that come again are cached: ever new keys evict nothing that is cached. They do take the places of
// others here, so requests without a right must not be noted.

/** Keys that have come lately, by their hash; a power of two. */
const SEEN_MAX = 2 ** 14;

/** FNV-1a of 32 bits over UTF-16 units. */
function textHash(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash >>> 0;
}

class Doorkeeper {
  /** Hashes, each in the place that its last bits say; a newer one takes the place of an older one. */
  readonly #seen = new Uint32Array(SEEN_MAX);

  /**
   * Whether the key has come lately; from now on it has. Two keys of one hash only mean that one of them counts as seen a time too
   * early.
   */
  has(key: string): boolean {
    const hash = textHash(key);
    const hasCome = this.#seen[hash % SEEN_MAX] === hash;
    this.#seen[hash % SEEN_MAX] = hash;
    return hasCome;
  }
}
