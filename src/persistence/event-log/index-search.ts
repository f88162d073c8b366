/**
 * Searches the index for a page of matching events and for how many match in all: row by row, which takes a millisecond for a million
 * rows, in slices between which other requests get their turn.
 */
import type { SegmentView } from './event-columns.ts';
import { type CodeFilter, firstRow, type IdPage, matchesAll, RowTest } from './event-filter.ts';

/** Rows looked at between two turns of the event loop: about a millisecond's worth. */
export const ROWS_PER_SLICE = 250_000;

export interface IndexSearch {
  readonly filter: CodeFilter;
  /** Oldest first: the rows that are searched. */
  readonly views: readonly SegmentView[];
  /** Takes what is found. */
  readonly page: IdPage;
  /** Gives others their turn; rejects to end the search. */
  pause(): Promise<void>;
}

export async function searchIndex({ filter, views, page, pause }: IndexSearch): Promise<void> {
  let rows = 0;
  for (const view of views.toReversed()) {
    if (firstRow(filter, view) >= view.count) return;
    if (matchesAll(filter)) {
      page.takeAll(view.firstId, view.firstId + view.count - 1);
      continue;
    }
    if (rows > 0 && rows + view.count > ROWS_PER_SLICE) {
      await pause();
      rows = 0;
    }
    collectMatches(filter, view, page);
    rows += view.count;
  }
}

/** Goes through a segment from its newest row to its oldest. Call it for the newest segment first. */
export function collectMatches(filter: CodeFilter, view: SegmentView, page: IdPage): void {
  const test = new RowTest(filter, view);
  let row = view.count - 1;
  for (; row >= 0 && !page.isFull; row -= 1) {
    row = test.newestMatch(row);
    if (row < 0) return;
    page.total += 1;
    page.offer(view.firstId + row);
  }
  page.total += test.count(row);
}
