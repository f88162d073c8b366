/**
 * The event log, which is the journal as its readers see it. It searches by filter and text, reads by id, and walks
 * in order.
 *
 * The engine adds every frame when it appends it, before the frame is on disk, but a frame becomes visible only when
 * it is. So every method takes `durableId`, the last event whose sync has returned (invariant 4), and a crash cannot
 * take back what was shown. Rows up to it are final, so a search needs neither locks nor snapshots.
 *
 * Filters run here on columns of numbers, in slices that never hold up other requests. Free text and large pages go to a
 * LogReader, which reads the segment files elsewhere. Everything but the journal is derived, so losing it only costs time.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { RecordedEvent } from '../../domain/state/events.ts';
import { nextRound } from '../../process/timers.ts';
import type { FileSystem } from '../disk/file-system.ts';
import type { DeferredPart, JournalPart } from '../journal/deferred-part.ts';
import type { Frame, FramePosition, RecordedFrame } from '../journal/frame.ts';
import type { RawFrame } from '../journal/frame-format.ts';
import { readFrames } from '../journal/frame-reader.ts';
import { segmentFileName } from '../journal/segment.ts';
import type { OpenSegment } from '../journal/segment-file.ts';
import { ColumnSearch, filterKey, type SearchScope } from './column-search.ts';
import { frameExtent, type SegmentView } from './event-columns.ts';
import { compileFilter, type EventQuery, IdPage } from './event-filter.ts';
import { EventIndex } from './event-index.ts';
import {
  type EventPage,
  type EventPlace,
  type EventTexts,
  frameBytes,
  type IdRange,
  PAGE_BYTES_MAX,
  placesWithin,
  renderPage,
} from './event-page.ts';
import { type Walk, type WalkedEvent, walkIds } from './event-walk.ts';
import { inTurns } from './in-turns.ts';
import { indexFrame } from './index-building.ts';
import { damageOfFile, errorOf, type JournalDamage, type LogReader } from './log-reader.ts';
import { recordedEvent, toLoggedEvent } from './logged-event.ts';
import { fillRows } from './part-rows.ts';
import type { TextMatches } from './text-scan.ts';

export interface EventLogOptions {
  readonly fs: FileSystem;
  /** The journal folder. */
  readonly folder: string;
  readonly logReader: LogReader;
  yieldToEventLoop?(): Promise<void>;
  /** Texts of the events that were listed last, since most who ask want to see the newest. Events never change. */
  readonly texts?: EventTexts;
}

/** On whose behalf something is read. */
type Reader = Pick<Walk, 'signal' | 'charge'>;

/** Frames of so many bytes are decoded and written within 5 ms; more are left to the thread of the LogReader. */
const IN_PLACE_BYTES_MAX = 128 * 1024;

/** Events as lines of JSON, one each, oldest first. */
export interface EventLines {
  readonly bytes: Uint8Array;
  /** Every wanted event up to this one is among them, or was before. */
  readonly lastId: number;
}

/** Lines end with the event that exceeds this. A client that reads slowly holds on to so much. */
export const LINES_BYTES_MAX = 256 * 1024;

/** Others have their turn to read after so many events, wanted or not. */
export const LINES_EVENTS_MAX = 5_000;

/** Characters of lines between two turns of the event loop. */
const LINES_A_TURN = 64 * 1024;

export class EventLog {
  readonly #options: EventLogOptions;
  readonly #index = new EventIndex();
  readonly #yield: () => Promise<void>;
  /** First ids of segments with a part that the start has left unread, and nobody has read since. */
  readonly #unread = new Set<number>();
  /** By first id. Nothing is shown of such a segment: a frame in it may be whole, and not the one that was written there. */
  readonly #damaged = new Map<number, JournalDamage>();
  readonly #columnSearch = new ColumnSearch(() => this.#yield());
  /** Whether the log has the segment that begins with this event. */
  readonly #isKept = (firstId: number): boolean => this.#index.viewOf(firstId) !== null;

  /** The log of a journal that is about to be recovered: call `pass`, `add` or `defer` for what it holds, in order. */
  constructor(options: EventLogOptions) {
    this.#options = options;
    this.#yield = inTurns(options.yieldToEventLoop ?? nextRound);
  }

  /** Takes a frame at a start that is not replayed. */
  pass(segment: OpenSegment, raw: RawFrame, payload: Buffer): void {
    indexFrame(this.#index, segment, raw, payload);
  }

  /** Leaves a part of the journal to `check`. */
  defer(part: DeferredPart): void {
    this.#unread.add(part.segment);
    this.#index.defer(part);
  }

  /** All of the journal that is durable, oldest first. */
  parts(durableId: number): readonly JournalPart[] {
    return this.#index
      .views(durableId)
      .flatMap(({ firstId, count, bytesEnd }) =>
        count === 0 ? [] : [{ segment: firstId, end: bytesEnd, chain: null, lastId: firstId + count - 1 }],
      );
  }

  /** Whether all of the journal has been read since the start. Until then nothing can be searched or read. */
  get isWhole(): boolean {
    return this.#unread.size === 0;
  }

  /** Reads a part of the journal, and indexes it if the start has not; null when it is whole, or not kept any more. */
  async check(part: JournalPart): Promise<JournalDamage | null> {
    const { folder, logReader } = this.#options;
    const { segment } = part;
    try {
      const isIndexed = !this.#index.isUnread(segment);
      const { damage, rows } = await logReader.check({ folder, part, isIndexed });
      if (rows !== null) for (const _ of fillRows(this.#index, segment, rows)) await this.#yield();
      this.#damaged.delete(segment);
      if (damage === null || !this.#isKept(segment)) return null;
      this.#damaged.set(segment, damage);
      return damage;
    } catch (error) {
      if (!this.#isKept(segment)) return null;
      if (this.#index.isUnread(segment)) {
        const file = join(folder, segmentFileName(segment));
        this.#damaged.set(segment, damageOfFile(file, segment, 'A journal file could not be read'));
      }
      throw error;
    } finally {
      this.#unread.delete(segment);
    }
  }

  close(): Promise<void> {
    return this.#options.logReader.close();
  }

  /** Id of the oldest event that is kept; 0 when there is none. */
  get firstId(): number {
    return this.#index.firstId;
  }
  /** Id of the oldest event that is kept; the next one where none is: a folder that starts from a snapshot alone has no events. */
  oldestId(durableId: number): number {
    return this.count === 0 ? durableId + 1 : this.firstId;
  }
  /** Id of the last event added, durable or not. */
  get lastId(): number {
    return this.#index.lastId;
  }
  get count(): number {
    return this.#index.count;
  }

  add(frame: Frame, position: FramePosition): void {
    this.#index.add(frame, position);
  }

  /** For the simulation. */
  audit(): void {
    this.#index.audit();
  }

  /**
   * A page ends at `limit` events or at PAGE_BYTES_MAX. Rejects with the signal's reason once it is aborted. How many
   * searches run at once is up to the callers.
   */
  async search(query: EventQuery, durableId: number, reader: Reader = {}): Promise<EventPage> {
    assert(durableId <= this.lastId || this.count === 0, 'nothing is shown that is not in the log');
    const { fromMs, untilMs, offset } = query;
    const before = fromMs === undefined ? null : this.idAtOrBefore(fromMs - 1, durableId);
    const oldestId = (before ?? 0) + 1;
    const newestId = untilMs === undefined ? durableId : (this.idAtOrBefore(untilMs, durableId) ?? 0);
    const pageFrom = offset > 0 ? Math.min(offset, newestId) : newestId;
    const [views, leftOut] = this.#readable(oldestId, newestId);
    const filter = compileFilter(query, this.#index.names, oldestId);
    // One more than is listed, which the next page starts with.
    const page = new IdPage(pageFrom, query.limit + 1, query.skip);
    const scope: SearchScope = { filter, views, page, reader };
    const found = query.query
      ? await this.#searchText(query.query, scope)
      : await this.#columnSearch.run(filterKey(query, oldestId), scope);
    return { ...(await this.#page(found, query.limit, reader)), leftOut };
  }

  /** The segments that can be searched, and the events between those ids that are in damaged ones. */
  #readable(oldestId: number, newestId: number): readonly [readonly SegmentView[], EventPage['leftOut']] {
    assert(this.isWhole, 'nothing is searched before all is read');
    const views: SegmentView[] = [];
    const leftOut: IdRange[] = [];
    for (const view of this.#index.views(newestId)) {
      const from = Math.max(view.firstId, oldestId);
      const to = view.firstId + view.count - 1;
      if (from > to) continue;
      if (this.#damaged.has(view.firstId)) leftOut.push({ from, to });
      else views.push(view);
    }
    return [views, leftOut];
  }

  async #page(
    { ids, total }: TextMatches,
    limit: number,
    reader: Reader,
  ): Promise<Omit<EventPage, 'leftOut'>> {
    const listed = ids.slice(0, limit);
    const places = this.#placesOf(listed);
    const read = placesWithin(places, PAGE_BYTES_MAX);
    const last = read.at(-1)?.ids.at(-1);
    const within = read.length === places.length ? listed : listed.slice(0, listed.indexOf(last ?? 0) + 1);
    const { fs, folder, logReader, texts } = this.#options;
    const request = { folder, ids: within, places: read, bytesMax: PAGE_BYTES_MAX };
    const { json, covered, missing } =
      frameBytes(read) > IN_PLACE_BYTES_MAX
        ? await logReader.page(request, reader.signal)
        : await renderPage(fs, request, { cache: texts, charge: reader.charge });
    assert(
      this.#placesOf(missing).length === 0,
      `the events ${missing}, whose segment file is missing, have left the log`,
    );
    return { json, totalEvents: total, covered, nextOffset: ids[covered] ?? null };
  }

  #searchText(query: string, { filter, views, page, reader }: SearchScope): Promise<TextMatches> {
    const { names } = this.#index;
    const folded = query.toLowerCase();
    const request = {
      folded,
      filter,
      types: names.types.tableOfNamesContaining(folded),
      authors: names.authors.tableOfNamesContaining(folded),
      newestId: page.newestId,
      limit: page.limit,
      skip: page.toSkip,
      folder: this.#options.folder,
      segments: views,
    };
    return this.#options.logReader.scan(request, reader.signal);
  }

  /** The whole frame that holds this event, with what readers must not see; null when it is not kept. */
  async readFrame(id: number): Promise<Frame | null> {
    let found: Frame | null = null;
    await this.#visit([id], (frame) => {
      found = frame;
    });
    return found;
  }

  async #visit(
    ids: readonly number[],
    visit: (frame: RecordedFrame, id: number) => void,
    charge?: Walk['charge'],
  ): Promise<void> {
    const reading = { ...this.#options, isKept: this.#isKept, charge, turn: this.#yield };
    await readFrames(reading, this.#placesOf(ids), (frame, place) => {
      for (const id of place.ids) visit(frame, id);
    });
  }

  /** Refuses a walk that would pass over events that cannot be read. */
  #refuseDamagedWithin(oldestId: number, newestId: number): void {
    assert(this.isWhole, 'nothing is searched before all is read');
    for (const { firstId, count } of this.#index.views(newestId))
      if (firstId + count > oldestId) this.#refuseDamaged(firstId);
  }

  #refuseDamaged(segment: number): void {
    const damage = this.#damaged.get(segment);
    if (damage !== undefined) throw errorOf(damage);
  }

  /** The frames of the ids that are kept, in the order of the ids. Neighbouring ids of one frame share a place. */
  #placesOf(ids: readonly number[]): EventPlace[] {
    assert(this.isWhole, 'no event is looked for before all is read');
    const places: (EventPlace & { readonly ids: number[] })[] = [];
    for (const id of ids) {
      const view = this.#index.viewOf(id);
      if (view === null) continue;
      this.#refuseDamaged(view.firstId);
      const extent = frameExtent(view, id - view.firstId);
      const last = places.at(-1);
      if (last?.segment === view.firstId && last.offset === extent.offset) last.ids.push(id);
      else places.push({ segment: view.firstId, ...extent, ids: [id] });
    }
    return places;
  }

  /** Bytes of the frames that a walk would read. */
  async walkBytes(walk: Walk): Promise<number> {
    let bytes = 0;
    this.#refuseDamagedWithin(walk.from, walk.to);
    for await (const ids of walkIds(this.#index, walk, this.#yield)) bytes += frameBytes(this.#placesOf(ids));
    return bytes;
  }

  /** Events from `from` to `to`, both included, one batch in memory at a time. `to` must be durable. */
  async *iterate(walk: Walk): AsyncGenerator<WalkedEvent> {
    this.#refuseDamagedWithin(walk.from, walk.to);
    for await (const ids of walkIds(this.#index, walk, this.#yield)) {
      const found = new Map<number, WalkedEvent>();
      await this.#visit(
        ids,
        (frame, id) => found.set(id, { id, frame, event: recordedEvent(frame, id) }),
        walk.charge,
      );
      for (const id of ids) {
        const event = found.get(id);
        if (event !== undefined) yield event;
      }
    }
  }

  /** The next wanted events after event `id`, of one segment; null where events after it are no longer kept. */
  async linesAfter(
    id: number,
    { durableId, isWanted }: { readonly durableId: number; isWanted(event: RecordedEvent): boolean },
    { signal, charge }: Reader = {},
  ): Promise<EventLines | null> {
    assert(this.isWhole && id <= durableId, 'lines begin with an event of the log, once all is read');
    if (id + 1 < this.oldestId(durableId)) return null;
    const view = this.#index.views(durableId).find(({ firstId, count }) => firstId + count > id + 1);
    const end = view === undefined ? durableId : view.firstId + view.count - 1;
    const to = Math.min(end, id + LINES_EVENTS_MAX);
    let text = '';
    let turnEnd = LINES_A_TURN;
    let lastId = to;
    for await (const { id: eventId, frame, event } of this.iterate({ from: id + 1, to, signal, charge })) {
      const begunAt = performance.now();
      if (isWanted(event)) text += `${JSON.stringify(toLoggedEvent(frame, eventId))}\n`;
      charge?.(performance.now() - begunAt);
      lastId = eventId;
      if (text.length > LINES_BYTES_MAX) break;
      if (text.length < turnEnd) continue;
      turnEnd = text.length + LINES_A_TURN;
      await this.#yield();
    }
    // Retention may have deleted the file while it was read.
    return id + 1 < this.oldestId(durableId) ? null : { bytes: Buffer.from(text), lastId };
  }

  /** The last event made at this time or before; null when none that old is kept. */
  idAtOrBefore(timeMs: number, durableId: number): number | null {
    assert(this.isWhole, 'no event is looked for before all is read');
    const id = this.#index.idAtOrBefore(timeMs, durableId);
    // The times in a part that could not be read are not known.
    const view = id === null ? null : this.#index.viewOf(id);
    if (view !== null && this.#index.isUnread(view.firstId)) this.#refuseDamaged(view.firstId);
    return id;
  }

  /** Forgets whole segments older than `id`. The caller deletes their files afterwards; returns their first ids. */
  dropSegmentsBefore(id: number): readonly number[] {
    assert(this.isWhole, 'no events are dropped while the index is made');
    return this.#index.dropSegmentsBefore(id);
  }
}
