/**
 * The watches, one for each query. Those that have streams stay, and their bytes are reserved in the cache; the others are part of it.
 * So are the parts of hydrations, which all streams of a query share that begin together.
 */
import { type Cache, type CachePart, cacheOf } from '../../actors/cache.ts';
import type { ServedState } from '../../actors/served-state.ts';
import { atOnce, inTurns, type Requester } from '../../actors/turn.ts';
import type { ApiToken } from '../../domain/state/world.ts';
import { clientDocuments, Making } from './client-documents.ts';
import { type ClientQuery, QueryCache } from './client-query.ts';
import { EncodedBody } from './encoded-body.ts';
import { joining } from './json-blocks.ts';
import { QueryWatch } from './query-watch.ts';
import {
  HYDRATION_START,
  type Hydration,
  type HydrationPart,
  type HydrationPosition,
} from './stream-format.ts';
import { LOG_CHARACTERS_MAX, LOGS_CHARACTERS_MAX } from './watch-log.ts';

/** Narrowed queries that streams are open for. Each is looked at with every change. */
export const NARROWED_STREAMED_MAX = 100;

/** The most of one token, so that it leaves half of them to others. */
export const NARROWED_STREAMED_PER_TOKEN_MAX = 50;

/** Around the events of a response. */
export const EVENTS_HEAD = Buffer.from('{"events":[');
export const EVENTS_TAIL = Buffer.from(']}');

interface Streamed {
  readonly watch: QueryWatch;
  /** The token of the stream that was opened first. */
  readonly opener: ApiToken | null;
  readonly reservedBytes: number;
}

/** A hydration as the body of a response. */
export interface HydrationBody {
  readonly id: number;
  readonly encoded: EncodedBody;
}

export class QueryWatches {
  readonly #engine: ServedState;
  readonly #cache: Cache;
  /** Watches without streams. */
  readonly #watches: QueryCache<QueryWatch>;
  readonly #bodies: QueryCache<HydrationBody>;
  readonly #parts: CachePart<string, HydrationPart>;
  readonly #streamed = new Map<string, Streamed>();
  /** The hydration of each watch that was made last, as long as it has readers: it retains flags as they were. */
  readonly #hydrations = new WeakMap<QueryWatch, WeakRef<Hydration>>();
  readonly #making: Making<HydrationBody>;

  constructor(engine: ServedState, cache = cacheOf(engine)) {
    this.#engine = engine;
    this.#cache = cache;
    this.#making = new Making(cache);
    this.#watches = new QueryCache(cache, { bytesOf: ({ bytes }) => bytes });
    this.#bodies = new QueryCache(cache, {
      bytesOf: ({ encoded }) => encoded.bytes,
      onEvicted: ({ encoded }) => encoded.retire(),
    });
    this.#parts = cache.part({ isMultiplied: true, bytesOf: ({ bytes }) => bytes.byteLength });
  }

  get size(): number {
    return this.#streamed.size + this.#watches.size;
  }

  /**
   * Calls `read` with the watch of the query, in the step in which that was brought up to date. `payer` is charged where that takes
   * long.
   */
  read<T>(query: ClientQuery, read: (watch: QueryWatch) => T, payer?: Requester): T | Promise<T> {
    const { key } = query;
    const known = this.#streamed.get(key)?.watch ?? this.#watches.of(query).get(key);
    return this.#whenCurrent(known ?? this.#newWatch(query), read, payer);
  }

  /** All that the query of an up-to-date watch shows. */
  hydrationOf(watch: QueryWatch): Hydration {
    const known = this.lastHydrationOf(watch);
    if (known?.id === watch.log.newestId) return known;
    const hydration = watch.hydration();
    this.#hydrations.set(watch, new WeakRef(hydration));
    return hydration;
  }

  /** The hydration that was made last, which may show less than the watch. */
  lastHydrationOf(watch: QueryWatch): Hydration | null {
    return this.#hydrations.get(watch)?.deref() ?? null;
  }

  /** The parts of the hydration, each made when it is asked for, unless it was made for another reader. */
  *partsOf(hydration: Hydration): Generator<Uint8Array, void, void> {
    for (let position: HydrationPosition | null = HYDRATION_START; position !== null; ) {
      const key = `${hydration.serial}/${position.chunk}/${position.at}`;
      const known = this.#parts.get(key);
      const part: HydrationPart = known ?? hydration.part(position);
      if (known === undefined) this.#parts.set(key, part);
      yield part.bytes;
      position = part.next;
    }
  }

  /** The body of a response with all that an up-to-date watch shows, or more by the time it is made, in each coding that clients ask for. */
  bodyOf(watch: QueryWatch, requester?: () => Requester): HydrationBody | Promise<HydrationBody> {
    const { query } = watch;
    const hydration = this.hydrationOf(watch);
    const known = this.#bodies.of(query).get(query.key);
    if (known?.id === hydration.id) return known;
    if (!this.#making.has(query.key)) {
      const done = atOnce(bodySteps(hydration));
      if (done !== null) return this.#cached(query, hydration.id, done.value);
    }
    return this.#bodyInTurns(query, hydration.id, requester?.());
  }

  async #bodyInTurns(query: ClientQuery, wanted: number, requester?: Requester): Promise<HydrationBody> {
    const make = async (payer: Requester): Promise<HydrationBody> => {
      const hydration = await this.read(query, (watch) => this.hydrationOf(watch), payer);
      return this.#cached(query, hydration.id, await inTurns(bodySteps(hydration), payer));
    };
    const made = await this.#making.run(query.key, make, requester);
    // What was begun for another request may be older than this one; nothing that is begun from now on is.
    return made.id >= wanted ? made : this.#making.run(query.key, make, requester);
  }

  #cached(query: ClientQuery, id: number, body: Buffer): HydrationBody {
    const bodies = this.#bodies.of(query);
    const { key } = query;
    const made: HydrationBody = {
      id,
      encoded: new EncodedBody({
        ...clientDocuments(this.#engine).workshop,
        ...{ tag: String(id), body, isTagOfAllCodings: true },
        onResized: () => {
          if (bodies.peek(key) === made) bodies.set(key, made);
        },
      }),
    };
    bodies.get(key)?.encoded.retire();
    bodies.set(key, made);
    return made;
  }

  /** Whether a first stream of the token may be opened for the query, which takes so many bytes. */
  hasRoomFor({ isNarrowed, key }: ClientQuery, token: ApiToken | null, bytes = 0): boolean {
    if (this.#streamed.has(key)) return true;
    if (!this.#cache.hasRoomFor(bytes)) return false;
    if (!isNarrowed) return true;
    const narrowed = [...this.#streamed.values()].filter(({ watch }) => watch.query.isNarrowed);
    const own = narrowed.filter(({ opener }) => token !== null && opener?.digest === token.digest);
    return narrowed.length < NARROWED_STREAMED_MAX && own.length < NARROWED_STREAMED_PER_TOKEN_MAX;
  }

  /** The watch has streams from now on, the first of which the token opens. */
  hold(watch: QueryWatch, opener: ApiToken | null): void {
    const { key } = watch.query;
    this.#watches.of(watch.query).delete(key);
    if (this.#streamed.has(key)) return;
    const reservedBytes = watch.bytes;
    this.#cache.reserve(reservedBytes);
    this.#streamed.set(key, { watch, opener, reservedBytes });
  }

  release(watch: QueryWatch): void {
    if (this.#free(watch)) this.#watches.of(watch.query).set(watch.query.key, watch);
  }

  /** Drops a watch whose content is wrong; the next request makes a new one. */
  drop(watch: QueryWatch): void {
    this.#free(watch);
    this.#watches.of(watch.query).delete(watch.query.key);
  }

  #free(watch: QueryWatch): boolean {
    const { key } = watch.query;
    const streamed = this.#streamed.get(key);
    if (streamed?.watch !== watch) return false;
    this.#streamed.delete(key);
    this.#cache.reserve(-streamed.reservedBytes);
    return true;
  }

  /** Others may change the state again while a watch that took long is waited for. */
  #whenCurrent<T>(
    watch: QueryWatch,
    read: (watch: QueryWatch) => T,
    payer: Requester | undefined,
  ): T | Promise<T> {
    const refreshing = watch.refresh(payer);
    const { query } = watch;
    // Recounted: it may have more flags than before.
    if (this.#streamed.get(query.key)?.watch !== watch) this.#watches.of(query).set(query.key, watch);
    if (refreshing === undefined) return read(watch);
    return refreshing.then(() => this.#whenCurrent(watch, read, payer));
  }

  #newWatch(query: ClientQuery): QueryWatch {
    const engine = this.#engine;
    return new QueryWatch({
      engine,
      query,
      blocks: clientDocuments(engine).blocksOf(query),
      logCharactersMax: () => Math.min(LOG_CHARACTERS_MAX, LOGS_CHARACTERS_MAX / (this.#streamed.size + 1)),
    });
  }
}

/** Makes the body of a response from the parts of a hydration. */
function* bodySteps(hydration: Hydration): Generator<void, Buffer> {
  const pieces: Uint8Array[] = [EVENTS_HEAD];
  for (let position: HydrationPosition | null = HYDRATION_START; position !== null; ) {
    const { bytes, next }: HydrationPart = hydration.part(position);
    pieces.push(bytes);
    position = next;
    yield;
  }
  return yield* joining([...pieces, EVENTS_TAIL]);
}
