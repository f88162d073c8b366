/**
 * The watches that are kept, one for each query. Those that have streams stay; of the others, those that were not asked for
 * longest are forgotten once all of them hold too many flags. As with documents, queries that a query string narrows have a
 * cache of their own, since whoever has one token can think up any number of them.
 */
import { LRUCache } from 'lru-cache';
import type { Engine } from '../../actors/engine.ts';
import { clientDocuments } from '../client-flags/client-documents.ts';
import type { ClientQuery, Payer } from '../client-flags/client-query.ts';
import type { EncodedBody } from '../client-flags/encoded-body.ts';
import type { Hydration } from './hydration.ts';
import { QueryWatch } from './query-watch.ts';

/** Each flag of a watch takes some 150 bytes beside what documents keep of it too. */
const FLAGS_MAX = 500_000;
const NARROWED_FLAGS_MAX = 100_000;

/** A watch takes some memory however few its flags are. */
const FLAGS_EACH = 50;

/** Narrowed queries that streams are open for. Each is looked at with every change. */
export const NARROWED_STREAMED_MAX = 100;

const HYDRATION_BYTES_MAX = 64 * 1024 * 1024;

export interface QueryWatchesOptions {
  readonly flagsMax?: number;
  readonly narrowedFlagsMax?: number;
}

export class QueryWatches {
  readonly #engine: Engine;
  readonly #whole: LRUCache<string, QueryWatch>;
  readonly #narrowed: LRUCache<string, QueryWatch>;
  /** Those that have streams, by key. */
  readonly #streamed = new Map<string, QueryWatch>();
  readonly #hydrations = new LRUCache<QueryWatch, Hydration>({
    maxSize: HYDRATION_BYTES_MAX,
    sizeCalculation: ({ bytes }) => Math.min(bytes + 1, HYDRATION_BYTES_MAX),
    dispose: (hydration, _watch, reason) => {
      if (reason === 'evict') hydration.retire();
    },
  });

  constructor(engine: Engine, { flagsMax, narrowedFlagsMax }: QueryWatchesOptions = {}) {
    this.#engine = engine;
    this.#whole = cacheOf(flagsMax ?? FLAGS_MAX);
    this.#narrowed = cacheOf(narrowedFlagsMax ?? NARROWED_FLAGS_MAX);
  }

  /** Those that are kept at the moment. */
  get size(): number {
    return this.#streamed.size + this.#whole.size + this.#narrowed.size;
  }

  /**
   * Calls `read` with the watch of the query, in the step in which that was brought up to date. `payer` is charged where that takes
   * long.
   */
  read<T>(query: ClientQuery, read: (watch: QueryWatch) => T, payer?: Payer): T | Promise<T> {
    const watch =
      this.#streamed.get(query.key) ?? this.#cacheOf(query).get(query.key) ?? this.#newWatch(query);
    return this.#whenCurrent(watch, read, payer);
  }

  /** All that the query of an up-to-date watch shows. Kept until something changes. */
  hydrationOf(watch: QueryWatch): Hydration {
    let hydration = this.#hydrations.get(watch);
    if (hydration?.id !== watch.log.newestId) {
      hydration?.retire();
      hydration = watch.hydration();
      this.#hydrations.set(watch, hydration);
    }
    return hydration;
  }

  /** The same as the body of a response, in each coding that clients ask for. */
  bodyOf(watch: QueryWatch): EncodedBody | Promise<EncodedBody> {
    const hydration = this.hydrationOf(watch);
    const onResized = (): void => {
      if (this.#hydrations.peek(watch) === hydration) this.#hydrations.set(watch, hydration);
    };
    return hydration.body({ ...clientDocuments(this.#engine).workshop, onResized });
  }

  /** Whether a first stream may be opened for the query. */
  hasRoomFor({ isNarrowed, key }: ClientQuery): boolean {
    if (!isNarrowed || this.#streamed.has(key)) return true;
    let narrowed = 0;
    for (const { query } of this.#streamed.values()) if (query.isNarrowed) narrowed += 1;
    return narrowed < NARROWED_STREAMED_MAX;
  }

  /** The watch has streams from now on. */
  hold(watch: QueryWatch): void {
    const { key } = watch.query;
    this.#cacheOf(watch.query).delete(key);
    if (!this.#streamed.has(key)) this.#streamed.set(key, watch);
  }

  /** The watch has no streams any more. */
  release(watch: QueryWatch): void {
    const { key } = watch.query;
    if (this.#streamed.get(key) !== watch) return;
    this.#streamed.delete(key);
    this.#cacheOf(watch.query).set(key, watch);
  }

  /** What it shows is wrong: whoever asks next gets a new one. */
  drop(watch: QueryWatch): void {
    const { key } = watch.query;
    if (this.#streamed.get(key) === watch) this.#streamed.delete(key);
    this.#cacheOf(watch.query).delete(key);
  }

  /** Others may change the state again while a watch that took long is waited for. */
  #whenCurrent<T>(
    watch: QueryWatch,
    read: (watch: QueryWatch) => T,
    payer: Payer | undefined,
  ): T | Promise<T> {
    const refreshing = watch.refresh(payer);
    const { query } = watch;
    // Counted anew: it may have more flags than before.
    if (this.#streamed.get(query.key) !== watch) this.#cacheOf(query).set(query.key, watch);
    if (refreshing === undefined) return read(watch);
    return refreshing.then(() => this.#whenCurrent(watch, read, payer));
  }

  #newWatch(query: ClientQuery): QueryWatch {
    const engine = this.#engine;
    return new QueryWatch({ engine, query, blocks: clientDocuments(engine).blocksOf(query) });
  }

  #cacheOf({ isNarrowed }: ClientQuery): LRUCache<string, QueryWatch> {
    return isNarrowed ? this.#narrowed : this.#whole;
  }
}

function cacheOf(flagsMax: number): LRUCache<string, QueryWatch> {
  return new LRUCache({
    maxSize: flagsMax,
    sizeCalculation: ({ flagCount }) => Math.min(flagCount + FLAGS_EACH, flagsMax),
  });
}
