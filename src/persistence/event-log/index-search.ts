/**
 * Searches the index for a page of matching events and for how many match in all.
 *
 * Where a filter names types, projects or flags, the search goes along the shortest of their posting lists, and looks
 * at the other columns only for its events. A filter of one name needs no more than the events of its page: the list knows its
 * length. Everything else looks at all rows. Both work in slices, between which other requests get their turn.
 */
import type { SegmentView } from './event-columns.ts';
import {
  type CodeFilter,
  collectMatches,
  firstRow,
  type IdPage,
  MATCH_ALL,
  matchesAll,
  RowTest,
} from './event-filter.ts';
import type { EventIndex } from './event-index.ts';
import { LISTED_COLUMNS, type ListedColumn, type ListWalk } from './posting-lists.ts';

/** Rows looked at between two turns of the event loop: about a millisecond's worth. */
const ROWS_PER_SLICE = 250_000;
/** Steps along lists, each of which may miss the processor's caches, in the same time. */
const STEPS_PER_SLICE = 50_000;

/** More lists than this are not walked at once, because each step looks at all of them. */
const LISTS_MAX = 8;

/** A list with more than this share of all rows is no shorter way than the rows, which lie beside each other. */
const LIST_SHARE_MAX = 1 / 4;

export interface IndexSearch {
  readonly index: EventIndex;
  readonly filter: CodeFilter;
  /** Oldest first: the rows that are searched. */
  readonly views: readonly SegmentView[];
  /** Takes what is found. */
  readonly page: IdPage;
  /** Gives others their turn; rejects to end the search. */
  pause(): Promise<void>;
}

/** Rows behind the newest searched one that are looked at to learn how much of a list is not searched. */
const HIDDEN_ROWS_MAX = 10_000;

/** Lists of one column whose events are all that can match. */
export interface Lists {
  readonly column: ListedColumn;
  readonly codes: readonly number[];
  /** Events in them, whether they are searched or not. */
  readonly count: number;
}

export async function searchIndex(search: IndexSearch): Promise<void> {
  const { index, filter, views, page } = search;
  const lists = shortestLists(index, filter);
  if (lists === null) return scanRows(search);
  const hidden = isOneName(filter) ? hiddenMatches(search) : null;
  if (hidden !== null) {
    page.total = lists.count - hidden;
    return fillPage(search, lists);
  }
  return lists.count > rowCount(views) * LIST_SHARE_MAX ? scanRows(search) : scanLists(search, lists);
}

/** Null when no condition has lists that may be walked. */
export function shortestLists(index: EventIndex, filter: CodeFilter): Lists | null {
  let shortest: Lists | null = null;
  for (const column of LISTED_COLUMNS) {
    const codes = filter[CONDITIONS[column]]?.codes;
    if (codes === undefined || codes.length > LISTS_MAX) continue;
    const count = codes.reduce((sum, code) => sum + index.lists.count(column, code), 0);
    if (shortest === null || count < shortest.count) shortest = { column, codes, count };
  }
  return shortest;
}

const CONDITIONS = { type: 'types', project: 'projects', feature: 'features' } as const;

/** Whether all that the filter asks for is names of one column that has lists. */
function isOneName({ types, projects, features, ...others }: CodeFilter): boolean {
  const conditions = [types, projects, features].filter((condition) => condition !== null);
  return conditions.length === 1 && matchesAll({ ...MATCH_ALL, ...others });
}

/** How many matches are newer than what is searched, as those that are not durable yet; null when that takes long to say. */
function hiddenMatches({ index, filter, views }: IndexSearch): number | null {
  const newestId = newestOf(views);
  if (index.lastId - newestId > HIDDEN_ROWS_MAX) return null;
  let matches = 0;
  // Where nothing is searched, events between may have been dropped.
  for (let id = Math.max(newestId + 1, index.firstId); id <= index.lastId; ) {
    const view = index.viewOf(id);
    if (view === null) break;
    const test = new RowTest(filter, view);
    for (let row = id - view.firstId; row < view.count; row += 1) {
      if (test.matches(row)) matches += 1;
    }
    id = view.firstId + view.count;
  }
  return matches;
}

/** Goes along the lists only until the page is full. */
async function fillPage(search: IndexSearch, { column, codes }: Lists): Promise<void> {
  const { page } = search;
  const walks: ListWalk[] = [];
  for (const code of codes) walks.push(await walkAtOrBefore(search, { column, code }));
  for (let steps = 1; page.ids.length < page.limit; steps += 1) {
    const walk = newestOfWalks(walks);
    if (walk === null) return;
    page.offer(walk.id);
    walk.toOlder();
    if (steps % STEPS_PER_SLICE === 0) await search.pause();
  }
}

/**
 * The walk over a list from the newest event that the page may show. It is looked for from both ends at once, along the
 * list from its newest event, and row by row from where the page begins: where events of the list are few the first
 * comes there soon, and where they are many the second does.
 */
async function walkAtOrBefore(
  { index, views, page, pause }: IndexSearch,
  { column, code }: { readonly column: ListedColumn; readonly code: number },
): Promise<ListWalk> {
  const newestId = Math.min(page.newestId, newestOf(views));
  const walk = index.lists.walk(column, code);
  const rows = new RowWalk(views, newestId);
  for (let steps = 1; walk.id > newestId; steps += 1) {
    if (rows.id === 0) return index.lists.walkFrom(column, 0);
    if (rows.codeOf(column) === code) return index.lists.walkFrom(column, rows.id);
    rows.toOlder();
    walk.toOlder();
    if (steps % STEPS_PER_SLICE === 0) await pause();
  }
  return walk;
}

/** Counts all events of the lists that match the other conditions too. */
async function scanLists({ index, filter, views, page, pause }: IndexSearch, lists: Lists): Promise<void> {
  const walks = lists.codes.map((code) => index.lists.walk(lists.column, code));
  const newestId = newestOf(views);
  const tests = views.map((view) => new RowTest(filter, view));
  let at = views.length - 1;
  for (let steps = 1; ; steps += 1) {
    const walk = newestOfWalks(walks);
    const id = walk?.id ?? 0;
    while (at >= 0 && id < views[at]!.firstId) at -= 1;
    const view = views[at];
    if (walk === null || view === undefined || id < filter.oldestId) return;
    if (id <= newestId && tests[at]!.matches(id - view.firstId)) {
      page.total += 1;
      page.offer(id);
    }
    walk.toOlder();
    if (steps % STEPS_PER_SLICE === 0) await pause();
  }
}

function newestOfWalks(walks: readonly ListWalk[]): ListWalk | null {
  let newest: ListWalk | null = null;
  for (const walk of walks) if (walk.id > (newest?.id ?? 0)) newest = walk;
  return newest;
}

async function scanRows({ filter, views, page, pause }: IndexSearch): Promise<void> {
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

/** Row by row towards older events. */
class RowWalk {
  readonly #views: readonly SegmentView[];
  #at: number;
  #row: number;

  constructor(views: readonly SegmentView[], id: number) {
    this.#views = views;
    this.#at = views.findLastIndex(({ firstId }) => firstId <= id);
    this.#row = this.#at < 0 ? 0 : id - views[this.#at]!.firstId;
  }

  /** 0 when no row is left. */
  get id(): number {
    return this.#at < 0 ? 0 : this.#views[this.#at]!.firstId + this.#row;
  }

  codeOf(column: ListedColumn): number {
    return this.#views[this.#at]!.columns[column][this.#row]!;
  }

  toOlder(): void {
    this.#row -= 1;
    if (this.#row >= 0) return;
    this.#at -= 1;
    this.#row = this.#at < 0 ? 0 : this.#views[this.#at]!.count - 1;
  }
}

function newestOf(views: readonly SegmentView[]): number {
  const newest = views.at(-1);
  return newest === undefined ? 0 : newest.firstId + newest.count - 1;
}

const rowCount = (views: readonly SegmentView[]): number => {
  const oldest = views[0];
  return oldest === undefined ? 0 : newestOf(views) - oldest.firstId + 1;
};

/** Without filters nothing has to be looked at: ids are contiguous. */
export function pageOfAll(views: readonly SegmentView[], page: IdPage): void {
  const first = views[0];
  const last = views.at(-1);
  if (first === undefined || last === undefined) return;
  page.total = last.firstId + last.count - first.firstId;
  const newest = Math.min(page.newestId, last.firstId + last.count - 1) - page.toSkip;
  for (let id = newest; id >= first.firstId && page.ids.length < page.limit; id--) page.ids.push(id);
}
