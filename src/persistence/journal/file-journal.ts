/**
 * The journal in files: an append-only chain of frames, and the guarantee behind every acknowledgement.
 *
 * Invariants
 * - Acknowledged means on disk (3): `durableId` moves, and `onDurable` is called, after the durable write of the batch
 *   returned, in order. One is in flight; what is appended meanwhile is the next batch (group commit).
 * - No timer delays the commit of a single caller, or of a server that stands alone: a write starts when `commit` is called, and a
 *   busy journal batches by itself. In a cluster, a batch may wait for those whose changes became durable right before (`gatherMs`).
 * - A failed or short write, or a failed sync, ends the journal (6): `onFailure` once, nothing after it is ever
 *   acknowledged, nothing is tried again, because after a failed sync the kernel may have dropped the pages.
 * - A new segment's header and name are on disk before its first frame is written, and the segment before it is on
 *   disk to its end. Recovery distinguishes damage from a torn tail by that.
 * - Zeros ahead of the end (preallocation.ts) never delay a batch that does not reach them, and are cut off at a close.
 *
 * Ordering after a sync: first the next batch is handed to the disk, then the callers of the finished one are notified,
 * so that the disk works while responses are sent.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type Timer, unrefTimer } from '../../process/timers.ts';
import { type FileSystem, isMissing, type OpenFile } from '../disk/file-system.ts';
import { writeFully, writeFullyDurably } from '../disk/write-fully.ts';
import { Batch, type DurableFrames } from './batch.ts';
import { type CommitLog, LocalCommitLog } from './commit-log.ts';
import { type DurableMark, DurableMarkFile, MARK_FILE_NAME } from './durable-mark.ts';
import { type Frame, type FramePosition, lastEventId } from './frame.ts';
import { FRAME_HEADER_BYTES, type FrameBody, ownBody } from './frame-format.ts';
import { encodePayload } from './frame-payload.ts';
import { FreeSpace, RESERVE_BYTES_DEFAULT } from './free-space.ts';
import type { CommitObservation, JournalStats, JournalTail } from './journal.ts';
import { JournalFailure, lostFile, Presence } from './journal-failure.ts';
import { MarkKeeper } from './mark-keeper.ts';
import { PREALLOCATED_BYTES_DEFAULT, Preallocation } from './preallocation.ts';
import {
  encodeSegmentHeader,
  SEGMENT_BYTES_DEFAULT,
  SEGMENT_HEADER_BYTES,
  type SegmentStart,
  segmentFileName,
} from './segment.ts';

/** Protects the heap when the disk hangs while commands keep arriving. Beyond it, writes are refused. */
export const PENDING_BYTES_MAX = 64 * 1024 * 1024;

export interface FileJournalOptions {
  readonly fs: FileSystem;
  /** The journal's own folder; it exists. */
  readonly folder: string;
  readonly tail: JournalTail;
  readonly onDurable: (durableId: number) => void;
  /** Called right before with what is durable now. */
  readonly onFrames?: (frames: DurableFrames) => void;
  readonly onFailure: (failure: JournalFailure) => void;
  readonly onCommit?: (observation: CommitObservation) => void;
  /** Decides, with the disk, what is durable; the disk alone unless given. */
  readonly commitLog?: CommitLog;
  readonly segmentBytes?: number;
  readonly reserveBytes?: number;
  /** Records where the log begins. The first batch of a new log waits for it. */
  readonly onBegun?: (beginning: SegmentStart) => Promise<void>;
  /** Whether the lock on the data folder is still this process's; called once a second. */
  readonly holdsLock?: () => Promise<boolean>;
  /** How many bytes of zeros to keep ahead of the end; 0 for none. */
  readonly preallocatedBytes?: number;
  /** Milliseconds, monotonic. */
  readonly monotonicMs?: () => number;
  readonly timer?: Timer;
}

export class FileJournal {
  readonly #segmentBytes: number;
  readonly #monotonicMs: () => number;
  readonly #options: FileJournalOptions;
  readonly #commitLog: CommitLog;
  readonly #space: FreeSpace;
  readonly #marks: MarkKeeper;
  readonly #preallocation: Preallocation;
  readonly #presence: Presence;

  #open = new Batch();
  #spare = new Batch();
  #inFlight: Batch | null = null;
  /** Settles with the batch in flight, whether it succeeds or fails. */
  #written: Promise<void> = Promise.resolve();
  /** The time at which it was handed over, in milliseconds. */
  #handedOverAt = 0;
  /** The open batch is not handed over before it has so many frames, or `gatherMs` have passed. */
  #framesMin = 0;
  #cancelGathering: () => void = () => undefined;
  #file: OpenFile | null = null;

  /** The place where the next batch would begin, counting what is in flight. */
  #segment: number | null;
  #offset: number;
  /** The last segment, where an older build wrote it: it is never appended to. */
  readonly #olderSegment: number | null;
  #appendedId: number;
  #appendedChain: number;

  #durable: DurableMark;

  #failure: JournalFailure | null = null;
  #closed = false;
  #batches = 0;
  #frames = 0;
  #bytes = 0;

  static async open(options: FileJournalOptions): Promise<FileJournal> {
    const journal = new FileJournal(options);
    await journal.#openFile();
    // Recovery has made the tail durable; a crash before the next write must not make it look torn.
    if (options.tail.segment !== null) await journal.#marks.write();
    if (journal.#failure !== null) throw journal.#failure;
    await journal.#space.check();
    return journal;
  }

  private constructor(options: FileJournalOptions) {
    const { fs, folder, tail, monotonicMs = () => performance.now() } = options;
    const { reserveBytes = RESERVE_BYTES_DEFAULT } = options;
    const { lastId, offset, chain } = tail;
    assert(tail.segment === null || tail.offset >= SEGMENT_HEADER_BYTES, 'a segment ends behind its header');
    assert((tail.segment ?? 0) <= tail.lastId + 1, 'a segment begins with the next event at the latest');
    this.#options = options;
    this.#monotonicMs = monotonicMs;
    this.#commitLog = options.commitLog ?? new LocalCommitLog();
    this.#segmentBytes = options.segmentBytes ?? SEGMENT_BYTES_DEFAULT;
    this.#space = new FreeSpace({ fs, folder, monotonicMs, reserveBytes });
    this.#preallocation = this.#newPreallocation();
    this.#presence = new Presence({ monotonicMs, holdsLock: options.holdsLock ?? (async () => true) });
    this.#olderSegment = tail.isEndAppendable ? null : tail.segment;
    this.#segment = tail.isEndAppendable ? tail.segment : null;
    this.#offset = offset;
    this.#appendedId = lastId;
    this.#appendedChain = chain;
    this.#durable = { lastId, segment: tail.segment ?? 0, offset, chain };
    this.#marks = this.#newMarks();
  }

  #newPreallocation(): Preallocation {
    return new Preallocation({
      bytesAhead: this.#options.preallocatedBytes ?? PREALLOCATED_BYTES_DEFAULT,
      segmentBytes: this.#segmentBytes,
      hasRoomFor: (bytes) => this.#space.hasRoomFor(bytes),
      onFailure: (segment, offset, cause) => this.#fail(this.#pathOf(segment), offset, cause),
    });
  }

  #newMarks(): MarkKeeper {
    return new MarkKeeper({
      file: new DurableMarkFile(this.#options.fs, this.#options.folder),
      durable: () => this.#durable,
      timer: this.#options.timer ?? unrefTimer,
      onFailure: (cause) => this.#fail(join(this.#options.folder, MARK_FILE_NAME), 0, cause),
    });
  }

  async #openFile(): Promise<void> {
    if (this.#segment === null) return;
    this.#file = await this.#options.fs.open(this.#pathOf(this.#segment), 'write');
    const size = await this.#file.size();
    assert(
      size === this.#offset,
      `the journal ends where recovery says, at ${this.#offset}, and not at ${size}`,
    );
    this.#preallocation.begin({ file: this.#file, segment: this.#segment }, size);
  }

  /** Id of the last event appended. */
  get appendedId(): number {
    return this.#appendedId;
  }

  /** Id of the last event on disk, in the commit log too. */
  get durableId(): number {
    return this.#durable.lastId;
  }

  get appendedChain(): number {
    return this.#appendedChain;
  }

  get durableChain(): number {
    return this.#durable.chain;
  }

  get pendingFrames(): number {
    return this.#open.frames + (this.#inFlight?.frames ?? 0);
  }

  get pendingBytes(): number {
    return this.#open.bytes + (this.#inFlight?.bytes ?? 0);
  }

  /** Milliseconds since the batch under way was handed to the disk and the commit log; 0 where none is. */
  get uncommittedMs(): number {
    return this.#inFlight === null ? 0 : this.#monotonicMs() - this.#handedOverAt;
  }

  /** Whether a new command should be accepted. Calling it may start a check of the free space. */
  get writable(): boolean {
    // While writes are refused no write happens, so each refused one checks whether there is space again.
    if (!this.#space.enough) this.#space.checkIfDue();
    return this.refusalReason === null;
  }

  get refusalReason(): string | null {
    if (this.#failure !== null) return this.#failure.message;
    if (this.#closed) return 'The server is stopping.';
    if (!this.#space.enough) return 'The disk that holds the data folder is almost full.';
    if (this.pendingBytes >= PENDING_BYTES_MAX) return 'The disk does not keep up with the writes.';
    return null;
  }

  /**
   * Adds a frame to the open batch. Its first id follows the last one appended. `body` is the frame as the node that decided it has
   * encoded it; it is copied.
   */
  append(frame: Frame, body: FrameBody = ownBody(encodePayload(frame))): FramePosition {
    assert(this.#failure === null && !this.#closed, 'a journal that failed or was closed takes no frames');
    if (frame.id !== this.#appendedId + 1)
      assert.fail(`event ${frame.id} does not follow ${this.#appendedId}`);
    if (this.#open.frames === 0) this.#beginBatch(frame.id);
    const offset = this.#open.add(body, lastEventId(frame));
    this.#offset = this.#open.end;
    this.#appendedId = this.#open.lastId;
    this.#appendedChain = this.#open.chain;
    assert(this.#durable.lastId < this.#appendedId, 'an event is appended before it is durable');
    assert(
      this.#offset - offset === FRAME_HEADER_BYTES + body.payload.length,
      'the journal is longer by the frame',
    );
    return { segment: this.#open.place.segment, offset, length: FRAME_HEADER_BYTES + body.payload.length };
  }

  /**
   * A batch lies in one segment, chosen when the batch begins, so a segment exceeds its size by at most one batch.
   */
  #beginBatch(firstId: number): void {
    const rolls = this.#segment === null || this.#offset >= this.#segmentBytes;
    if (rolls || this.#segment === null) {
      this.#segment = firstId;
      this.#offset = SEGMENT_HEADER_BYTES;
    }
    assert(
      this.#offset >= SEGMENT_HEADER_BYTES && this.#segment <= firstId,
      'a batch begins behind a header',
    );
    const place = { segment: this.#segment, offset: this.#offset, rolls, chain: this.#appendedChain };
    this.#open.begin(place, firstId);
  }

  /** Starts writing what was appended, unless a write is under way; its end starts the next one. */
  commit(): void {
    if (this.#inFlight !== null || this.#open.frames === 0 || this.#failure !== null) return;
    if (this.#open.frames < this.#framesMin) return;
    this.#cancelGathering();
    this.#framesMin = 0;
    const batch = this.#open;
    assert(
      batch.lastId === this.#appendedId && batch.end === this.#offset,
      'the batch has all that was appended',
    );
    assert(this.#spare.frames === 0, 'the batch before has been written');
    this.#inFlight = batch;
    this.#handedOverAt = this.#monotonicMs();
    this.#open = this.#spare;
    this.#spare = batch;
    this.#written = this.#decide(batch).then(
      () => this.#settle(batch),
      (cause: unknown) => this.#fail(this.#pathOf(batch.place.segment), batch.place.offset, cause),
    );
  }

  /** On the disk of this node and in the commit log, both at once: it is durable when both have it. */
  async #decide(batch: Batch): Promise<void> {
    const { lastId } = batch;
    const [, committedId] = await Promise.all([this.#write(batch), this.#commitLog.append(batch)]);
    assert(
      committedId >= lastId,
      `the commit log took a batch that ends with event ${lastId}, and decided ${committedId}`,
    );
  }

  async #write(batch: Batch): Promise<void> {
    const file = batch.place.rolls ? await this.#roll(batch) : this.#file;
    assert(file !== null, 'a batch that does not begin a segment has one');
    const { rolls, segment, offset } = batch.place;
    assert(
      rolls || (segment === this.#durable.segment && offset === this.#durable.offset),
      'a batch is written right behind what is on disk',
    );
    const startedAt = this.#monotonicMs();
    const zeros = this.#preallocation.clearOf(batch.end);
    if (zeros !== null) await zeros;
    if (this.#failure !== null) throw this.#failure;
    const [path, content] = [this.#pathOf(batch.place.segment), batch.content()];
    await Promise.all([
      writeFullyDurably(file, content, batch.place.offset),
      this.#presence.checkIfDue(file, path),
    ]);
    const { frames, bytes } = batch;
    assert(bytes === content.length && frames > 0, 'what was written is the batch');
    this.#options.onCommit?.({ frames, bytes, tookMs: this.#monotonicMs() - startedAt });
  }

  /**
   * Begins a segment: header, then sync, then its name, all on disk before the first frame is written. The last segment
   * of an older build bears the new one's name where it holds no frame yet; its header is then written over.
   */
  async #roll(batch: Batch): Promise<OpenFile> {
    const { segment, chain } = batch.place;
    assert(segment === batch.firstId, 'a segment bears the id of its first event');
    assert(batch.place.offset === SEGMENT_HEADER_BYTES, 'the first batch lies right behind the header');
    assert(segment > this.#durable.segment || segment === this.#olderSegment, 'segments follow each other');
    if (this.#file !== null) await this.#presence.check(this.#file, this.#pathOf(this.#durable.segment));
    const mode = segment === this.#olderSegment ? 'write' : 'create';
    const file = await this.#options.fs.open(this.#pathOf(segment), mode);
    await writeFully(file, encodeSegmentHeader({ firstId: segment, chain }), 0);
    await file.sync();
    await this.#options.fs.syncFolder(this.#options.folder);
    if (this.#durable.segment === 0) await this.#options.onBegun?.({ firstId: segment, chain });
    await this.#file?.close();
    this.#file = file;
    this.#preallocation.begin({ file, segment }, SEGMENT_HEADER_BYTES);
    return file;
  }

  #settle(batch: Batch): void {
    // The mark may have failed meanwhile: this batch is on disk, but nothing is acknowledged after a failure.
    if (this.#failure !== null) return;
    const { lastId, end: offset, chain } = batch;
    assert(batch === this.#inFlight && lastId <= this.#appendedId, 'what becomes durable was appended');
    assert(batch.firstId === this.#durable.lastId + 1, 'batches become durable in order, without a gap');
    assert(batch.previousChain === this.#durable.chain, 'a batch follows the one that is on disk');
    this.#durable = { lastId, segment: batch.place.segment, offset, chain };
    this.#batches += 1;
    this.#frames += batch.frames;
    this.#bytes += batch.bytes;
    this.#space.wrote(batch.bytes);
    this.#options.onFrames?.(batch.durable());
    this.#gather(this.#open.frames + batch.frames);
    batch.clear();
    this.#inFlight = null;
    this.commit();
    this.#options.onDurable(lastId);
    this.#marks.schedule();
    this.#space.checkIfDue();
    this.#preallocation.keepAhead(this.#segment, this.#offset);
  }

  /** Has the open batch wait until it has so many frames, for a moment. */
  #gather(frames: number): void {
    const { gatherMs = 0 } = this.#commitLog;
    if (gatherMs === 0 || frames === 1) return;
    this.#framesMin = frames;
    this.#cancelGathering = (this.#options.timer ?? unrefTimer)(gatherMs, () => this.#commitAtOnce());
  }

  #commitAtOnce(): void {
    this.#framesMin = 0;
    this.commit();
  }

  #fail(file: string, offset: number, cause: unknown): void {
    if (this.#failure !== null) return;
    assert(this.durableId <= this.#appendedId, 'what is on disk was appended');
    const known = isMissing(cause) ? lostFile(file) : cause;
    const failure = new JournalFailure({ file, offset, durableId: this.durableId, cause: known });
    this.#failure = failure;
    void this.#marks.stop();
    this.#options.onFailure(failure);
  }

  /** Resolves when all that was appended before the call is on disk; rejects when the journal has failed. */
  async flush(): Promise<void> {
    const id = this.#appendedId;
    while (this.#failure === null && this.durableId < id) {
      this.#commitAtOnce();
      await this.#written;
    }
    if (this.#failure !== null) throw this.#failure;
  }

  /**
   * Writes what is left, cuts off the zeros ahead, makes the mark durable and closes the files. Rejects when the journal
   * has failed.
   */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    const marked = this.#marks.stop();
    await this.flush();
    await marked;
    await this.#preallocation.cut(this.#durable.offset);
    if (this.#failure !== null) throw this.#failure;
    assert(this.pendingFrames === 0, 'a closed journal has nothing to write');
    assert(this.durableId === this.#appendedId, 'a closed journal is on disk');
    await this.#marks.close();
    await this.#file?.close();
    this.#file = null;
  }

  /** Compares all that the journal knows of its end; for the simulation. */
  audit(): void {
    const writtenId = this.#inFlight?.lastId ?? this.durableId;
    const openChain = this.#inFlight?.chain ?? this.#durable.chain;
    assert(this.#inFlight !== this.#open && this.#open !== this.#spare, 'a batch is in one place');
    if (this.#inFlight !== null) {
      assert.equal(this.#inFlight.firstId, this.durableId + 1, 'a batch in flight follows the disk');
      assert.equal(this.#inFlight.previousChain, this.#durable.chain, 'and is chained to it');
    }
    if (this.#open.frames === 0) {
      assert.equal(this.#appendedId, writtenId, 'all that was appended is being written, or on disk');
      assert.equal(this.#appendedChain, openChain, 'the chain ends with what was appended last');
    } else {
      assert.equal(this.#open.firstId, writtenId + 1, 'what waits follows what is being written');
      assert.equal(this.#open.previousChain, openChain, 'and is chained to it');
      assert.equal(this.#open.lastId, this.#appendedId, 'what waits ends with what was appended last');
      assert.equal(this.#open.end, this.#offset, 'the next batch begins behind it');
    }
  }

  stats(): JournalStats {
    const freeBytes = this.#space.freeBytes;
    return { batches: this.#batches, frames: this.#frames, bytes: this.#bytes, freeBytes };
  }

  #pathOf(segment: number): string {
    return join(this.#options.folder, segmentFileName(segment));
  }
}
