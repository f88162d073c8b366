/**
 * The cache of everything that is derived from the state or read from the journal: documents, lists,
 * responses, callers, events. All kinds share one account of bytes, and the least recently used value of any kind is evicted first. Bounds
 * for each kind added up to more than the process has.
 *
 * Small values that are derived from one immutable object are in a WeakMap beside it, and need no eviction.
 *
 * Each kind is a part with its own keys. A part may be limited to a quarter of the cache: what one caller alone can
 * multiply, such as documents narrowed by a query string, must not evict what all others read.
 */
import assert from 'node:assert/strict';
import { getHeapStatistics } from 'node:v8';
import type { World, WorldOwner } from '../domain/state/world.ts';
import { FairQueue } from './fair-queue.ts';
import { cacheBytesMax } from './memory-budget.ts';

/** A key and a value take some memory however small they are. */
const BYTES_EACH = 256;

const MULTIPLIED_SHARE = 1 / 4;

/** The share of the cache for what open streams need: it cannot be evicted, so streams that would take more are refused. */
const RESERVED_SHARE = 1 / 2;

export interface CachePartOptions<K, V> {
  /** About the bytes that the value takes; `set` with the same value measures it again. */
  bytesOf(value: V, key: K): number;
  /** Told when the value went to make room for others. */
  onEvicted?(value: V, key: K): void;
  /** Whether one caller can make any number of such values. */
  readonly isMultiplied?: boolean;
}

interface Entry {
  readonly part: CachePart<unknown, unknown>;
  readonly key: unknown;
  value: unknown;
  bytes: number;
}

/** The entries of one account, in the order in which they were used. */
class Account {
  readonly #bytesMax: number;
  readonly #entries = new Set<Entry>();
  #newest: Entry | null = null;
  bytes = 0;

  constructor(bytesMax: number) {
    assert(bytesMax > 0, 'an account has room');
    this.#bytesMax = bytesMax;
  }

  use(entry: Entry): void {
    if (this.#newest === entry) return;
    this.#entries.delete(entry);
    this.#entries.add(entry);
    this.#newest = entry;
  }

  count(bytes: number): void {
    this.bytes += bytes;
    assert(this.bytes >= 0, 'no entry gives back more than it took');
  }

  remove(entry: Entry): void {
    assert(this.#entries.delete(entry), 'an entry that leaves is in the account');
    if (this.#newest === entry) this.#newest = null;
    this.count(-entry.bytes);
  }

  /** An entry larger than the account stays alone: making it for each request would be worse. */
  makeRoom(): void {
    while (this.bytes > this.#bytesMax && this.#entries.size > 1) {
      const [oldest] = this.#entries;
      assert(oldest !== undefined && oldest !== this.#newest, 'the entry that was used last stays');
      oldest.part.evict(oldest);
      assert(!this.#entries.has(oldest), 'an entry that is evicted leaves the account');
    }
  }
}

/** Limits without refusals: each that waits has a connection that waits for it, and those are counted already. */
const ONE_AT_A_TIME = { runningMax: 1, runningPerRequesterMax: 1, waitingMax: Number.MAX_SAFE_INTEGER };

export class Cache {
  readonly bytesMax: number;
  /**
   * For values so large that they are made in turns, one at a time and callers in turn: so one of them is in memory unfinished, however
   * many are asked for. What waits holds nothing that was made for it.
   */
  readonly making = new FairQueue(ONE_AT_A_TIME);
  readonly #all: Account;
  readonly #multiplied: Account;
  #reservedBytes = 0;

  constructor(bytesMax: number) {
    this.bytesMax = bytesMax;
    this.#all = new Account(bytesMax);
    this.#multiplied = new Account(bytesMax * MULTIPLIED_SHARE);
  }

  /** Bytes of all parts. */
  get bytes(): number {
    return this.#all.bytes;
  }

  /** Whether something that cannot be evicted while in use may take this many bytes more. */
  hasRoomFor(bytes: number): boolean {
    return this.#reservedBytes + bytes <= this.bytesMax * RESERVED_SHARE;
  }

  /** Takes them from what can be evicted; negative to give them back. */
  reserve(bytes: number): void {
    this.#reservedBytes += bytes;
    assert(this.#reservedBytes >= 0, 'nobody gives back more than was reserved');
    this.#all.count(bytes);
    this.#all.makeRoom();
  }

  part<K, V>(options: CachePartOptions<K, V>): CachePart<K, V> {
    return new CachePart(
      options.isMultiplied === true ? [this.#multiplied, this.#all] : [this.#all],
      options,
    );
  }
}

export class CachePart<K, V> {
  /** The smallest first; what counts in one counts in those after it. */
  readonly #accounts: readonly Account[];
  readonly #options: CachePartOptions<K, V>;
  readonly #entries = new Map<K, Entry>();

  constructor(accounts: readonly Account[], options: CachePartOptions<K, V>) {
    this.#accounts = accounts;
    this.#options = options;
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: K): V | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    for (const account of this.#accounts) account.use(entry);
    return entry.value as V;
  }

  /** Without using it. */
  peek(key: K): V | undefined {
    return this.#entries.get(key)?.value as V | undefined;
  }

  set(key: K, value: V): void {
    const part = this as CachePart<unknown, unknown>;
    const entry = this.#entries.get(key) ?? { part, key, value, bytes: 0 };
    this.#entries.set(key, entry);
    entry.value = value;
    const bytes = BYTES_EACH + this.#options.bytesOf(value, key);
    assert(bytes >= BYTES_EACH, 'no value takes fewer than no bytes');
    const more = bytes - entry.bytes;
    entry.bytes = bytes;
    for (const account of this.#accounts) {
      account.use(entry);
      account.count(more);
    }
    const [first, ...rest] = this.#accounts;
    assert(
      rest.every((account) => first!.bytes <= account.bytes),
      'what a share holds counts for all of the cache too',
    );
    for (const account of this.#accounts) account.makeRoom();
    assert(this.#entries.get(key) === entry, 'the value that was set last stays');
  }

  delete(key: K): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#entries.delete(key);
    for (const account of this.#accounts) account.remove(entry);
  }

  clear(): void {
    for (const key of [...this.#entries.keys()]) this.delete(key);
  }

  /** For the account. */
  evict(entry: Entry): void {
    const key = entry.key as K;
    assert(this.#entries.get(key) === entry, 'an entry is evicted once');
    this.delete(key);
    this.#options.onEvicted?.(entry.value as V, key);
  }
}

/** By the identity of the state from which the values are made, which those have too who see parts of it: they go with it. */
const caches = new WeakMap<World['identity'], Cache>();

export interface CacheOwner extends WorldOwner {
  /** The budget of the state; without effect where the cache is there already. */
  readonly memoryBudgetBytes?: number;
}

export function cacheOf({ world, memoryBudgetBytes = Number.POSITIVE_INFINITY }: CacheOwner): Cache {
  let cache = caches.get(world.identity);
  if (cache === undefined) {
    cache = new Cache(cacheBytesMax(getHeapStatistics().heap_size_limit, memoryBudgetBytes));
    caches.set(world.identity, cache);
  }
  return cache;
}

/** A part of each cache, of which every process has one: for values that stand beside what they are made of, and only count there. */
export function partOfEach<K, V>(options: CachePartOptions<K, V>): (owner: CacheOwner) => CachePart<K, V> {
  const parts = new WeakMap<Cache, CachePart<K, V>>();
  return (owner) => {
    const cache = cacheOf(owner);
    let part = parts.get(cache);
    if (part === undefined) {
      part = cache.part(options);
      parts.set(cache, part);
    }
    return part;
  };
}
