/**
 * Posting lists of the event index: for each type, project and flag, its events from the newest to the oldest, and how
 * many there are. So the newest events of a flag are found without a look at the events of others, however long the log is.
 *
 * A list is a chain through the rows: beside each row stands how many ids further back the next older event of the same
 * list is. That is 12 bytes an event for the three lists that an event is in. Nothing of it is saved; it is made again
 * from the columns in one pass over them. As there, rows never change once written, so a walk needs no locks.
 */
import assert from 'node:assert/strict';
import type { EventRow, SegmentView } from './event-columns.ts';

/** Columns whose codes have lists. Authors have none: few are asked for, and 4 bytes an event is a tenth of the index. */
export const LISTED_COLUMNS = ['type', 'project', 'feature'] as const;
export type ListedColumn = (typeof LISTED_COLUMNS)[number];

const CAPACITY_MIN = 1024;
const GROWTH = 1.5;
const BYTES_PER_EVENT = LISTED_COLUMNS.length * Uint32Array.BYTES_PER_ELEMENT;

/** Ids back to the next older event of the list; 0 where there is none. */
type Links = Record<ListedColumn, Uint32Array>;

interface LinkedSegment {
  readonly firstId: number;
  count: number;
  links: Links;
}

/** By code. */
interface Heads {
  newestIds: Float64Array;
  counts: Uint32Array;
}

export class PostingLists {
  readonly #segments: LinkedSegment[] = [];
  readonly #heads: Record<ListedColumn, Heads> = { type: noHeads(), project: noHeads(), feature: noHeads() };

  get bytesAllocated(): number {
    const headBytes = LISTED_COLUMNS.reduce((sum, column) => {
      const { newestIds, counts } = this.#heads[column];
      return sum + newestIds.byteLength + counts.byteLength;
    }, 0);
    return this.#segments.reduce((sum, { links }) => sum + links.type.length * BYTES_PER_EVENT, headBytes);
  }

  beginSegment(firstId: number): void {
    const open = this.#segments.at(-1);
    if (open !== undefined) resize(open, open.count);
    this.#segments.push({ firstId, count: 0, links: allocateLinks(0) });
  }

  /** The event that follows the last one. */
  push({ type, project, feature }: Pick<EventRow, ListedColumn>): void {
    const segment = this.#open();
    const row = segment.count;
    if (row === segment.links.type.length) resize(segment, Math.max(CAPACITY_MIN, Math.ceil(row * GROWTH)));
    const id = segment.firstId + row;
    const { links } = segment;
    links.type[row] = this.#link('type', type, id);
    links.project[row] = this.#link('project', project, id);
    links.feature[row] = this.#link('feature', feature, id);
    segment.count = row + 1;
  }

  get segmentCount(): number {
    return this.#segments.length;
  }

  /** Rows of the newest segment that are in lists. */
  get openCount(): number {
    return this.#open().count;
  }

  /** All rows of a segment that was read from an index file, as the next segment. */
  adopt(view: SegmentView): void {
    this.beginSegment(view.firstId);
    this.append(view, view.count);
  }

  /** So many of the rows of the newest segment that are not in lists yet. */
  append({ firstId, count, columns }: SegmentView, rowsMax: number): void {
    const segment = this.#open();
    assert(segment.firstId === firstId && segment.count <= count, 'rows come after those before them');
    if (segment.links.type.length < count) resize(segment, count);
    const from = segment.count;
    const end = Math.min(count, from + rowsMax);
    const oldestId = this.#segments[0]!.firstId;
    for (const column of LISTED_COLUMNS) {
      const codes = columns[column];
      const links = segment.links[column];
      const heads = this.#heads[column];
      let codesEnd = 0;
      for (let row = from; row < end; row += 1) codesEnd = Math.max(codesEnd, codes[row]! + 1);
      if (codesEnd > heads.counts.length) growHeads(heads, codesEnd);
      const { newestIds, counts } = heads;
      // As `#link` does, for millions of rows in one loop.
      for (let row = from; row < end; row += 1) {
        const code = codes[row]!;
        const id = firstId + row;
        const previous = newestIds[code]!;
        newestIds[code] = id;
        counts[code]! += 1;
        links[row] = previous < oldestId ? 0 : id - previous;
      }
    }
    segment.count = end;
  }

  /** Forgets the oldest segment. Links into it are the ends of their lists from now on. */
  dropOldest({ firstId, count, columns }: SegmentView): void {
    const dropped = this.#segments.shift();
    assert(
      dropped?.firstId === firstId && dropped.count === count,
      'lists and columns have the same segments',
    );
    for (const column of LISTED_COLUMNS) {
      const codes = columns[column];
      const { counts } = this.#heads[column];
      for (let row = 0; row < count; row += 1) counts[codes[row]!]! -= 1;
    }
  }

  /** How many events the list has, durable or not. */
  count(column: ListedColumn, code: number): number {
    return this.#heads[column].counts[code] ?? 0;
  }

  /** A walk over a list that begins with the newest of its events. It survives what is added and dropped meanwhile. */
  walk(column: ListedColumn, code: number): ListWalk {
    return this.walkFrom(
      column,
      this.count(column, code) === 0 ? 0 : (this.#heads[column].newestIds[code] ?? 0),
    );
  }

  /** A walk over a list that begins with this event of it; 0 for none. */
  walkFrom(column: ListedColumn, id: number): ListWalk {
    return new ListWalk([...this.#segments], column, id);
  }

  /** Each list holds the events whose row has its code, and no other; for the simulation. */
  audit(views: readonly SegmentView[]): void {
    assert(
      views.length === this.#segments.length &&
        views.every(({ firstId, count }, at) => {
          const segment = this.#segments[at];
          return segment?.firstId === firstId && segment.count === count;
        }),
      'lists and columns have the same rows',
    );
    for (const column of LISTED_COLUMNS) this.#auditColumn(column, views);
  }

  #auditColumn(column: ListedColumn, views: readonly SegmentView[]): void {
    const walks = new Map<number, ListWalk>();
    let rows = 0;
    for (const view of views.toReversed()) {
      for (let row = view.count - 1; row >= 0; row -= 1) {
        const code = view.columns[column][row]!;
        const walk = walks.get(code) ?? this.walk(column, code);
        walks.set(code, walk);
        assert(
          walk.id === view.firstId + row,
          `the list of a ${column} leaves out event ${view.firstId + row}`,
        );
        walk.toOlder();
        rows += 1;
      }
    }
    let listed = 0;
    for (const [code, walk] of walks) {
      assert(walk.id === 0, `the list of a ${column} ends with its last event, before ${walk.id}`);
      listed += this.count(column, code);
    }
    assert(listed === rows, `the lists of the column ${column} hold ${rows} events, and not ${listed}`);
  }

  #open(): LinkedSegment {
    const open = this.#segments.at(-1);
    assert(open !== undefined, 'an event is added to a segment');
    return open;
  }

  /** Makes `id` the newest of the list, and gives the distance to the one that was. */
  #link(column: ListedColumn, code: number, id: number): number {
    const heads = this.#heads[column];
    if (code >= heads.counts.length) growHeads(heads, code + 1);
    const previous = heads.newestIds[code]!;
    heads.newestIds[code] = id;
    heads.counts[code]! += 1;
    assert(previous < id, 'lists grow by newer events');
    // Of a list that is empty again since its events were dropped, the newest is not kept any more.
    return previous < (this.#segments[0] as LinkedSegment).firstId ? 0 : id - previous;
  }
}

/** At one event of a list, on the way to older ones. */
export class ListWalk {
  readonly #segments: readonly LinkedSegment[];
  readonly #column: ListedColumn;
  #id: number;
  #at: number;

  constructor(segments: readonly LinkedSegment[], column: ListedColumn, id: number) {
    this.#segments = segments;
    this.#column = column;
    this.#id = id;
    this.#at = segments.length - 1;
    this.#findSegment();
  }

  /** The event at which the walk is; 0 when it is over. */
  get id(): number {
    return this.#id;
  }

  toOlder(): void {
    const segment = this.#segments[this.#at];
    assert(segment !== undefined, 'a walk that is over goes no further');
    const distance = segment.links[this.#column][this.#id - segment.firstId]!;
    if (distance === 0) {
      this.#id = 0;
      return;
    }
    this.#id -= distance;
    if (this.#id < segment.firstId) this.#findSegment();
  }

  #findSegment(): void {
    while (this.#at >= 0 && this.#id < this.#segments[this.#at]!.firstId) this.#at -= 1;
    if (this.#at < 0) this.#id = 0;
  }
}

function noHeads(): Heads {
  return { newestIds: new Float64Array(0), counts: new Uint32Array(0) };
}

function growHeads(heads: Heads, codes: number): void {
  const capacity = Math.max(codes, Math.ceil(heads.counts.length * GROWTH), CAPACITY_MIN);
  const newestIds = new Float64Array(capacity);
  const counts = new Uint32Array(capacity);
  newestIds.set(heads.newestIds);
  counts.set(heads.counts);
  heads.newestIds = newestIds;
  heads.counts = counts;
}

function allocateLinks(capacity: number): Links {
  return {
    type: new Uint32Array(capacity),
    project: new Uint32Array(capacity),
    feature: new Uint32Array(capacity),
  };
}

function resize(segment: LinkedSegment, capacity: number): void {
  const links = allocateLinks(capacity);
  for (const column of LISTED_COLUMNS) links[column].set(segment.links[column].subarray(0, segment.count));
  segment.links = links;
}
