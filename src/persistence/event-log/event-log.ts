/**
 * The event log, which is the journal as its readers see it. It searches by filter and text, reads by id, and walks
 * in order.
 *
 * The engine adds every frame when it appends it, before the frame is on disk, but a frame becomes visible only when
 * it is. So every method takes `durableId`, the last event whose sync has returned (invariant 4), and a crash cannot
 * take back what was shown. Rows up to it are final, so a search needs neither locks nor snapshots.
 *
 * Filters run here on columns of numbers, in slices that never hold up other requests. Free text goes to a
 * TextSearch, which reads the segment files elsewhere. Everything but the journal is derived, so losing it only costs
 * time.
 */
import assert from 'node:assert/strict';
import type { Refusal } from '../../domain/state/refusal.ts';
import type { RecordedEvent } from '../../domain/state/upgrade/recorded-event.ts';
import type { FileSystem } from '../disk/file-system.ts';
import type { Frame, FramePosition, RecordedFrame } from '../journal/frame.ts';
import { type FramePlace, readFrames } from '../journal/frame-reader.ts';
import { frameExtent, type SegmentView } from './event-columns.ts';
import { type CodeFilter, collectMatches, compileFilter, IdPage, matchesAll } from './event-filter.ts';
import { EventIndex } from './event-index.ts';
import { type Walk, walkIds } from './event-walk.ts';
import { type BuildProgress, buildIndex } from './index-building.ts';
import { SidecarStore } from './index-file-store.ts';
import { type LoggedEvent, recordedEvent, toLoggedEvent } from './logged-event.ts';
import type { TextMatches } from './text-scan.ts';
import type { TextSearch } from './text-search.ts';

/** Rows looked at between two turns of the event loop: about a millisecond's worth. */
const ROWS_PER_SLICE = 500_000;

export interface EventLogOptions {
  readonly fs: FileSystem;
  /** The journal folder. */
  readonly folder: string;
  readonly textSearch: TextSearch;
  /** Called when an index file could not be used or saved, for the log. Nobody has to act on it. */
  note?(message: string): void;
  onProgress?(progress: BuildProgress): void;
  yieldToEventLoop?(): Promise<void>;
}

export interface EventQuery {
  readonly type?: string;
  readonly project?: string;
  readonly feature?: string;
  /** Text to look for, case-insensitive, in type, author and data. Empty counts as absent. */
  readonly query?: string;
  readonly limit: number;
  /** Id of the newest event to list; 0 for the newest of all. */
  readonly offset: number;
}

export interface EventPage {
  /** Newest first. */
  readonly events: readonly LoggedEvent[];
  /** All that match, whatever `limit` and `offset`. */
  readonly totalEvents: number;
}

/** An event with the fields that only replay needs, for the engine and never for a response. */
export interface WalkedEvent {
  readonly id: number;
  readonly frame: RecordedFrame;
  readonly event: RecordedEvent;
}

interface TextScope {
  readonly filter: CodeFilter;
  readonly views: readonly SegmentView[];
  readonly page: IdPage;
  readonly signal: AbortSignal | undefined;
}

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

export class EventLog {
  readonly #options: EventLogOptions;
  readonly #index = new EventIndex();
  readonly #sidecars: SidecarStore;
  readonly #yield: () => Promise<void>;

  private constructor(options: EventLogOptions) {
    this.#options = options;
    this.#yield = options.yieldToEventLoop ?? nextTurn;
    this.#sidecars = new SidecarStore({ ...options, index: this.#index, yieldToEventLoop: this.#yield });
  }

  /** Indexes the journal as it stands on disk. Call it after recovery, before the first append. */
  static async open(options: EventLogOptions): Promise<EventLog> {
    const log = new EventLog(options);
    const { fs, folder, onProgress } = options;
    await buildIndex({
      fs,
      folder,
      index: log.#index,
      restore: (segment) => log.#sidecars.restore(segment),
      ...(onProgress === undefined ? {} : { onProgress }),
    });
    return log;
  }

  async close(): Promise<void> {
    await this.#options.textSearch.close();
  }

  /** Id of the oldest event that is kept; 0 when there is none. */
  get firstId(): number {
    return this.#index.firstId;
  }
  /** Id of the last event added, durable or not. */
  get lastId(): number {
    return this.#index.lastId;
  }
  get count(): number {
    return this.#index.count;
  }
  get indexBytes(): number {
    return this.#index.bytesAllocated;
  }

  add(frame: Frame, position: FramePosition): void {
    this.#index.add(frame, position);
  }

  /** A refusal when too many text searches wait. A text search that is aborted rejects with the signal's reason. */
  async search(query: EventQuery, durableId: number, signal?: AbortSignal): Promise<EventPage | Refusal> {
    const { type, project, feature } = query;
    const filter = compileFilter(
      {
        ...(type === undefined ? {} : { types: [type] }),
        ...(project === undefined ? {} : { project }),
        ...(feature === undefined ? {} : { feature }),
      },
      this.#index.names,
    );
    if (filter === null) return { events: [], totalEvents: 0 };
    const newestId = query.offset > 0 ? Math.min(query.offset, durableId) : durableId;
    const page = new IdPage(newestId, query.limit);
    const views = this.#index.views(durableId);
    if (query.query) {
      const found = await this.#searchText(query.query, { filter, views, page, signal });
      if ('refused' in found) return found;
      return { events: await this.read(found.ids), totalEvents: found.total };
    }
    await this.#searchColumns(filter, views, page);
    return { events: await this.read(page.ids), totalEvents: page.total };
  }

  async #searchColumns(filter: CodeFilter, views: readonly SegmentView[], page: IdPage): Promise<void> {
    if (matchesAll(filter)) {
      pageOfAll(views, page);
      return;
    }
    let rows = 0;
    for (const view of views.toReversed()) {
      if (rows > 0 && rows + view.count > ROWS_PER_SLICE) {
        await this.#yield();
        rows = 0;
      }
      collectMatches(filter, view, page);
      rows += view.count;
    }
  }

  #searchText(query: string, scope: TextScope): Promise<TextMatches | Refusal> {
    const { names } = this.#index;
    const folded = query.toLowerCase();
    const request = {
      folded,
      filter: scope.filter,
      types: names.types.tableOfNamesContaining(folded),
      authors: names.authors.tableOfNamesContaining(folded),
      newestId: scope.page.newestId,
      limit: scope.page.limit,
      folder: this.#options.folder,
      segments: scope.views,
    };
    return this.#options.textSearch.search(request, scope.signal);
  }

  /** The events with these ids, in this order; ids that are not kept (any more) are left out. */
  async read(ids: readonly number[]): Promise<LoggedEvent[]> {
    const events = new Map<number, LoggedEvent>();
    await this.#visit(ids, (frame, id) => events.set(id, toLoggedEvent(frame, id)));
    return ids.map((id) => events.get(id)).filter((event) => event !== undefined);
  }

  /** The whole frame that holds this event, with what readers must not see; null when it is not kept. */
  async readFrame(id: number): Promise<Frame | null> {
    let found: Frame | null = null;
    await this.#visit([id], (frame) => {
      found = frame;
    });
    return found;
  }

  async #visit(ids: readonly number[], visit: (frame: RecordedFrame, id: number) => void): Promise<void> {
    const idsByFrame = new Map<string, number[]>();
    const places: FramePlace[] = [];
    for (const id of ids) {
      const place = this.#placeOf(id);
      if (place === null) continue;
      const key = `${place.segment}:${place.offset}`;
      const sharing = idsByFrame.get(key);
      if (sharing === undefined) places.push(place);
      idsByFrame.set(key, [...(sharing ?? []), id]);
    }
    const isKept = (segment: number): boolean => this.#index.viewOf(segment) !== null;
    await readFrames({ ...this.#options, isKept }, places, (frame, { segment, offset }) => {
      for (const id of idsByFrame.get(`${segment}:${offset}`) ?? []) visit(frame, id);
    });
  }

  #placeOf(id: number): FramePlace | null {
    const view = this.#index.viewOf(id);
    return view === null ? null : { segment: view.firstId, ...frameExtent(view, id - view.firstId) };
  }

  /** Events from `from` to `to`, both included, one batch in memory at a time. `to` must be durable. */
  async *iterate(walk: Walk): AsyncGenerator<LoggedEvent> {
    for await (const ids of walkIds(this.#index, walk, this.#yield)) yield* await this.read(ids);
  }

  /** Like `iterate`, with what replay needs. */
  async *iterateRecorded(walk: Walk): AsyncGenerator<WalkedEvent> {
    for await (const ids of walkIds(this.#index, walk, this.#yield)) {
      const found = new Map<number, WalkedEvent>();
      await this.#visit(ids, (frame, id) => found.set(id, { id, frame, event: recordedEvent(frame, id) }));
      for (const id of ids) {
        const event = found.get(id);
        if (event !== undefined) yield event;
      }
    }
  }

  /** The last event made at this time or before; null when none that old is kept. Times never decrease with ids. */
  async idAtOrBefore(timeMs: number, durableId: number): Promise<number | null> {
    let low = this.firstId;
    let high = Math.min(durableId, this.lastId) + 1;
    const oldest = low;
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      const frame = await this.readFrame(middle);
      assert(frame !== null, `event ${middle} vanished during a search by time`);
      if (frame.at <= timeMs) low = middle + 1;
      else high = middle;
    }
    return low > oldest ? low - 1 : null;
  }

  /** Saves what a restart would have to decode again. Failing costs time at the next start, nothing else. */
  saveIndex(durableId: number): Promise<void> {
    return this.#sidecars.save(durableId);
  }

  /** Forgets whole segments older than `id`. The caller deletes their files afterwards; returns their first ids. */
  dropSegmentsBefore(id: number): readonly number[] {
    const dropped = this.#index.dropSegmentsBefore(id);
    this.#sidecars.forget(dropped);
    return dropped;
  }
}

/** Without filters nothing has to be looked at: ids are contiguous. */
function pageOfAll(views: readonly SegmentView[], page: IdPage): void {
  const first = views[0];
  const last = views.at(-1);
  if (first === undefined || last === undefined) return;
  page.total = last.firstId + last.count - first.firstId;
  const newest = Math.min(page.newestId, last.firstId + last.count - 1);
  for (let id = newest; id >= first.firstId && page.ids.length < page.limit; id--) page.ids.push(id);
}
