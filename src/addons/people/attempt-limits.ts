/** Limits of attempts. Their keys are hashed, so that an entry has one size whatever was sent. */
import { createHash } from 'node:crypto';
import { type Allowance, Allowances } from '../../actors/allowances.ts';

/** One thing that an attempt is counted under. */
export interface Counted {
  readonly limit: Allowance;
  /** Any text, of any length. */
  readonly under: string;
}

/** Entries; some 150 bytes each. */
export const ENTRIES_MAX = 20_000;

export class AttemptLimits {
  readonly #allowances: Allowances<string>;

  constructor(monotonicMs: () => number, entriesMax = ENTRIES_MAX) {
    this.#allowances = new Allowances(monotonicMs, entriesMax);
  }

  /** Takes an attempt under each, or under none when one of them has none left: then the milliseconds until it has. */
  take(counted: readonly Counted[]): number {
    const waits = counted.map(({ limit, under }) => this.#allowances.waitMs(keyOf(under), limit));
    const waitMs = Math.ceil(Math.max(0, ...waits));
    if (waitMs === 0) for (const { limit, under } of counted) this.#allowances.take(keyOf(under), limit, 1);
    return waitMs;
  }

  /** Gives back what `take` took, because the attempt was good. */
  giveBack(counted: readonly Counted[]): void {
    for (const { limit, under } of counted) this.#allowances.take(keyOf(under), limit, -1);
  }

  get size(): number {
    return this.#allowances.size;
  }
}

const keyOf = (under: string): string => createHash('sha256').update(under).digest('base64url').slice(0, 22);
