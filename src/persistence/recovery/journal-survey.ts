/**
 * Surveys a journal: verifies it to the last byte and changes nothing.
 *
 * Every checksum, every link from frame to frame and from segment to segment, and the order of ids are checked.
 * Frames are not decoded, except for the last one of each segment, whose last event id must match the next segment's
 * name.
 *
 * Only the last segment can have a torn tail, or zeros ahead of its end: a segment is begun after the one before it is
 * full and on disk to its end.
 */
import assert from 'node:assert/strict';
import { ADVICE_DAMAGED, DataFolderError } from '../disk/data-folder-error.ts';
import { type Boundary, type Frame, lastEventId } from '../journal/frame.ts';
import type { RawFrame } from '../journal/frame-format.ts';
import { decodePayload, peekId } from '../journal/frame-payload.ts';
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

/** What lies behind the last good frame and is to be cut off: a torn tail, or zeros that were never overwritten. */
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
  /** Behind the last whole frame; null when there is no segment. */
  readonly end: Boundary | null;
  /** Whether the last segment is of the format that this build writes. */
  readonly isEndAppendable: boolean;
  /**
   * Where the last batch begins in the last segment: what lies before it had been synced when it was written. 0 as long
   * as nothing proves that the header is on disk.
   */
  readonly lastBatchAt: number;
  readonly tail: SegmentTail | null;
  readonly damage: DataFolderError | null;
  /** For the ids asked for: where the event after it begins, if a frame ends with it. */
  readonly boundaries: ReadonlyMap<number, Boundary>;
}

export interface JournalSurveyOptions extends JournalSource {
  /** Event ids whose boundaries are wanted. */
  readonly wantedIds: ReadonlySet<number>;
  readonly onProgress?: (bytesDone: number) => void;
}

/** Throws on I/O errors and on files of a newer format; damage, and what the disk cannot read, is part of the result. */
export async function surveyJournal(options: JournalSurveyOptions): Promise<JournalSurvey> {
  return new Surveyor(options, await listSegments(options)).survey();
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
  #lastBatchAt = 0;
  #tail: SegmentTail | null = null;
  #damage: DataFolderError | null = null;
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
      lastBatchAt: this.#lastBatchAt,
      tail: this.#tail,
      damage: this.#damage,
      boundaries: this.#boundaries,
    };
  }

  #assertWhole(): void {
    assert(this.#tail === null || this.#damage === null, 'a journal has a torn tail or damage, and not both');
    for (const { segment } of this.#boundaries.values())
      assert(this.#segments.includes(segment), 'a boundary lies in a segment that stays');
    if (this.#damage !== null) return;
    assert(this.#end?.segment === this.#segments.at(-1), 'a journal ends in its last segment');
    assert(this.#lastId >= (this.#segments.at(-1) ?? 1) - 1, 'a journal ends behind its last beginning');
    assert((this.#end?.offset ?? SEGMENT_HEADER_BYTES) >= SEGMENT_HEADER_BYTES, 'a segment has its header');
  }

  async #surveySegment(firstId: number, isLast: boolean): Promise<void> {
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

  async #surveyFrames(segment: OpenSegment, header: SegmentHeader, isLast: boolean): Promise<void> {
    const { path, firstId } = segment;
    if (this.#end === null) this.#lastId = firstId - 1;
    const walk = new FrameWalk(header, this.#options.wantedIds, this.#boundaries);
    const end = await scanFrames(segment, scanStartOf(header), (frame, payload) =>
      walk.visit(frame, payload),
    );
    if (walk.problem !== null) return this.#damaged(path, walk.last?.offset ?? 0, walk.problem);
    const last = walk.last === null ? null : await readFrameAt(segment, walk.last);
    if (typeof last === 'string') return this.#damaged(path, walk.last?.offset ?? 0, last);
    if (last !== null) {
      this.#lastId = lastEventId(last);
      this.#lastAt = last.at;
    }
    assert(this.#lastId >= firstId - 1, 'a segment ends behind its beginning');
    this.#end = { segment: firstId, offset: end.offset, chain: end.chain };
    this.#isEndAppendable = header.format.version === SEGMENT_VERSION;
    this.#lastBatchAt = walk.last?.batchStart ?? 0;
    assert(this.#lastBatchAt <= end.offset, 'the last batch begins before the end');
    this.#bytesDone += end.size;
    this.#options.onProgress?.(this.#bytesDone);
    this.#endsAs(await judgeScanEnd(segment, end, isLast), path);
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

/** Follows the ids of a segment's frames, and notes the boundaries that were asked for. */
class FrameWalk {
  readonly #header: SegmentHeader;
  readonly #wantedIds: ReadonlySet<number>;
  readonly #boundaries: Map<number, Boundary>;
  #lastFirstId = 0;
  last: RawFrame | null = null;
  problem: string | null = null;

  constructor(header: SegmentHeader, wantedIds: ReadonlySet<number>, boundaries: Map<number, Boundary>) {
    this.#header = header;
    this.#wantedIds = wantedIds;
    this.#boundaries = boundaries;
  }

  visit(frame: RawFrame, payload: Buffer): boolean {
    const { firstId } = this.#header;
    const id = peekId(payload);
    const follows = this.last === null ? id === firstId : id !== null && id > this.#lastFirstId;
    this.last = frame;
    if (id === null) return this.#stop('a frame holds no event id');
    if (!follows) return this.#stop(`event ${id} is out of order`);
    if (this.#wantedIds.has(id - 1)) {
      const { offset, previous: chain } = frame;
      this.#boundaries.set(id - 1, { segment: firstId, offset, chain });
    }
    this.#lastFirstId = id;
    return true;
  }

  #stop(problem: string): false {
    this.problem = problem;
    return false;
  }
}

/** A frame whose checksum has been verified; or why it cannot be decoded. */
async function readFrameAt({ file }: OpenSegment, raw: RawFrame): Promise<Frame | string> {
  const payload = Buffer.alloc(raw.payloadBytes);
  await file.read(payload, 0, payload.length, raw.offset + raw.headerBytes);
  const decoded = decodePayload(payload, raw);
  return decoded.problem === null ? decoded.frame : decoded.problem;
}
