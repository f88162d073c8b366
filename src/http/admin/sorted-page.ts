/**
 * A page of a sorted list, in steps that are short: sorting a hundred thousand items at once would hold up other requests.
 * Items are sorted in runs as they come, and the runs are merged as far as the page needs.
 */
import { each, inTurns, type Requester } from '../../actors/turn.ts';

/** Sorting a run takes about a millisecond. */
const RUN_LENGTH = 1_000;

export class SortedPage<T> {
  readonly #compare: (a: T, b: T) => number;
  readonly #runs: T[][] = [];
  #run: T[] = [];
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

  /** All items in order, to be asked for when the last one was added. */
  *inOrder(): Generator<T, void> {
    if (this.#run.length > 0) this.#endRun();
    /** How many items of each run are merged already. */
    const merged = this.#runs.map(() => 0);
    for (;;) {
      let best = -1;
      let found: T | undefined;
      for (const [at, run] of this.#runs.entries()) {
        const item = run[merged[at]!];
        if (item === undefined || (found !== undefined && this.#compare(found, item) <= 0)) continue;
        best = at;
        found = item;
      }
      if (found === undefined) return;
      merged[best]! += 1;
      yield found;
    }
  }

  #endRun(): void {
    this.#runs.push(this.#run.sort(this.#compare));
    this.#run = [];
  }
}

/** All items in order. */
export async function sortedInTurns<T>(
  items: readonly T[],
  compare: (a: T, b: T) => number,
  requester: Requester,
): Promise<readonly T[]> {
  const page = new SortedPage(compare);
  await inTurns(
    each(items, (item) => page.add(item)),
    requester,
  );
  const sorted: T[] = [];
  await inTurns(
    each(page.inOrder(), (item) => void sorted.push(item)),
    requester,
  );
  return sorted;
}
