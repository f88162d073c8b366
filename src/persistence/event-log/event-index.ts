/**
 * The index of the event log: for every event in the journal, where it lies and what the filters ask about.
 *
 * Holds no events, only columns of numbers per segment, and the tables of names behind the codes. It is derived
 * from the journal and may be dropped and rebuilt at any time. Ids are contiguous: from `firstId`, the first event
 * of the oldest segment that is kept, to `lastId`, the last one added. It knows events before they are durable;
 * who may see them is the caller's business (event-log.ts), who passes the last visible id to `views`.
 */
import assert from 'node:assert/strict';
import type { DeferredPart } from '../journal/deferred-part.ts';
import type { Frame, FramePosition } from '../journal/frame.ts';
import type { FrameOutline, NamesOfEvent } from '../journal/frame-outline.ts';
import { SEGMENT_HEADER_BYTES } from '../journal/segment.ts';
import { type ColumnSet, EventColumns, type EventRow, type SegmentView } from './event-columns.ts';
import type { EventNames } from './event-filter.ts';
import { NameTable } from './name-table.ts';

export class EventIndex {
  readonly names: EventNames = {
    types: new NameTable(),
    projects: new NameTable(),
    features: new NameTable(),
    environments: new NameTable(),
    authors: new NameTable(),
  };
  /** Oldest first. */
  readonly #segments: EventColumns[] = [];
  readonly #rowsOfSegment: number;

  /** `rowsOfSegment`: how many events each segment will have, where that is known. */
  constructor(rowsOfSegment = 0) {
    this.#rowsOfSegment = rowsOfSegment;
  }

  /** 0 when there are no events. */
  get firstId(): number {
    return this.#segments[0]?.firstId ?? 0;
  }
  get lastId(): number {
    return this.#segments.at(-1)?.lastId ?? 0;
  }
  get count(): number {
    return this.#segments.length === 0 ? 0 : this.lastId - this.firstId + 1;
  }
  get bytesAllocated(): number {
    return this.#segments.reduce((sum, segment) => sum + segment.bytesAllocated, 0);
  }

  /** Adds a frame that follows the last one, in the same segment or as the first of the next. */
  add(frame: Frame, position: FramePosition): void {
    const segment = this.#segmentFor(frame.id, position);
    for (const event of frame.events) segment.push(this.#row(event, frame, position));
  }

  /** Adds a frame by its outline, which costs a fifth of decoding it. */
  addOutline(id: number, outline: FrameOutline, position: FramePosition): void {
    const segment = this.#segmentFor(id, position);
    for (let event = 0; event < outline.eventCount; event++)
      segment.push(this.#row(outline.names(event), outline, position));
  }

  #row(
    { type, project, featureName, environment }: NamesOfEvent,
    { at, by }: Pick<Frame, 'at' | 'by'>,
    { offset }: FramePosition,
  ): EventRow {
    return {
      at,
      offset,
      by: this.names.authors.codeOf(by),
      type: this.names.types.codeOf(type),
      project: this.names.projects.codeOf(project),
      feature: this.names.features.codeOf(featureName),
      environment: this.names.environments.codeOf(environment),
    };
  }

  #segmentFor(id: number, { segment, offset, length }: FramePosition): EventColumns {
    const open = this.#segments.at(-1);
    assert(open === undefined || id === open.lastId + 1, 'events are added in the order of their ids');
    const isNext = open?.firstId !== segment;
    assert(!isNext || id === segment, 'a segment is named after its first event');
    const columns = isNext
      ? this.#begin(new EventColumns(segment, SEGMENT_HEADER_BYTES, this.#rowsOfSegment))
      : open;
    columns.endFrame(offset, offset + length);
    return columns;
  }

  #begin(columns: EventColumns): EventColumns {
    const open = this.#segments.at(-1);
    assert(
      open === undefined || columns.firstId === open.lastId + 1,
      `segment ${columns.firstId} does not follow event ${this.lastId}`,
    );
    open?.seal();
    this.#segments.push(columns);
    return columns;
  }

  /** Begins a segment whose first rows are to be filled in later, also in place of those that it has. */
  defer(part: DeferredPart): void {
    if (this.#segments.at(-1)?.firstId === part.segment) this.#segments.pop();
    this.#begin(EventColumns.unread(part));
  }

  /** Whether the segment that begins with this event has rows to be filled in. */
  isUnread(firstId: number): boolean {
    return this.#segments.some((segment) => segment.firstId === firstId && segment.isUnread);
  }

  /** Fills in the rows of such a segment, unless it is not kept any more. */
  fill(firstId: number, columns: ColumnSet): void {
    this.#segments.find((segment) => segment.firstId === firstId && segment.isUnread)?.fill(columns);
  }

  /** Goes through what was added since the last audit, to see that the columns fit the journal; for the simulation. */
  audit(): void {
    let nextId = this.firstId;
    for (const segment of this.#segments) {
      assert(segment.firstId === nextId, `a segment begins with event ${nextId}, not ${segment.firstId}`);
      segment.audit();
      nextId = segment.lastId + 1;
    }
  }

  /** Forgets the segments all of whose events are older than `id`; the newest one always stays. */
  dropSegmentsBefore(id: number): readonly number[] {
    const isOld = (next: EventColumns | undefined): boolean => next !== undefined && next.firstId <= id;
    const kept = this.#segments.findIndex((_, position) => !isOld(this.#segments[position + 1]));
    const dropped = this.#segments.splice(0, Math.max(kept, 0));
    return dropped.map((segment) => segment.firstId);
  }

  /** The rows of events with ids up to `lastId`, oldest segment first. */
  views(lastId: number): SegmentView[] {
    return this.#segments
      .filter((segment) => segment.firstId <= lastId)
      .map((segment) => segment.view(Math.min(segment.count, lastId - segment.firstId + 1)));
  }

  /** The last event up to `lastId` that was made at this time or before; null where none that old is kept. */
  idAtOrBefore(timeMs: number, lastId: number): number | null {
    const view = this.views(lastId).findLast(({ count, columns }) => count > 0 && columns.at[0]! <= timeMs);
    if (view === undefined) return null;
    let low = 0;
    let high = view.count;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (view.columns.at[middle]! <= timeMs) low = middle + 1;
      else high = middle;
    }
    return view.firstId + low - 1;
  }

  /** The segment that holds this event, or null. */
  viewOf(id: number): SegmentView | null {
    let low = 0;
    let high = this.#segments.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#segments[middle]?.firstId ?? 0) <= id) low = middle + 1;
      else high = middle;
    }
    const segment = this.#segments[low - 1];
    return segment !== undefined && id <= segment.lastId ? segment.view() : null;
  }
}
