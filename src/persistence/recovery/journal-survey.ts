/**
 * Surveys a journal: verifies it to the last byte, but for parts that may be deferred, and changes nothing.
 *
 * Every checksum, every link from frame to frame and from segment to segment, and the order of ids are checked.
 * Frames are not decoded, except for the last one of each segment, whose last event id must match the next segment's
 * name.
 *
 * Only the last segment can have a torn tail, or zeros ahead of its end: a segment is begun after the one before it is
 * full and on disk to its end.
 */
import assert from 'node:assert/strict';
import { ADVICE_DAMAGED, DataFolderError } from '../disk/data-folder.ts';
import { type Deferred, type DeferredPart, deferredPart } from '../journal/deferred-part.ts';
import type { Boundary } from '../journal/frame.ts';
import type { PayloadStamp } from '../journal/frame-format.ts';
import { FrameWalk, readLastEvent } from '../journal/frame-reader.ts';
import { SEGMENT_HEADER_BYTES, SEGMENT_VERSION, type SegmentHeader } from '../journal/segment.ts';
import { judgeMissingHeader, judgeScanEnd, type SegmentEnd } from '../journal/segment-end.ts';
import {
  isUnreadableSegment,
  type JournalSource,
  listSegments,
  type OpenSegment,
  withSegment,
} from '../journal/segment-file.ts';
import { scanFrames, scanStartOf } from '../journal/segment-scan.ts';

/** Bytes behind the last good frame that are to be cut off: a torn tail, or zeros that were never overwritten. */
export interface SegmentTail {
  readonly path: string;
  /** 0 when the file's header was never complete, in which case the file is removed. */
  readonly offset: number;
  /** Bytes of a write that a crash cut off, without the zeros that follow; 0 when nothing was written there. */
  readonly tornBytes: number;
}

export interface JournalSurvey {
  /** First event ids of the segments that stay, in order. */
  readonly segments: readonly number[];
  /** Id of the first event that the journal holds or will hold; null when there is no segment. */
  readonly firstId: number | null;
  /** Checksum of the frame before that event; 0 before the first event of all. */
  readonly firstChain: number;
  /** Id of the last whole event; one less than `firstId` when there is none. */
  readonly lastId: number;
  readonly lastAt: number | null;
  /** The end of the last whole frame; null when there is no segment. */
  readonly end: Boundary | null;
  /** Whether the last segment is of the format that this build writes. */
  readonly isEndAppendable: boolean;
  /** The versions by which the last frame is read; null where there is no frame. */
  readonly lastStamp: PayloadStamp | null;
  /**
   * The start of the last batch in the last segment: everything before it had been synced when it was written. 0 as long
   * as nothing proves that the header is on disk.
   */
  readonly lastBatchAt: number;
  readonly tail: SegmentTail | null;
  readonly damage: DataFolderError | null;
  /** Parts that were not read, in order. */
  readonly deferred: readonly DeferredPart[];
  /** For the ids asked for: where the event after it begins, if a frame ends with it. */
  readonly boundaries: ReadonlyMap<number, Boundary>;
}

/** The frames that a start may leave unread, because the snapshot holds them. */
export interface Deferral {
  /** Id of the snapshot's last event, and the checksum of its frame. */
  readonly snapshot: { readonly id: number; readonly chain: number };
  /** Files of fewer bytes are read at once, and left unread only where that finds them damaged. */
  readonly bytesMin: number;
}

export interface JournalSurveyOptions extends JournalSource {
  /** Event ids whose boundaries are wanted. */
  readonly wantedIds: ReadonlySet<number>;
  /** Nothing is left unread unless given. */
  readonly deferral?: Deferral | undefined;
  readonly onProgress?: (bytesDone: number) => void;
}

/** Throws on I/O errors and on files of a newer format; damage, and what the disk cannot read, is part of the result. */
export async function surveyJournal(options: JournalSurveyOptions): Promise<JournalSurvey> {
  return new Surveyor(options, await listSegments(options)).survey();
}

interface FramesToRead {
  readonly header: SegmentHeader;
  readonly isLast: boolean;
  readonly deferred: Deferred | null;
}

class Surveyor {
  readonly #options: JournalSurveyOptions;
  readonly #firstIds: readonly number[];
  readonly #segments: number[] = [];
  readonly #boundaries = new Map<number, Boundary>();
  #firstChain = 0;
  #lastId = 0;
  #lastAt: number | null = null;
  #end: Boundary | null = null;
  #isEndAppendable = false;
  #lastStamp: PayloadStamp | null = null;
  #lastBatchAt = 0;
  #tail: SegmentTail | null = null;
  #damage: DataFolderError | null = null;
  readonly #deferred: DeferredPart[] = [];
  #bytesDone = 0;

  constructor(options: JournalSurveyOptions, firstIds: readonly number[]) {
    this.#options = options;
    this.#firstIds = firstIds;
  }

  async survey(): Promise<JournalSurvey> {
    for (const [index, firstId] of this.#firstIds.entries()) {
      if (this.#damage !== null) break;
      try {
        await this.#surveySegment(firstId, index === this.#firstIds.length - 1);
      } catch (error) {
        if (!isUnreadableSegment(error)) throw error;
        this.#damage = error;
      }
    }
    if (this.#end !== null && this.#options.wantedIds.has(this.#lastId)) {
      this.#boundaries.set(this.#lastId, this.#end);
    }
    this.#assertWhole();
    return {
      segments: this.#segments,
      firstId: this.#segments[0] ?? null,
      firstChain: this.#firstChain,
      lastId: this.#lastId,
      lastAt: this.#lastAt,
      end: this.#end,
      isEndAppendable: this.#isEndAppendable,
      lastStamp: this.#lastStamp,
      lastBatchAt: this.#lastBatchAt,
      tail: this.#tail,
      damage: this.#damage,
      deferred: this.#deferred,
      boundaries: this.#boundaries,
    };
  }

  #assertWhole(): void {
    assert(this.#tail === null || this.#damage === null, 'a journal has a torn tail or damage, and not both');
    for (const { segment } of this.#boundaries.values())
      assert(this.#segments.includes(segment), 'a boundary lies in a segment that stays');
    if (this.#damage !== null) return;
    const isLastNew = this.#tail?.offset === 0;
    const count = this.#segments.length + (isLastNew ? 1 : 0);
    assert(count === this.#firstIds.length, 'each file is read, but for one that was never begun');
    assert(this.#end?.segment === this.#segments.at(-1), 'a journal ends in its last segment');
    assert(this.#lastId >= (this.#segments.at(-1) ?? 1) - 1, 'a journal ends behind its last beginning');
    assert((this.#end?.offset ?? SEGMENT_HEADER_BYTES) >= SEGMENT_HEADER_BYTES, 'a segment has its header');
  }

  async #surveySegment(firstId: number, isLast: boolean): Promise<void> {
    assert(
      this.#damage === null && this.#tail === null,
      'nothing is read behind damage, or behind a torn tail',
    );
    await withSegment(this.#options, firstId, async (segment) => {
      const { header, path } = segment;
      if (header === null) return this.#endsAs(await judgeMissingHeader(segment, isLast), path);
      const mismatch = this.#mismatch(header, firstId);
      if (mismatch !== null) return this.#damaged(path, 0, mismatch);
      if (this.#segments.length === 0) this.#firstChain = header.chain;
      this.#segments.push(firstId);
      await this.#surveyFrames(segment, header, isLast);
    });
  }

  #mismatch(header: SegmentHeader, firstId: number): string | null {
    if (header.firstId !== firstId) return `the file says that it begins with event ${header.firstId}`;
    if (this.#end === null) return null;
    if (firstId > this.#lastId + 1)
      return `the events from ${this.#lastId + 1} to ${firstId - 1} are missing`;
    if (firstId <= this.#lastId) return `the file repeats events up to ${this.#lastId}`;
    return header.chain === this.#end.chain ? null : 'the file does not follow the one before it';
  }

  /**
   * A damaged segment that the state does not depend on is left to the check after the start too, however short it is: damage
   * in old history keeps nobody from flags and changes.
   */
  async #surveyFrames(segment: OpenSegment, header: SegmentHeader, isLast: boolean): Promise<void> {
    const { bytesMin = 0 } = this.#options.deferral ?? {};
    const deferredBefore = this.#deferred.length;
    await this.#readFrames(segment, { header, isLast, deferred: await this.#deferrable(segment, bytesMin) });
    if (this.#damage === null) return;
    const deferred = await this.#deferrable(segment, 0);
    if (deferred === null) return;
    // The damage lies behind the part where one was left unread, and no part may be told twice.
    this.#deferred.length = deferredBefore;
    this.#damage = null;
    await this.#readFrames(segment, { header, isLast, deferred });
  }

  async #readFrames(segment: OpenSegment, { header, isLast, deferred }: FramesToRead): Promise<void> {
    const { path, firstId } = segment;
    if (this.#end === null) this.#lastId = firstId - 1;
    const walk = new FrameWalk(firstId, this.#options.wantedIds, this.#boundaries);
    if (deferred !== null) this.#defer(deferred, header, walk);
    const { format } = header;
    const start =
      deferred === null
        ? scanStartOf(header)
        : { format, offset: deferred.part.end, chain: deferred.part.chain };
    const end = await scanFrames(segment, start, (frame, payload) => walk.visit(frame, payload));
    assert(end.offset >= start.offset && end.offset <= end.size, 'a scan goes on to a place in the file');
    if (walk.problem !== null) return this.#damaged(path, walk.last?.offset ?? 0, walk.problem);
    const last = walk.last === null ? null : await readLastEvent(segment, walk.last);
    if (typeof last === 'string') return this.#damaged(path, walk.last?.offset ?? 0, last);
    if (last !== null) {
      this.#lastId = last.lastId;
      this.#lastAt = last.at;
    }
    assert(this.#lastId >= firstId - 1, 'a segment ends behind its beginning');
    assert((this.#end?.segment ?? 0) <= firstId, 'segments are read in their order');
    this.#end = { segment: firstId, offset: end.offset, chain: end.chain };
    this.#isEndAppendable = header.format.version === SEGMENT_VERSION;
    this.#lastStamp = walk.last ?? this.#lastStamp;
    this.#lastBatchAt = walk.last?.batchStart ?? 0;
    assert(this.#lastBatchAt <= end.offset, 'the last batch begins before the end');
    this.#bytesDone += end.size;
    this.#options.onProgress?.(this.#bytesDone);
    this.#endsAs(await judgeScanEnd(segment, end, isLast), path);
  }

  /** The beginning of the segment that the snapshot holds, where it need not be read. */
  async #deferrable(segment: OpenSegment, bytesMin: number): Promise<Deferred | null> {
    const { wantedIds } = this.#options;
    const last = (await segment.file.size()) < bytesMin ? null : await this.#lastHeld(segment.firstId);
    if (last === null) return null;
    // A boundary within it could not be told.
    if ([...wantedIds].some((id) => id >= segment.firstId && id < last.lastId)) return null;
    return deferredPart(segment, last);
  }

  /** The last event of the segment that the snapshot holds, and the checksum of its frame; null where there is none, or nobody vouches for it. */
  async #lastHeld(firstId: number): Promise<Pick<DeferredPart, 'lastId' | 'chain'> | null> {
    const snapshot = this.#options.deferral?.snapshot;
    if (snapshot === undefined || snapshot.id < firstId) return null;
    const nextId = this.#firstIds.find((id) => id > firstId);
    if (nextId === undefined || nextId > snapshot.id + 1)
      return { lastId: snapshot.id, chain: snapshot.chain };
    try {
      const next = await withSegment(this.#options, nextId, async ({ header }) => header);
      return next === null ? null : { lastId: nextId - 1, chain: next.chain };
    } catch (error) {
      // The survey comes to that file next.
      if (error instanceof DataFolderError) return null;
      throw error;
    }
  }

  #defer({ part, last }: Deferred, header: SegmentHeader, walk: FrameWalk): void {
    const { segment, end, lastId } = part;
    assert(lastId >= segment && end > SEGMENT_HEADER_BYTES, 'a part that is deferred holds an event');
    this.#deferred.push(part);
    if (this.#options.wantedIds.has(segment - 1)) {
      const boundary = { segment, offset: SEGMENT_HEADER_BYTES, chain: header.chain };
      this.#boundaries.set(segment - 1, boundary);
    }
    walk.passTo(last);
  }

  #endsAs(end: SegmentEnd, path: string): void {
    if (end.kind === 'damage') this.#damaged(path, end.offset, end.what);
    else if (end.kind === 'tail') this.#tail = { path, offset: end.offset, tornBytes: end.bytes };
    else if (end.kind === 'unwritten') this.#tail = { path, offset: end.offset, tornBytes: 0 };
  }

  #damaged(file: string, offset: number, what: string): void {
    const details = { file, offset, lastGoodEventId: this.#lastId, advice: ADVICE_DAMAGED };
    this.#damage = new DataFolderError(`The journal is damaged: ${what}`, details);
  }
}
