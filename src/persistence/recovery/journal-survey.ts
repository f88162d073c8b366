/**
 * Surveys a journal: verifies it to the last byte and changes nothing.
 *
 * Every checksum, every link from frame to frame and from segment to segment, and the order of ids are checked.
 * Frames are not decoded, except for the last one of each segment, whose last event id must match the next segment's
 * name.
 *
 * Only the last segment can have a torn tail: a segment is begun after the one before it is on disk to its end.
 */
import { join } from 'node:path';
import { ADVICE_DAMAGED, DataFolderError } from '../disk/data-folder-error.ts';
import type { FileSystem, OpenFile } from '../disk/file-system.ts';
import { FRAME_HEADER_BYTES, type Frame, lastEventId, type RawFrame } from '../journal/frame.ts';
import { decodePayload, peekId } from '../journal/frame-payload.ts';
import {
  decodeSegmentHeader,
  idInFileName,
  SEGMENT_HEADER_BYTES,
  SEGMENT_SUFFIX,
  type SegmentHeader,
  segmentFileName,
} from '../journal/segment.ts';
import { findProofOfDamage, type ScanEnd, scanFrames } from '../journal/segment-scan.ts';

/** A place between two frames: everything up to one event lies before it. */
export interface Boundary {
  readonly segment: number;
  readonly offset: number;
  /** Checksum of the frame before. */
  readonly chain: number;
}

/** The torn tail behind the last good frame, which is to be cut off. */
export interface TornTail {
  readonly path: string;
  /** 0 when the file's header was never complete, in which case the file is removed. */
  readonly offset: number;
  readonly bytes: number;
}

export interface JournalSurvey {
  /** First event ids of the segments that stay, in order. */
  readonly segments: readonly number[];
  /** Id of the first event that the journal holds or will hold; null when there is no segment. */
  readonly firstId: number | null;
  /** Id of the last whole event; one less than `firstId` when there is none. */
  readonly lastId: number;
  readonly lastAt: number | null;
  /** Behind the last whole frame; null when there is no segment. */
  readonly end: Boundary | null;
  /** Where the last batch begins in the last segment: what lies before it had been synced when it was written. */
  readonly lastBatchAt: number;
  readonly torn: TornTail | null;
  readonly damage: DataFolderError | null;
  /** For the ids asked for: where the event after it begins, if a frame ends with it. */
  readonly boundaries: ReadonlyMap<number, Boundary>;
}

export interface JournalSurveyOptions {
  readonly fs: FileSystem;
  readonly folder: string;
  /** Event ids whose boundaries are wanted. */
  readonly wantedIds: ReadonlySet<number>;
  readonly onProgress?: (bytesDone: number) => void;
}

/** Throws on I/O errors and on files of a newer format; damage is part of the result. */
export async function surveyJournal(options: JournalSurveyOptions): Promise<JournalSurvey> {
  const names = await options.fs.list(options.folder);
  const firstIds: number[] = [];
  for (const name of names) {
    const id = idInFileName(name, SEGMENT_SUFFIX);
    if (id !== null) firstIds.push(id);
  }
  return new Surveyor(options, firstIds).survey();
}

class Surveyor {
  readonly #options: JournalSurveyOptions;
  readonly #firstIds: readonly number[];
  readonly #segments: number[] = [];
  readonly #boundaries = new Map<number, Boundary>();
  #lastId = 0;
  #lastAt: number | null = null;
  #end: Boundary | null = null;
  #lastBatchAt = 0;
  #torn: TornTail | null = null;
  #damage: DataFolderError | null = null;
  #bytesDone = 0;

  constructor(options: JournalSurveyOptions, firstIds: readonly number[]) {
    this.#options = options;
    this.#firstIds = firstIds;
  }

  async survey(): Promise<JournalSurvey> {
    for (const [index, firstId] of this.#firstIds.entries()) {
      if (this.#damage !== null) break;
      await this.#surveySegment(firstId, index === this.#firstIds.length - 1);
    }
    if (this.#end !== null && this.#options.wantedIds.has(this.#lastId)) {
      this.#boundaries.set(this.#lastId, this.#end);
    }
    return {
      segments: this.#segments,
      firstId: this.#segments[0] ?? null,
      lastId: this.#lastId,
      lastAt: this.#lastAt,
      end: this.#end,
      lastBatchAt: this.#lastBatchAt,
      torn: this.#torn,
      damage: this.#damage,
      boundaries: this.#boundaries,
    };
  }

  async #surveySegment(firstId: number, isLast: boolean): Promise<void> {
    const path = join(this.#options.folder, segmentFileName(firstId));
    const file = await this.#options.fs.open(path, 'read');
    try {
      const header = await readHeader(file, path);
      if (header === null) return await this.#headerMissing(file, path, isLast);
      const misfit = this.#misfit(header, firstId);
      if (misfit !== null) return this.#damaged(path, 0, misfit);
      this.#segments.push(firstId);
      await this.#surveyFrames(file, path, header, isLast);
    } finally {
      await file.close();
    }
  }

  /** A header is synced before the first frame is written, so a file without one can only be new and empty. */
  async #headerMissing(file: OpenFile, path: string, isLast: boolean): Promise<void> {
    if (!isLast || (await findProofOfDamage(file, 0)) !== null) {
      return this.#damaged(path, 0, 'the header of a journal file is damaged');
    }
    this.#torn = { path, offset: 0, bytes: await file.size() };
  }

  #misfit(header: SegmentHeader, firstId: number): string | null {
    if (header.firstId !== firstId) return `the file says that it begins with event ${header.firstId}`;
    if (this.#end === null) return null;
    if (firstId > this.#lastId + 1)
      return `the events from ${this.#lastId + 1} to ${firstId - 1} are missing`;
    if (firstId <= this.#lastId) return `the file repeats events up to ${this.#lastId}`;
    return header.chain === this.#end.chain ? null : 'the file does not follow the one before it';
  }

  async #surveyFrames(file: OpenFile, path: string, header: SegmentHeader, isLast: boolean): Promise<void> {
    const { firstId, chain } = header;
    if (this.#end === null) this.#lastId = firstId - 1;
    const walk = new FrameWalk(header, this.#options.wantedIds, this.#boundaries);
    const start = { offset: SEGMENT_HEADER_BYTES, chain };
    const end = await scanFrames(file, start, (frame, payload) => walk.visit(frame, payload));
    if (walk.problem !== null) return this.#damaged(path, walk.lastOffset, walk.problem);
    const last = walk.frames === 0 ? null : await readFrameAt(file, walk.lastOffset, end.offset);
    if (typeof last === 'string') return this.#damaged(path, walk.lastOffset, last);
    if (last !== null) {
      this.#lastId = lastEventId(last);
      this.#lastAt = last.at;
    }
    this.#end = { segment: firstId, offset: end.offset, chain: end.chain };
    this.#lastBatchAt = walk.lastBatchAt;
    this.#bytesDone += end.size;
    this.#options.onProgress?.(this.#bytesDone);
    await this.#judgeEnd(file, path, end, isLast);
  }

  async #judgeEnd(file: OpenFile, path: string, end: ScanEnd, isLast: boolean): Promise<void> {
    if (end.problem === null) return;
    const { what, tornLike } = end.problem;
    if (!isLast || !tornLike) return this.#damaged(path, end.offset, what);
    const proof = await findProofOfDamage(file, end.offset);
    if (proof !== null)
      return this.#damaged(path, end.offset, `${what}, and a good frame follows at ${proof}`);
    this.#torn = { path, offset: end.offset, bytes: end.size - end.offset };
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
  frames = 0;
  lastOffset = SEGMENT_HEADER_BYTES;
  /** 0 as long as nothing proves that the header is on disk. */
  lastBatchAt = 0;
  problem: string | null = null;

  constructor(header: SegmentHeader, wantedIds: ReadonlySet<number>, boundaries: Map<number, Boundary>) {
    this.#header = header;
    this.#wantedIds = wantedIds;
    this.#boundaries = boundaries;
  }

  visit(frame: RawFrame, payload: Buffer): boolean {
    this.lastOffset = frame.offset;
    this.lastBatchAt = frame.batchStart;
    const id = peekId(payload);
    if (id === null) return this.#stop('a frame holds no event id');
    const follows = this.frames === 0 ? id === this.#header.firstId : id > this.#lastFirstId;
    if (!follows) return this.#stop(`event ${id} is out of order`);
    if (this.#wantedIds.has(id - 1)) {
      const { offset, previous: chain } = frame;
      this.#boundaries.set(id - 1, { segment: this.#header.firstId, offset, chain });
    }
    this.#lastFirstId = id;
    this.frames += 1;
    return true;
  }

  #stop(problem: string): false {
    this.problem = problem;
    return false;
  }
}

async function readHeader(file: OpenFile, path: string): Promise<SegmentHeader | null> {
  const bytes = Buffer.alloc(SEGMENT_HEADER_BYTES);
  const count = await file.read(bytes, 0, bytes.length, 0);
  return decodeSegmentHeader(bytes.subarray(0, count), path);
}

/** The frame between two offsets, whose checksum has been verified; or why it cannot be decoded. */
async function readFrameAt(file: OpenFile, offset: number, end: number): Promise<Frame | string> {
  const payload = Buffer.alloc(end - offset - FRAME_HEADER_BYTES);
  await file.read(payload, 0, payload.length, offset + FRAME_HEADER_BYTES);
  const decoded = decodePayload(payload);
  return decoded.problem === null ? decoded.frame : decoded.problem;
}
