/**
 * Searches by filter over the columns of the index. How many events the latest filters matched is kept, so that the next page of a
 * filter, or the next look at its newest events, counts only those that came since.
 */
import type { SegmentView } from './event-columns.ts';
import { type CodeFilter, type EventFilter, type IdPage, matchingRows } from './event-filter.ts';
import type { Walk } from './event-walk.ts';
import type { TextMatches } from './text-scan.ts';

export interface SearchScope {
  readonly filter: CodeFilter;
  /** Oldest first. */
  readonly views: readonly SegmentView[];
  readonly page: IdPage;
  readonly reader: Pick<Walk, 'signal' | 'charge'>;
}

interface Count {
  /** The segments that it was counted in. */
  readonly segments: string;
  /** The newest event that it covers. */
  readonly upToId: number;
  readonly total: number;
}

/** Rows looked at between two turns of the event loop, or one segment that has more. */
export const ROWS_PER_SLICE = 250_000;

const NOT_COUNTED: Count = { segments: '', upToId: 0, total: 0 };

/** Filters whose counts are kept, at a few hundred bytes each. */
export const COUNTED_FILTERS_MAX = 100;
/** Filters with longer keys, as of callers from whom many projects are hidden, are counted each time. */
const KEY_LENGTH_MAX = 1_024;

export class ColumnSearch {
  readonly #yield: () => Promise<void>;
  readonly #counts = new Map<string, Count>();

  constructor(yieldToEventLoop: () => Promise<void>) {
    this.#yield = yieldToEventLoop;
  }

  /** `key`: equal for filters that match the same events. Gives others their turn between segments. */
  async run(key: string, { filter, views, page, reader }: SearchScope): Promise<TextMatches> {
    const { upToId, total: before } = this.#countBefore(key, views);
    let total = before;
    let rows = 0;
    for (const view of views.toReversed()) {
      const countedRows = Math.max(Math.min(upToId - view.firstId + 1, view.count), 0);
      const looks = view.count - (page.isFull ? countedRows : 0);
      if (looks === 0) continue;
      if (rows > 0 && rows + looks > ROWS_PER_SLICE) {
        await this.#yield();
        reader.signal?.throwIfAborted();
        rows = 0;
      }
      rows += looks;
      const newer = { ...filter, oldestId: Math.max(filter.oldestId, view.firstId + countedRows) };
      for (const matching of matchingRows(newer, view)) {
        page.take(view.firstId, matching);
        total += matching.length;
      }
      for (const matching of matchingRows(filter, { ...view, count: countedRows })) {
        if (page.isFull) break;
        page.take(view.firstId, matching);
      }
    }
    this.#note(key, { segments: segmentsOf(views), upToId: newestIdOf(views), total });
    return { ids: page.ids, total };
  }

  /** Nothing where it was counted in other segments, some of which were dropped or damaged, or beyond these. */
  #countBefore(key: string, views: readonly SegmentView[]): Count {
    const count = this.#counts.get(key) ?? NOT_COUNTED;
    const isPart = count.upToId <= newestIdOf(views) && segmentsOf(views).startsWith(count.segments);
    return isPart ? count : NOT_COUNTED;
  }

  #note(key: string, count: Count): void {
    if (key.length > KEY_LENGTH_MAX) return;
    this.#counts.delete(key);
    this.#counts.set(key, count);
    const [oldest] = this.#counts.keys();
    if (this.#counts.size > COUNTED_FILTERS_MAX && oldest !== undefined) this.#counts.delete(oldest);
  }
}

export const filterKey = (
  { type, project, hiddenProjects, feature, environment, authors, ids }: EventFilter,
  oldestId: number,
): string => JSON.stringify([type, project, hiddenProjects, feature, environment, authors, ids, oldestId]);

const segmentsOf = (views: readonly SegmentView[]): string =>
  views.map(({ firstId }) => `${firstId} `).join('');

function newestIdOf(views: readonly SegmentView[]): number {
  const last = views.at(-1);
  return last === undefined ? 0 : last.firstId + last.count - 1;
}
