/**
 * Walks over the ids of the wanted events in order, oldest or newest first, for exports, comparisons and the history
 * of a flag.
 *
 * The walk covers the rows that exist when it begins, a segment at a time, and yields to the event loop in between.
 */
import assert from 'node:assert/strict';
import type { RecordedEvent } from '../../domain/state/events.ts';
import type { RecordedFrame } from '../journal/frame.ts';
import { frameExtent, type SegmentView } from './event-columns.ts';
import { compileFilter, type EventFilter, matchingRows } from './event-filter.ts';
import type { EventIndex } from './event-index.ts';

/**
 * Ids handed out at once: enough to read their frames together, few enough to hold. More where the last frame has more: a frame of many
 * thousand events would be decoded for each hundred of them.
 */
const BATCH_LENGTH = 100;

/** Their frames, unless one alone is larger: who stops at a page has decoded little in vain, in some 3 ms. */
const BATCH_BYTES = 128 * 1024;

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
  { from, to, newestFirst = false, anyOf = [{}], signal }: Walk,
  yieldToEventLoop: () => Promise<void>,
): AsyncGenerator<number[]> {
  assert(to < from || to <= index.lastId, `event ${to}, where the walk ends, exists`);
  const filters = anyOf.map((filter) => compileFilter(filter, index.names, from));
  const views = index.views(to).filter(({ firstId, count }) => firstId + count > from);
  for (const view of newestFirst ? views.toReversed() : views) {
    const wanted = new Uint8Array(view.count);
    for (const filter of filters)
      for (const rows of matchingRows(filter, view)) for (const row of rows) wanted[row] = 1;
    for (const ids of batchesOf(view, wanted, newestFirst)) {
      yield ids;
      signal?.throwIfAborted();
    }
    await yieldToEventLoop();
    signal?.throwIfAborted();
  }
}

function* batchesOf(view: SegmentView, wanted: Uint8Array, newestFirst: boolean): Generator<number[]> {
  const { firstId, count, columns } = view;
  let ids: number[] = [];
  let bytes = 0;
  let lastOffset = 0;
  for (let at = 0; at < count; at += 1) {
    const row = newestFirst ? count - 1 - at : at;
    if (wanted[row] !== 1) continue;
    if (columns.offset[row] !== lastOffset) {
      const { offset, bytesEnd } = frameExtent(view, row);
      if (ids.length >= BATCH_LENGTH || (ids.length > 0 && bytes + bytesEnd - offset > BATCH_BYTES)) {
        yield ids;
        ids = [];
        bytes = 0;
      }
      lastOffset = offset;
      bytes += bytesEnd - offset;
    }
    ids.push(firstId + row);
  }
  if (ids.length > 0) yield ids;
}
