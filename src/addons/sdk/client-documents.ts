/**
 * The documents that are kept, one for each query that is asked. Queries are many (sets of projects × environments ×
 * filters), so documents are part of the cache. Large ones are made one at a time: a hundred under way would take a hundred times the
 * memory, and be ready no sooner. What waits for that is a query, and nothing that was made for it.
 */
import assert from 'node:assert/strict';
import { type Cache, type CachePart, cacheOf } from '../../actors/cache.ts';
import type { ServedState } from '../../actors/served-state.ts';
import { atOnce, inTurns, type Requester } from '../../actors/turn.ts';
import type { FlagRecord } from '../../domain/state/flag-record.ts';
import { isRefusal, type Refusal, refuse } from '../../domain/state/refusal.ts';
import { documentTooLarge, SDK_DOCUMENT_BYTES_MAX } from '../../domain/state/served-bytes.ts';
import type { World, WorldOwner } from '../../domain/state/world.ts';
import { Compressor } from '../../http/serving/compressor.ts';
import { isFiltering } from '../../http/serving/flag-filter.ts';
import { unrefTimer } from '../../process/timers.ts';
import { ClientDocument, type NextContent, surroundingsOf } from './client-document.ts';
import { type ClientQuery, QueryCache } from './client-query.ts';
import type { BodyWorkshop } from './encoded-body.ts';
import { onceEach } from './evaluation/once-each.ts';
import { FlagBlocks } from './json-blocks.ts';

/** A document takes some memory however small it is. */
const BYTES_EACH = 4 * 1024;

export interface ClientDocumentsOptions extends Partial<BodyWorkshop> {
  readonly state: WorldOwner;
  readonly cache: Cache;
}

interface Entry {
  readonly document: ClientDocument;
  readonly key: string;
}

/** A document that is up to date, or why there is none. */
export type Answer = ClientDocument | Refusal;

export class ClientDocuments {
  readonly #state: WorldOwner;
  /** Bodies of other responses are compressed there too: one at a time, of all. */
  readonly workshop: BodyWorkshop;
  readonly #entries: QueryCache<Entry>;
  /**
   * The query of the last request. Comparing with it is faster than a lookup, and that request has already marked its
   * entry as used.
   */
  #lastQuery: ClientQuery | null = null;
  #last: Entry | null = null;
  readonly #blocks = new Map<string, FlagBlocks>();
  readonly #texts: CachePart<FlagBlocks, FlagBlocks>;
  readonly #making: Making<Answer>;

  constructor({ state, cache, ...workshop }: ClientDocumentsOptions) {
    this.#state = state;
    this.#making = new Making(cache);
    this.workshop = { compressor: new Compressor(), later: unrefTimer, ...workshop };
    this.#texts = cache.part({ bytesOf: ({ bytes }) => bytes, onEvicted: (blocks) => blocks.forget() });
    this.#entries = new QueryCache(cache, {
      bytesOf: ({ document }, key) => document.bytes + key.length * 2 + BYTES_EACH,
      onEvicted: (entry) => {
        entry.document.retire();
        if (entry === this.#last) this.#last = null;
      },
    });
  }

  /**
   * The document of the query, as the state is after the event `lastId()`. The requester waits for it, and is charged if it has to be
   * made. Refused where it would be too large: before anything is made, unless a query string picks flags.
   */
  get(query: ClientQuery, lastId: () => number, requester?: () => Requester): Answer | Promise<Answer> {
    const entry = query === this.#lastQuery && this.#last !== null ? this.#last : this.#entryOf(query);
    const { document } = entry;
    if (document.isCurrent(lastId())) return document;
    const refusal = refuseLargeDocument(this.#state.world, query);
    if (refusal !== null) return refusal;
    // Who asks first after a change did not make the change, and is not charged for what all others get too.
    if (document.isMade) return Promise.resolve().then(() => this.#begin(entry, lastId, requester));
    return this.#begin(entry, lastId, requester);
  }

  /** At once where that is quick, else in turns: what was made by then is not held while others are made. */
  #begin(entry: Entry, lastId: () => number, requester?: () => Requester): Answer | Promise<Answer> {
    const { document, key } = entry;
    if (document.isCurrent(lastId())) return document;
    if (!this.#making.has(key)) {
      const next = document.next(lastId());
      if (atOnce(next.builder.steps) !== null) return this.#finished(entry, next);
    }
    return this.#inTurns(entry, lastId, requester?.());
  }

  /** A document that takes long, with all that there is at the moment of the call. */
  async #inTurns(entry: Entry, lastId: () => number, requester?: Requester): Promise<Answer> {
    const wanted = lastId();
    for (;;) {
      const answer = await this.#making.run(
        entry.key,
        (payer) => this.#make(entry, lastId(), payer),
        requester,
      );
      // What was begun for another request may be older than this one.
      if (isRefusal(answer) || answer.shows(wanted) || answer.isCurrent(lastId())) return answer;
    }
  }

  async #make(entry: Entry, lastId: number, payer: Requester): Promise<Answer> {
    const { document } = entry;
    if (document.isCurrent(lastId)) return document;
    const next = document.next(lastId);
    await inTurns(next.builder.steps, payer);
    return this.#finished(entry, next);
  }

  #finished(entry: Entry, next: NextContent): Answer {
    const { document, key } = entry;
    const { builder } = next;
    if (builder.isTooLarge) return tooLarge(builder.bytes, document.query);
    document.adopt(next);
    const cache = this.#entries.of(document.query);
    // While it was made it may have been evicted, and asked for again.
    if (cache.peek(key) !== entry) {
      cache.set(key, entry);
      this.#lastQuery = null;
    }
    return document;
  }

  #entryOf(query: ClientQuery): Entry {
    const cache = this.#entries.of(query);
    const entry = cache.get(query.key) ?? this.#add(cache, query);
    this.#lastQuery = query;
    this.#last = entry;
    return entry;
  }

  feature(query: ClientQuery, record: FlagRecord): string {
    return this.blocksOf(query).of(record, surroundingsOf(this.#state.world, query)).json;
  }

  #add(cache: CachePart<string, Entry>, query: ClientQuery): Entry {
    const document = new ClientDocument({
      ...this.workshop,
      state: this.#state,
      query,
      blocks: this.blocksOf(query),
      onResized: () => {
        if (cache.peek(query.key) === entry) cache.set(query.key, entry);
      },
    });
    const entry: Entry = { document, key: query.key };
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

export const clientDocuments = onceEach(
  (state: ServedState) => new ClientDocuments({ state, cache: cacheOf(state) }),
);

// Makes large things for all who ask for the same.

/** On whose behalf all of them are made that all read. */
const EVERYBODY: Requester = { name: '' };

interface Job<T> {
  readonly made: Promise<T>;
  /** Takes it out of the queue. */
  readonly end: AbortController;
  readonly hasBegun: boolean;
  waiting: number;
}

/** Things of one kind. Of one key one is made at a time, for all who ask meanwhile. */
export class Making<T> {
  readonly #queue: Cache['making'];
  readonly #jobs = new Map<string, Job<T>>();

  constructor({ making }: Cache) {
    this.#queue = making;
  }

  has(key: string): boolean {
    return this.#jobs.has(key);
  }

  /**
   * Returns what `make` makes in its turn, which is charged to the first caller. Rejects once the requester has gone. It leaves the
   * queue when all have gone who asked for the key; once it is begun it is made to its end, or on a slow day it would never be delivered.
   */
  run(key: string, make: (payer: Requester) => Promise<T>, requester: Requester = EVERYBODY): Promise<T> {
    const { signal } = requester;
    if (signal?.aborted === true) return Promise.reject(signal.reason);
    const job = this.#jobs.get(key) ?? this.#begin(key, make, requester);
    job.waiting += 1;
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        this.#leave(key, job);
        reject(signal?.reason);
      };
      signal?.addEventListener('abort', leave, { once: true });
      void job.made.then(resolve, reject).finally(() => signal?.removeEventListener('abort', leave));
    });
  }

  #begin(key: string, make: (payer: Requester) => Promise<T>, { name, charge }: Requester): Job<T> {
    const progress = { end: new AbortController(), hasBegun: false, waiting: 0 };
    const turn = async (): Promise<{ readonly made: T }> => {
      progress.hasBegun = true;
      return { made: await make({ name, charge }) };
    };
    const made = this.#queue.run(turn, { name, signal: progress.end.signal }).then((outcome) => {
      assert(!isRefusal(outcome), 'a queue without an end refuses nothing');
      return outcome.made;
    });
    const job: Job<T> = Object.assign(progress, { made });
    this.#jobs.set(key, job);
    const forget = (): void => this.#forget(key, job);
    made.then(forget, forget);
    return job;
  }

  #leave(key: string, job: Job<T>): void {
    job.waiting -= 1;
    if (job.waiting > 0 || job.hasBegun) return;
    this.#forget(key, job);
    job.end.abort();
  }

  #forget(key: string, job: Job<T>): void {
    if (this.#jobs.get(key) === job) this.#jobs.delete(key);
  }
}
