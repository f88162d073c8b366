/**
 * Walks over the ids of the wanted events in order, oldest or newest first, for exports, comparisons and the history
 * of a flag.
 *
 * The walk covers the rows that exist when it begins. It returns one batch of ids at a time, and yields to the event
 * loop between slices, however long the log is and however few of its events are wanted.
 */
import assert from 'node:assert/strict';
import type { SegmentView } from './event-columns.ts';
import { type CodeFilter, compileFilter, type EventFilter, MATCH_ALL, rowMatches } from './event-filter.ts';
import type { EventIndex } from './event-index.ts';

/** Takes about a millisecond. */
const ROWS_PER_SLICE = 50_000;

/** Ids handed out at once: enough to read their frames together, few enough to hold. */
const BATCH_LENGTH = 100;

/** From `from` to `to`, both included. */
export interface Walk {
  readonly from: number;
  readonly to: number;
  readonly newestFirst?: boolean;
  /** An event is wanted when any of these matches it; every event is when absent. */
  readonly anyOf?: readonly EventFilter[];
  /** The walk throws its reason once it is aborted. */
  readonly signal?: AbortSignal | undefined;
}

export async function* walkIds(
  index: EventIndex,
  walk: Walk,
  yieldToEventLoop: () => Promise<void>,
): AsyncGenerator<number[]> {
  assert(walk.to <= index.lastId, `event ${walk.to} does not exist yet`);
  const filters = compileFilters(walk.anyOf, index);
  if (filters.length === 0) return;
  let ids: number[] = [];
  for (const slice of slicesOf(index, walk)) {
    collectWanted(filters, slice, ids);
    for (; ids.length >= BATCH_LENGTH; ids = ids.slice(BATCH_LENGTH)) {
      yield ids.slice(0, BATCH_LENGTH);
      walk.signal?.throwIfAborted();
    }
    await yieldToEventLoop();
    walk.signal?.throwIfAborted();
  }
  if (ids.length > 0) yield ids;
}

function compileFilters(anyOf: readonly EventFilter[] | undefined, index: EventIndex): readonly CodeFilter[] {
  if (anyOf === undefined) return [MATCH_ALL];
  return anyOf.map((filter) => compileFilter(filter, index.names)).filter((filter) => filter !== null);
}

function isWanted(filters: readonly CodeFilter[], view: SegmentView, row: number): boolean {
  for (const filter of filters) if (rowMatches(filter, view, row)) return true;
  return false;
}

/** Neighbouring rows of one segment, in the direction of the walk. */
interface Slice {
  readonly view: SegmentView;
  readonly first: number;
  readonly last: number;
  readonly step: 1 | -1;
}

function* slicesOf(index: EventIndex, { from, to, newestFirst = false }: Walk): Generator<Slice> {
  const views = index.views(to).filter((view) => view.firstId + view.count > from);
  for (const view of newestFirst ? views.reverse() : views) {
    const oldest = Math.max(from - view.firstId, 0);
    const newest = view.count - 1;
    for (let done = 0; done <= newest - oldest; done += ROWS_PER_SLICE) {
      const left = Math.min(ROWS_PER_SLICE, newest - oldest + 1 - done) - 1;
      if (newestFirst) yield { view, first: newest - done, last: newest - done - left, step: -1 };
      else yield { view, first: oldest + done, last: oldest + done + left, step: 1 };
    }
  }
}

function collectWanted(
  filters: readonly CodeFilter[],
  { view, first, last, step }: Slice,
  ids: number[],
): void {
  for (let row = first; row !== last + step; row += step) {
    if (isWanted(filters, view, row)) ids.push(view.firstId + row);
  }
}
