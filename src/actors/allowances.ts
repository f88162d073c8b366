/** Allowances that fill again with time, of attempts or of bytes, in the memory of each node. */
import assert from 'node:assert/strict';

export interface Allowance {
  /** The most that may be taken at once. */
  readonly burst: number;
  /** Milliseconds after which one more may be taken. */
  readonly refillMs: number;
}

interface Bucket {
  /** Not whole while it is being filled again; below zero once the last taken was more than there was. */
  left: number;
  /** The time of `left`, by the monotonic clock. */
  atMs: number;
}

export class Allowances<Key> {
  readonly #buckets = new Map<Key, Bucket>();
  readonly #monotonicMs: () => number;
  readonly #entriesMax: number;

  /** The key that was used least recently is forgotten where more than `entriesMax` would be in use. */
  constructor(monotonicMs: () => number, entriesMax: number) {
    this.#monotonicMs = monotonicMs;
    this.#entriesMax = entriesMax;
  }

  get size(): number {
    return this.#buckets.size;
  }

  left(key: Key, allowance: Allowance): number {
    return this.#bucket(key, allowance).left;
  }

  /** Milliseconds until one may be taken. */
  waitMs(key: Key, allowance: Allowance): number {
    return Math.max(0, (1 - this.left(key, allowance)) * allowance.refillMs);
  }

  /** Takes so much, or gives it back where it is negative. */
  take(key: Key, allowance: Allowance, amount: number): void {
    const bucket = this.#bucket(key, allowance);
    bucket.left = Math.min(allowance.burst, bucket.left - amount);
  }

  #bucket(key: Key, { burst, refillMs }: Allowance): Bucket {
    const nowMs = this.#monotonicMs();
    const bucket = this.#buckets.get(key) ?? { left: burst, atMs: nowMs };
    assert(nowMs >= bucket.atMs, 'the monotonic clock does not go back');
    bucket.left = Math.min(burst, bucket.left + (nowMs - bucket.atMs) / refillMs);
    bucket.atMs = nowMs;
    // The newest are last, so the first is the one to evict.
    this.#buckets.delete(key);
    this.#buckets.set(key, bucket);
    const [oldest] = this.#buckets.keys();
    if (this.#buckets.size > this.#entriesMax && oldest !== undefined) this.#buckets.delete(oldest);
    assert(this.#buckets.size <= this.#entriesMax, 'what is counted is bounded');
    return bucket;
  }
}
