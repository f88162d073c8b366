/**
 * The documents that are kept, one for each query that is asked. Queries are many (sets of projects × environments ×
 * filters), so documents are part of the cache. Large ones are made one at a time: a hundred under way would take a hundred times the
 * memory, and be ready no sooner.
 */
import { type Cache, type CachePart, cacheOf } from '../../actors/cache.ts';
import type { Engine } from '../../actors/engine.ts';
import { FairQueue } from '../../actors/fair-queue.ts';
import { atOnce, inTurns, type Requester } from '../../actors/turn.ts';
import type { FlagRecord } from '../../domain/state/flag-record.ts';
import { isRefusal, type Refusal, refuse } from '../../domain/state/refusal.ts';
import { documentTooLarge, SDK_DOCUMENT_BYTES_MAX } from '../../domain/state/served-bytes.ts';
import type { World } from '../../domain/state/world.ts';
import { Compressor } from '../serving/compressor.ts';
import { isFiltering } from '../serving/flag-filter.ts';
import { ClientDocument, type NextContent, surroundingsOf } from './client-document.ts';
import type { ClientQuery } from './client-query.ts';
import type { BodyWorkshop } from './encoded-body.ts';
import { FlagBlocks } from './json-blocks.ts';

/** A document takes some memory however small it is. */
const BYTES_EACH = 4 * 1024;

export interface ClientDocumentsOptions extends Partial<BodyWorkshop> {
  readonly world: World;
  readonly cache: Cache;
}

interface Entry {
  readonly document: ClientDocument;
  readonly key: string;
  /** Set while it is brought up to date in turns. */
  updating: Promise<Answer> | null;
}

/** A document that is up to date, or why there is none. */
export type Answer = ClientDocument | Refusal;

export class ClientDocuments {
  readonly #world: World;
  /** Bodies of other responses are compressed there too: one at a time, of all. */
  readonly workshop: BodyWorkshop;
  readonly #whole: CachePart<string, Entry>;
  readonly #narrowed: CachePart<string, Entry>;
  /**
   * The query of the last request. Comparing with it is faster than a lookup, and that request has already marked its
   * entry as used.
   */
  #lastQuery: ClientQuery | null = null;
  #last: Entry | null = null;
  /** By environment, and whether segments are inlined. */
  readonly #blocks = new Map<string, FlagBlocks>();
  readonly #texts: CachePart<FlagBlocks, FlagBlocks>;
  /** Makes documents in turns, and other responses made of many flags for one query. */
  readonly making = new Making();

  constructor({ world, cache, ...workshop }: ClientDocumentsOptions) {
    this.#world = world;
    this.workshop = { compressor: new Compressor(), later, ...workshop };
    this.#texts = cache.part({ bytesOf: ({ bytes }) => bytes, onEvicted: (blocks) => blocks.forget() });
    const options = {
      bytesOf: ({ document }: Entry, key: string) => document.bytes + key.length * 2 + BYTES_EACH,
      onEvicted: (entry: Entry): void => {
        entry.document.retire();
        if (entry === this.#last) this.#last = null;
      },
    };
    this.#whole = cache.part(options);
    this.#narrowed = cache.part({ ...options, isMultiplied: true });
  }

  /**
   * The document of the query, as the state is after the event `lastId()`. `payer` is charged if it has to be made. Refused where it
   * would be too large: before anything is made, unless a query string picks flags.
   */
  get(query: ClientQuery, lastId: () => number, payer?: Requester): Answer | Promise<Answer> {
    const entry = query === this.#lastQuery && this.#last !== null ? this.#last : this.#entryOf(query);
    const { document } = entry;
    if (document.isCurrent(lastId())) return document;
    const refusal = refuseLargeDocument(this.#world, query);
    if (refusal !== null) return refusal;
    if (entry.updating !== null) return this.#upToDate(entry, lastId, payer);
    // Who asks first after a change did not make the change, and is not charged for what all others get too.
    if (document.isMade) return Promise.resolve().then(() => this.#begin(entry, lastId, payer));
    return this.#begin(entry, lastId, payer);
  }

  /** At once where that is quick, else in turns. */
  #begin(entry: Entry, lastId: () => number, payer: Requester | undefined): Answer | Promise<Answer> {
    const { document } = entry;
    if (entry.updating !== null || document.isCurrent(lastId())) return this.#upToDate(entry, lastId, payer);
    const next = document.next(lastId());
    const { steps } = next.builder;
    if (atOnce(steps) !== null) return finished(entry, next);
    entry.updating = this.making
      .run(() => inTurns(steps, payer), payer)
      .then(() => finished(entry, next))
      .finally(() => {
        entry.updating = null;
      });
    return this.#upToDate(entry, lastId, payer);
  }

  #entryOf(query: ClientQuery): Entry {
    const cache = query.isNarrowed ? this.#narrowed : this.#whole;
    const entry = cache.get(query.key) ?? this.#add(cache, query);
    this.#lastQuery = query;
    this.#last = entry;
    return entry;
  }

  /** A document that takes long, with all that there is at the moment of the call. */
  async #upToDate(entry: Entry, lastId: () => number, payer: Requester | undefined): Promise<Answer> {
    const { document } = entry;
    const wanted = lastId();
    // What was begun for another request may be older than this one.
    while (!document.shows(wanted) && !document.isCurrent(lastId())) {
      const answer = await (entry.updating ?? this.#begin(entry, lastId, payer));
      if (!(answer instanceof ClientDocument)) return answer;
    }
    return document;
  }

  /** One flag, as the document of the query has it. */
  feature(query: ClientQuery, record: FlagRecord): string {
    return this.blocksOf(query).of(record, surroundingsOf(this.#world, query)).json;
  }

  #add(cache: CachePart<string, Entry>, query: ClientQuery): Entry {
    const document = new ClientDocument({
      ...this.workshop,
      world: this.#world,
      query,
      blocks: this.blocksOf(query),
      onResized: () => {
        if (cache.peek(query.key) === entry) cache.set(query.key, entry);
      },
    });
    const entry: Entry = { document, key: query.key, updating: null };
    cache.set(query.key, entry);
    return entry;
  }

  /** The blocks of flags that queries with this environment and this kind of segments share. */
  blocksOf({ environment, inlineSegments }: ClientQuery): FlagBlocks {
    const key = JSON.stringify([environment, inlineSegments]);
    let blocks = this.#blocks.get(key);
    if (blocks === undefined) {
      blocks = new FlagBlocks((resized) => this.#texts.set(resized, resized));
      this.#blocks.set(key, blocks);
    }
    return blocks;
  }
}

function finished({ document }: Entry, next: NextContent): Answer {
  const { builder } = next;
  if (builder.isTooLarge) return tooLarge(builder.bytes, document.query);
  document.adopt(next);
  return document;
}

/** Refuses a document of more flags than may be in one, by what is known of their size. */
export function refuseLargeDocument({ served, directory }: World, query: ClientQuery): Refusal | null {
  if (isFiltering(query)) return null;
  const bytes = served.documentBytes(directory.segments, query.environment, query.projects);
  return bytes <= SDK_DOCUMENT_BYTES_MAX ? null : tooLarge(bytes, query);
}

function tooLarge(bytes: number, { environment }: ClientQuery): Refusal {
  const fault = documentTooLarge(bytes, environment);
  return refuse('PayloadTooLargeError', fault.slice(0, 1).toUpperCase() + fault.slice(1));
}

/** Does not keep the process alive. */
function later(delayMs: number, callback: () => void): void {
  setTimeout(callback, delayMs).unref();
}

/** Keyed by the engine whose state they show: they go with it. */
const documentsOf = new WeakMap<Engine, ClientDocuments>();

export function clientDocuments(engine: Engine): ClientDocuments {
  let known = documentsOf.get(engine);
  if (known === undefined) {
    known = new ClientDocuments({ world: engine.world, cache: cacheOf(engine) });
    documentsOf.set(engine, known);
  }
  return known;
}

// Makes large things one at a time, callers in turn: so one of them is in memory unfinished, however many are asked for.

/** Limits without refusals: the connection of each waiting request is counted already. */
const ONE_AT_A_TIME = { runningMax: 1, runningPerRequesterMax: 1, waitingMax: Number.MAX_SAFE_INTEGER };

class Making {
  readonly #queue = new FairQueue(ONE_AT_A_TIME);

  /** `payer`: on whose behalf; absent for what all read. */
  async run<T>(make: () => Promise<T>, payer?: Requester): Promise<T> {
    // Without a signal: several requests may wait for the same thing, so it is made even when one of them has gone.
    const made = await this.#queue.run(make, { name: payer?.name ?? '' });
    if (isRefusal(made)) throw new Error('a queue without an end refuses nothing');
    return made;
  }
}
