/**
 * A page of a sorted list, in steps that are short: sorting a hundred thousand items at once would hold up other requests.
 * Items are sorted in runs as they come, and the runs are merged as far as the page needs.
 */
import { inSlices, type SliceOwner } from '../../serving/slices.ts';

/** Sorting a run takes about a millisecond. */
const RUN_LENGTH = 1_000;

export class SortedPage<T> {
  readonly #compare: (a: T, b: T) => number;
  readonly #runs: T[][] = [];
  #run: T[] = [];
  /** How many items of each run are merged already. */
  #merged: number[] = [];
  #total = 0;

  constructor(compare: (a: T, b: T) => number) {
    this.#compare = compare;
  }

  get total(): number {
    return this.#total;
  }

  add(item: T): void {
    this.#total += 1;
    this.#run.push(item);
    if (this.#run.length === RUN_LENGTH) this.#endRun();
  }

  /** To be called behind the last item, before the first `next`. */
  end(): void {
    if (this.#run.length > 0) this.#endRun();
    this.#merged = this.#runs.map(() => 0);
  }

  /** The next item in order; undefined behind the last. */
  next(): T | undefined {
    let best = -1;
    let found: T | undefined;
    for (const [at, run] of this.#runs.entries()) {
      const item = run[this.#merged[at] ?? 0];
      if (item === undefined || (found !== undefined && this.#compare(found, item) <= 0)) continue;
      best = at;
      found = item;
    }
    if (best >= 0) this.#merged[best]! += 1;
    return found;
  }

  #endRun(): void {
    this.#runs.push(this.#run.sort(this.#compare));
    this.#run = [];
  }
}

/** All items in order. */
export async function sortedInSlices<T>(
  items: readonly T[],
  compare: (a: T, b: T) => number,
  owner: SliceOwner,
): Promise<readonly T[]> {
  const page = new SortedPage(compare);
  const sorted: T[] = [];
  let added = 0;
  await inSlices(() => {
    const item = items[added];
    if (item !== undefined) {
      page.add(item);
      added += 1;
      if (added === items.length) page.end();
      return false;
    }
    const next = page.next();
    if (next !== undefined) sorted.push(next);
    return next === undefined;
  }, owner);
  return sorted;
}
