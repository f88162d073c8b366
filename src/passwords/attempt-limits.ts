/**
 * Limits of attempts: buckets that fill again with time, in the memory of each node. Their keys are hashed, so that an entry has one
 * size whatever was sent.
 */

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';

export interface AttemptLimit {
  /** Attempts that may come at once. */
  readonly burst: number;
  /** Milliseconds after which one more attempt is allowed. */
  readonly refillMs: number;
}

/** One thing that an attempt is counted under. */
export interface Counted {
  readonly limit: AttemptLimit;
  /** Any text, of any length. */
  readonly under: string;
}

/** Entries; some 150 bytes each. When all are in use, the one that was used least recently is forgotten. */
export const ENTRIES_MAX = 20_000;

interface Bucket {
  /** Attempts that are left; not whole while one is being filled again. */
  left: number;
  /** The time of `left`, by the monotonic clock. */
  atMs: number;
}

export class AttemptLimits {
  readonly #buckets = new Map<string, Bucket>();
  readonly #monotonicMs: () => number;
  readonly #entriesMax: number;

  constructor(monotonicMs: () => number, entriesMax = ENTRIES_MAX) {
    this.#monotonicMs = monotonicMs;
    this.#entriesMax = entriesMax;
  }

  /** Takes an attempt under each, or under none when one of them has none left: then the milliseconds until it has. */
  take(counted: readonly Counted[]): number {
    const buckets = counted.map((one) => this.#bucket(one));
    const waits = counted.map(({ limit }, index) => {
      const left = buckets[index]?.left ?? 0;
      return left >= 1 ? 0 : (1 - left) * limit.refillMs;
    });
    const waitMs = Math.ceil(Math.max(0, ...waits));
    if (waitMs === 0) for (const bucket of buckets) bucket.left -= 1;
    return waitMs;
  }

  /** Gives back what `take` took, because the attempt was good. */
  giveBack(counted: readonly Counted[]): void {
    for (const one of counted) {
      const bucket = this.#bucket(one);
      bucket.left = Math.min(one.limit.burst, bucket.left + 1);
    }
  }

  get size(): number {
    return this.#buckets.size;
  }

  #bucket({ limit, under }: Counted): Bucket {
    const key = createHash('sha256').update(under).digest('base64url').slice(0, 22);
    const nowMs = this.#monotonicMs();
    const known = this.#buckets.get(key);
    const left =
      known === undefined
        ? limit.burst
        : Math.min(limit.burst, known.left + (nowMs - known.atMs) / limit.refillMs);
    const bucket = { left, atMs: nowMs };
    // The newest come last, so that the first is the one to forget.
    this.#buckets.delete(key);
    this.#buckets.set(key, bucket);
    if (this.#buckets.size > this.#entriesMax) this.#forgetOldest();
    assert(this.#buckets.size <= this.#entriesMax, 'what is counted is bounded');
    return bucket;
  }

  #forgetOldest(): void {
    const [oldest] = this.#buckets.keys();
    if (oldest !== undefined) this.#buckets.delete(oldest);
  }
}
