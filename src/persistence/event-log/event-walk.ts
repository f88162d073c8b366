/**
 * Walks over the ids of the wanted events in order, oldest or newest first, for exports, comparisons and the history
 * of a flag.
 *
 * The walk covers the rows that exist when it begins. It goes through all of them, and yields to the event loop between slices, however
 * long the log is.
 */
import assert from 'node:assert/strict';
import type { RecordedEvent } from '../../domain/state/events.ts';
import type { RecordedFrame } from '../journal/frame.ts';
import type { SegmentView } from './event-columns.ts';
import { type CodeFilter, compileFilter, type EventFilter, MATCH_ALL, RowTest } from './event-filter.ts';
import type { EventIndex } from './event-index.ts';
import { ROWS_PER_SLICE } from './index-search.ts';

/**
 * Ids handed out at once: enough to read their frames together, few enough to hold. More where the last frame has more: a frame of many
 * thousand events would be decoded for each hundred of them.
 */
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
  /** Told for how many milliseconds each piece of reading events has held the event loop. */
  readonly charge?: ((heldMs: number) => void) | undefined;
}

/** An event with the fields that only replay needs, for the engine and never for a response. */
export interface WalkedEvent {
  readonly id: number;
  readonly frame: RecordedFrame;
  readonly event: RecordedEvent;
}

export async function* walkIds(
  index: EventIndex,
  walk: Walk,
  yieldToEventLoop: () => Promise<void>,
): AsyncGenerator<number[]> {
  assert(walk.to <= index.lastId, `event ${walk.to}, where the walk ends, exists`);
  const filters = compileFilters(walk.anyOf, index);
  if (filters.length === 0) return;
  let ids: number[] = [];
  for (const slice of slicesOf(index, walk)) {
    collectWanted(filters, slice, ids);
    // The frame of the last one may go on in the next slice.
    let start = 0;
    for (let end = batchEnd(index, ids, 0); end < ids.length; end = batchEnd(index, ids, start)) {
      yield ids.slice(start, end);
      start = end;
      walk.signal?.throwIfAborted();
    }
    ids = ids.slice(start);
    await yieldToEventLoop();
    walk.signal?.throwIfAborted();
  }
  if (ids.length > 0) yield ids;
}

/** The place behind the last id of the batch that begins at `start`. */
function batchEnd(index: EventIndex, ids: readonly number[], start: number): number {
  let end = Math.min(start + BATCH_LENGTH, ids.length);
  while (end < ids.length && areOfOneFrame(index, ids[end - 1]!, ids[end]!)) end += 1;
  return end;
}

function areOfOneFrame(index: EventIndex, one: number, other: number): boolean {
  const view = index.viewOf(one);
  if (view === null || other < view.firstId || other >= view.firstId + view.count) return false;
  const { offset } = view.columns;
  return offset[one - view.firstId] === offset[other - view.firstId];
}

function compileFilters(anyOf: readonly EventFilter[] | undefined, index: EventIndex): readonly CodeFilter[] {
  if (anyOf === undefined) return [MATCH_ALL];
  return anyOf.map((filter) => compileFilter(filter, index.names)).filter((filter) => filter !== null);
}

function isWanted(tests: readonly RowTest[], row: number): boolean {
  for (const test of tests) if (test.matches(row)) return true;
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
  const tests = filters.map((filter) => new RowTest(filter, view));
  for (let row = first; row !== last + step; row += step) {
    if (isWanted(tests, row)) ids.push(view.firstId + row);
  }
}
