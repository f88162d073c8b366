/**
 * The index of one segment's events: a row of seven numbers for each event, stored as columns. That is 32 bytes an
 * event, without objects that the garbage collector would have to visit.
 *
 * An event's place within its frame is not stored: the events of a frame are neighbours and share its offset,
 * so the distance to the first of them is the place. Likewise a frame ends where the next one
 * begins.
 *
 * The columns live in shared memory: the thread of the log reader reads them in place. Only rows of durable events
 * are ever handed to it, and rows are never changed once filled in, so no locks are needed.
 */
import assert from 'node:assert/strict';
import type { DeferredPart } from '../journal/deferred-part.ts';

/** First allocation of a segment; small, because a young data folder should not cost megabytes. */
const CAPACITY_MIN = 1024;
/** 1.5 rather than 2 keeps the slack of the one growing segment under a half; sealed ones have none. */
const GROWTH = 1.5;

export interface EventRow {
  /** Milliseconds since 1970. Times never decrease with ids. */
  readonly at: number;
  readonly offset: number;
  readonly type: number;
  readonly project: number;
  readonly feature: number;
  readonly environment: number;
  readonly by: number;
}

export type ColumnName = Exclude<keyof EventRow, 'at'>;

export interface ColumnSet extends Record<ColumnName, Uint32Array> {
  at: Float64Array;
}

export const BYTES_PER_EVENT = 32;

/** A stable view of a segment's first `count` rows: what a search works on, here or in another thread. */
export interface SegmentView {
  readonly firstId: number;
  readonly count: number;
  /** The end of the last of these rows' frames in the segment file. */
  readonly bytesEnd: number;
  readonly columns: Readonly<ColumnSet>;
}

export class EventColumns {
  readonly firstId: number;
  #count = 0;
  #bytesEnd: number;
  #columns: ColumnSet;
  /** Rows, the first ones, that are still to be filled in. */
  #unreadCount = 0;
  /** Rows that an audit has seen. Rows never change. */
  #auditedCount = 0;

  constructor(firstId: number, bytesEnd: number, capacity = 0) {
    this.firstId = firstId;
    this.#bytesEnd = bytesEnd;
    this.#columns = allocateColumns(capacity);
  }

  /** Columns for a part of the journal that is read later. They take no memory until it is, unless rows are added behind it. */
  static unread({ segment, lastId, end }: DeferredPart): EventColumns {
    const unread = new EventColumns(segment, end);
    unread.#count = lastId - segment + 1;
    unread.#unreadCount = unread.#count;
    unread.#auditedCount = unread.#count;
    return unread;
  }

  get count(): number {
    return this.#count;
  }
  get lastId(): number {
    return this.firstId + this.#count - 1;
  }
  get bytesEnd(): number {
    return this.#bytesEnd;
  }
  get isUnread(): boolean {
    return this.#unreadCount > 0;
  }
  get bytesAllocated(): number {
    return this.#columns.offset.length * BYTES_PER_EVENT;
  }

  push(row: EventRow): void {
    const at = this.#count;
    if (at >= this.#columns.offset.length) this.#resize(Math.max(CAPACITY_MIN, Math.ceil(at * GROWTH)));
    const columns = this.#columns;
    columns.at[at] = row.at;
    columns.offset[at] = row.offset;
    columns.type[at] = row.type;
    columns.project[at] = row.project;
    columns.feature[at] = row.feature;
    columns.environment[at] = row.environment;
    columns.by[at] = row.by;
    this.#count = at + 1;
  }

  /** Fills in the rows that were left for later. The caller does not change them any more. */
  fill(columns: ColumnSet): void {
    assert(columns.offset.length === this.#unreadCount, 'all rows are filled in at once');
    if (this.#columns.offset.length === 0) this.#columns = columns;
    else copyRows(columns, this.#columns, this.#unreadCount);
    this.#unreadCount = 0;
    this.#auditedCount = 0;
  }

  /** Declares the frame at `offset` complete; frames follow each other without a gap. */
  endFrame(offset: number, bytesEnd: number): void {
    assert(offset === this.#bytesEnd, 'a frame begins where the one before it ends');
    assert(bytesEnd > offset, 'a frame has a length');
    this.#bytesEnd = bytesEnd;
  }

  /** Every frame lies behind the one before it, and before the end of the last. */
  audit(): void {
    const offsets = this.#columns.offset;
    for (let row = this.#auditedCount; row < this.#count; row += 1) {
      const offset = offsets[row]!;
      assert(offset > 0 && offset < this.#bytesEnd, `event ${this.firstId + row} lies outside its segment`);
      assert(
        row === 0 || offset >= offsets[row - 1]!,
        `event ${this.firstId + row} lies before the one before`,
      );
    }
    this.#auditedCount = this.#count;
  }

  /** Frees unused capacity, since nothing is added to a segment after the journal has begun the next one. */
  seal(): void {
    if (this.#columns.offset.length > this.#count) this.#resize(this.#count);
  }

  /** The first `count` rows; a view survives later growth, since growth copies and rows never change. */
  view(count = this.#count): SegmentView {
    assert(count >= 0 && count <= this.#count, 'a view cannot be longer than its segment');
    const bytesEnd = count < this.#count ? (this.#columns.offset[count] ?? 0) : this.#bytesEnd;
    return { firstId: this.firstId, count, bytesEnd, columns: this.#columns };
  }

  #resize(capacity: number): void {
    assert(capacity >= this.#count, 'no event is cut off');
    const grown = allocateColumns(capacity);
    copyRows(this.#columns, grown, this.#count);
    this.#columns = grown;
  }
}

/** Columns for so many rows, all zero. */
function allocateColumns(capacity: number): ColumnSet {
  const column = (): Uint32Array =>
    new Uint32Array(new SharedArrayBuffer(capacity * Uint32Array.BYTES_PER_ELEMENT));
  return {
    at: new Float64Array(new SharedArrayBuffer(capacity * Float64Array.BYTES_PER_ELEMENT)),
    ...{ offset: column(), type: column(), project: column() },
    ...{ feature: column(), environment: column(), by: column() },
  };
}

function copyRows(from: ColumnSet, to: ColumnSet, count: number): void {
  for (const name of Object.keys(to) as (keyof ColumnSet)[]) to[name].set(from[name].subarray(0, count));
}

/** The first row at or after `from` whose frame starts at or beyond `offset`; `count` when there is none. */
export function firstRowAtOffset(view: SegmentView, offset: number, from = 0): number {
  const offsets = view.columns.offset;
  let low = from;
  let high = from;
  // Most searches are for a row that is near.
  for (let step = 1; high < view.count && (offsets[high] ?? 0) < offset; step *= 2) {
    low = high + 1;
    high += step;
  }
  high = Math.min(high, view.count);
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((offsets[middle] ?? 0) < offset) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Returns the place of this row's frame in the segment file. */
export function frameExtent(view: SegmentView, row: number): { offset: number; bytesEnd: number } {
  const offset = view.columns.offset[row] ?? 0;
  const next = firstRowAtOffset(view, offset + 1, row);
  return { offset, bytesEnd: next < view.count ? (view.columns.offset[next] ?? 0) : view.bytesEnd };
}
