/**
 * Searches the index for a page of matching events and for how many match in all: row by row, which takes a millisecond for a million
 * rows, in slices between which other requests get their turn.
 */
import type { SegmentView } from './event-columns.ts';
import { type CodeFilter, firstRow, type IdPage, RowTest } from './event-filter.ts';

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

/** Without filters nothing has to be looked at: ids are contiguous. */
export function pageOfAll(views: readonly SegmentView[], page: IdPage): void {
  const first = views[0];
  const last = views.at(-1);
  if (first === undefined || last === undefined) return;
  page.total = last.firstId + last.count - first.firstId;
  const newest = Math.min(page.newestId, last.firstId + last.count - 1) - page.toSkip;
  for (let id = newest; id >= first.firstId && page.ids.length < page.limit; id--) page.ids.push(id);
}
