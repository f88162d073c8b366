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
import { readLeniently } from '../disk/file-system.ts';
import { CHUNK_BYTES } from '../disk/file-window.ts';
import type { DeferredPart } from '../journal/deferred-part.ts';
import type { Boundary } from '../journal/frame.ts';
import { frameEnd, type PayloadStamp, type RawFrame } from '../journal/frame-format.ts';
import { FrameWalk, readLastEvent } from '../journal/frame-reader.ts';
import { SEGMENT_HEADER_BYTES, SEGMENT_VERSION, type SegmentHeader } from '../journal/segment.ts';
import { judgeMissingHeader, judgeScanEnd, resumeFrom, type SegmentEnd } from '../journal/segment-end.ts';
import {
  isUnreadableSegment,
  type JournalSource,
  listSegments,
  type OpenSegment,
  withSegment,
} from '../journal/segment-file.ts';
import { type ScanStart, scanFrames, scanStartOf } from '../journal/segment-scan.ts';
import type { SnapshotStamp } from '../snapshots/snapshot-format.ts';

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
  /** Parts whose frames were not handed on, in order. */
  readonly deferred: readonly DeferredPart[];
  /** For the ids asked for: the checksum of the frame that ends with it, if one does. */
  readonly chains: ReadonlyMap<number, number>;
}

/** The frames that a start may leave for later, because the snapshot holds them. */
export interface Deferral {
  readonly snapshot: Pick<SnapshotStamp, 'id' | 'chain'>;
  /** Files of fewer bytes are left only where they are damaged. */
  readonly bytesMin: number;
}

export interface JournalSurveyOptions extends JournalSource {
  /** Event ids whose checksums are wanted. */
  readonly wantedIds: ReadonlySet<number>;
  /** Nothing is left for later unless given. */
  readonly deferral?: Deferral;
  /** Called for each frame that is not left for later, in order. */
  visit?(segment: OpenSegment, frame: RawFrame, payload: Buffer): void;
  /** Called for each part that is, before the frames behind it. Frames of its segment may have been visited before. */
  defer?(part: DeferredPart): void;
  onProgress?(bytesDone: number): void;
}

/** Throws on I/O errors and on files of a newer format; damage, and what the disk cannot read, is part of the result. */
export async function surveyJournal(options: JournalSurveyOptions): Promise<JournalSurvey> {
  const surveyor = new Surveyor(options, await listSegments(options));
  await surveyor.survey();
  return surveyor;
}

const NO_SNAPSHOT = { id: 0, chain: 0 };

class Surveyor implements JournalSurvey {
  readonly #options: JournalSurveyOptions;
  readonly #firstIds: readonly number[];
  readonly segments: number[] = [];
  readonly chains = new Map<number, number>();
  readonly deferred: DeferredPart[] = [];
  firstChain = 0;
  lastId = 0;
  lastAt: number | null = null;
  end: Boundary | null = null;
  isEndAppendable = false;
  lastStamp: PayloadStamp | null = null;
  lastBatchAt = 0;
  tail: SegmentTail | null = null;
  damage: DataFolderError | null = null;
  #bytesDone = 0;
  /** The last event of the snapshot is still to come in this segment. */
  #isHeld = false;
  /** The frames up to then are left for later. */
  #isLeft = false;

  constructor(options: JournalSurveyOptions, firstIds: readonly number[]) {
    this.#options = options;
    this.#firstIds = firstIds;
  }

  get firstId(): number | null {
    return this.segments[0] ?? null;
  }

  async survey(): Promise<void> {
    for (const [index, firstId] of this.#firstIds.entries()) {
      if (this.damage !== null) break;
      try {
        await this.#surveySegment(firstId, index === this.#firstIds.length - 1);
      } catch (error) {
        if (!isUnreadableSegment(error)) throw error;
        this.damage = error;
      }
    }
    if (this.end !== null) this.#noteChain(this.lastId, this.end.chain);
    this.#assertWhole();
  }

  #assertWhole(): void {
    assert(this.tail === null || this.damage === null, 'a journal has a torn tail or damage, and not both');
    if (this.damage !== null) return;
    const isLastNew = this.tail?.offset === 0;
    const count = this.segments.length + (isLastNew ? 1 : 0);
    assert(count === this.#firstIds.length, 'each file is read, but for one that was never begun');
    assert(this.end?.segment === this.segments.at(-1), 'a journal ends in its last segment');
    assert(this.lastId >= (this.segments.at(-1) ?? 1) - 1, 'a journal ends behind its last beginning');
    assert((this.end?.offset ?? SEGMENT_HEADER_BYTES) >= SEGMENT_HEADER_BYTES, 'a segment has its header');
  }

  #noteChain(id: number, chain: number): void {
    if (this.#options.wantedIds.has(id)) this.chains.set(id, chain);
  }

  async #surveySegment(firstId: number, isLast: boolean): Promise<void> {
    assert(
      this.damage === null && this.tail === null,
      'nothing is read behind damage, or behind a torn tail',
    );
    await withSegment(this.#options, firstId, async (segment) => {
      const { header, path } = segment;
      if (header === null) return this.#endsAs(await judgeMissingHeader(segment, isLast), path);
      const mismatch = this.#mismatch(header, firstId);
      if (mismatch !== null) return this.#damaged(path, 0, mismatch);
      if (this.segments.length === 0) this.firstChain = header.chain;
      if (this.end === null) this.lastId = firstId - 1;
      this.#noteChain(firstId - 1, header.chain);
      this.segments.push(firstId);
      this.isEndAppendable = header.format.version === SEGMENT_VERSION;
      await this.#surveyFrames(segment, header, isLast);
      this.#bytesDone += this.end?.offset ?? 0;
      this.#options.onProgress?.(this.#bytesDone);
    });
  }

  #mismatch(header: SegmentHeader, firstId: number): string | null {
    if (header.firstId !== firstId) return `the file says that it begins with event ${header.firstId}`;
    if (this.end === null) return null;
    if (firstId > this.lastId + 1) return `the events from ${this.lastId + 1} to ${firstId - 1} are missing`;
    if (firstId <= this.lastId) return `the file repeats events up to ${this.lastId}`;
    return header.chain === this.end.chain ? null : 'the file does not follow the one before it';
  }

  /**
   * Damage before the last event of the snapshot is left to the check after the start too, however short the file is: damage
   * in old history keeps nobody from flags and changes.
   */
  async #surveyFrames(segment: OpenSegment, header: SegmentHeader, isLast: boolean): Promise<void> {
    const { firstId } = segment;
    const { snapshot, bytesMin } = this.#options.deferral ?? { snapshot: NO_SNAPSHOT, bytesMin: 0 };
    const isLong = (await segment.file.size()) >= bytesMin;
    const whole = await this.#heldWhole(segment, snapshot.id);
    if (whole !== null && isLong) return this.#leaveWhole(whole);
    this.#isHeld = firstId <= snapshot.id && !this.#wantsWithin(firstId, snapshot.id);
    this.#isLeft = this.#isHeld && isLong;
    let first: DataFolderError | null = null;
    for (let start: ScanStart | null = scanStartOf(header); start !== null; ) {
      const resumeAt = await this.#readFrames(segment, start, isLast);
      first ??= this.damage;
      if (this.damage === null || !this.#isHeld) break;
      if (whole !== null) return this.#leaveWhole(whole);
      start = await resumeFrom(segment, resumeAt);
      if (start === null) break;
      this.#isLeft = true;
      this.damage = null;
    }
    // What was left for later has to reach to the snapshot.
    if (this.#isLeft && this.#isHeld) this.damage ??= first;
  }

  /** The segment, where the snapshot holds all of it and the segment behind it vouches for its end. */
  async #heldWhole(segment: OpenSegment, heldId: number): Promise<DeferredPart | null> {
    const { firstId, file } = segment;
    const nextId = this.#firstIds.find((id) => id > firstId);
    if (nextId === undefined || nextId > heldId + 1) return null;
    const chain = this.#wantsWithin(firstId, nextId - 1) ? null : await this.#chainBefore(nextId);
    if (chain === null || !(await endsWith(segment, chain))) return null;
    return { segment: firstId, end: await file.size(), lastId: nextId - 1, chain };
  }

  /** Whether a checksum is wanted that only the frames between these events tell. */
  #wantsWithin(firstId: number, lastId: number): boolean {
    return [...this.#options.wantedIds].some((id) => id >= firstId && id < lastId);
  }

  /** Null where the header of the segment is damaged: the survey comes to it next. */
  async #chainBefore(firstId: number): Promise<number | null> {
    try {
      return await withSegment(this.#options, firstId, async ({ header }) => header?.chain ?? null);
    } catch (error) {
      if (error instanceof DataFolderError) return null;
      throw error;
    }
  }

  #leave(part: DeferredPart): void {
    assert(
      part.lastId >= part.segment && part.end > SEGMENT_HEADER_BYTES,
      'a part that is deferred holds an event',
    );
    this.#isHeld = false;
    this.deferred.push(part);
    this.#options.defer?.(part);
  }

  /** Leaves all of a segment, behind which another one begins. */
  #leaveWhole(part: DeferredPart): void {
    const { segment, end: offset, lastId, chain } = part;
    this.damage = null;
    this.end = { segment, offset, chain };
    this.lastId = lastId;
    this.lastBatchAt = offset;
    this.#leave(part);
  }

  /** The events up to `lastId` lie before the boundary. Where the snapshot ends with another frame, the decision refuses. */
  #reach(lastId: number, { segment, offset: end, chain }: Boundary): void {
    const { snapshot } = this.#options.deferral ?? { snapshot: NO_SNAPSHOT };
    if (lastId < snapshot.id) return;
    if (!this.#isLeft) this.#isHeld = false;
    else if (lastId === snapshot.id && chain === snapshot.chain) this.#leave({ segment, end, lastId, chain });
  }

  /** Returns where something whole may follow behind damage. */
  async #readFrames(segment: OpenSegment, start: ScanStart, isLast: boolean): Promise<number> {
    const { path, firstId } = segment;
    const walk = new FrameWalk(firstId, start.offset > SEGMENT_HEADER_BYTES);
    const end = await scanFrames(segment, start, (frame, payload) => {
      if (!walk.visit(frame, payload)) return false;
      this.#noteChain(walk.id - 1, frame.previous);
      if (this.#isHeld)
        this.#reach(walk.id - 1, { segment: firstId, offset: frame.offset, chain: frame.previous });
      if (this.#isHeld && this.#isLeft) return true;
      this.#options.visit?.(segment, frame, payload);
      return true;
    });
    assert(end.offset >= start.offset && end.offset <= end.size, 'a scan goes on to a place in the file');
    const last = walk.last === null ? null : await readLastEvent(segment, walk.last);
    if (walk.problem !== null || typeof last === 'string') {
      this.#damaged(path, walk.last?.offset ?? 0, walk.problem ?? String(last));
      return end.offset;
    }
    if (last !== null) {
      this.lastId = last.lastId;
      this.lastAt = last.at;
    }
    assert((this.end?.segment ?? 0) <= firstId, 'segments are read in their order');
    this.end = { segment: firstId, offset: end.offset, chain: end.chain };
    this.lastStamp = walk.last ?? this.lastStamp;
    this.lastBatchAt = walk.last?.batchStart ?? 0;
    assert(this.lastBatchAt <= end.offset, 'the last batch begins before the end');
    if (this.#isHeld) this.#reach(this.lastId, this.end);
    this.#endsAs(await judgeScanEnd(segment, end, isLast), path);
    return end.problem?.tornLike === true ? end.offset + 1 : end.offset;
  }

  #endsAs(end: SegmentEnd, path: string): void {
    if (end.kind === 'damage') this.#damaged(path, end.offset, end.what);
    else if (end.kind === 'tail') this.tail = { path, offset: end.offset, tornBytes: end.bytes };
    else if (end.kind === 'unwritten') this.tail = { path, offset: end.offset, tornBytes: 0 };
  }

  #damaged(file: string, offset: number, what: string): void {
    const details = { file, offset, lastGoodEventId: this.lastId, advice: ADVICE_DAMAGED };
    this.damage = new DataFolderError(`The journal is damaged: ${what}`, details);
  }
}

/** The last frame is mostly short. A segment whose last one is longer than the second window is read whole. */
const END_WINDOWS_BYTES = [4 * 1024, CHUNK_BYTES];

/** Whether the segment ends with the frame of this checksum, so that none is missing. */
async function endsWith({ file, header }: OpenSegment, checksum: number): Promise<boolean> {
  assert(header !== null, 'a segment whose end is looked for has a header');
  const { format } = header;
  const wanted = Buffer.alloc(4);
  wanted.writeUInt32LE(checksum);
  const size = await file.size();
  for (const windowBytes of END_WINDOWS_BYTES) {
    const from = Math.max(size - windowBytes, SEGMENT_HEADER_BYTES);
    const bytes = Buffer.alloc(Math.max(size - from, 0));
    const { unreadableAt } = await readLeniently(file, bytes, bytes.length, from);
    if (unreadableAt !== null) return false;
    for (
      let at = bytes.lastIndexOf(wanted);
      at >= 0;
      at = at === 0 ? -1 : bytes.lastIndexOf(wanted, at - 1)
    ) {
      const frame = format.readHeader(bytes, at - format.checksumAt);
      if (frame?.checksum === checksum && from + frameEnd(frame) === size) return true;
    }
  }
  return false;
}
