/**
 * Zeros that are written ahead of the end of the journal, for batches to overwrite.
 *
 * A durable write that makes a file longer has to put the new length and the new blocks on disk too, which takes about
 * as long as the data. Onto bytes that are there already the data alone goes to disk.
 *
 * - Zeros read as "not written yet": a frame is never zeros, because it names the beginning of its batch (frame-format.ts).
 *   Only zeros to the end of the last segment mean that (segment-end.ts); others are wrong bytes like any.
 * - They never reach beyond the size at which a segment is full, so no segment but the last one has any.
 * - They are an aid and not a promise. Where a batch overtakes them it makes the file longer by itself, and on a disk
 *   that is almost full there are none.
 * - A slice that is being written never overlaps a batch: the batch waits for it (`clearOf`).
 */
import assert from 'node:assert/strict';
import type { OpenFile } from '../disk/file-system.ts';
import { ShortWriteError, writeFully } from '../disk/write-fully.ts';
import { SEGMENT_HEADER_BYTES } from './segment.ts';

/** Covers a burst of some thousand events while the next slice is written. */
export const PREALLOCATED_BYTES_DEFAULT = 4 * 1024 * 1024;

/** A slice is one write and one sync: large enough to be rare, small enough that a batch beside it hardly waits. */
const SLICES = 8;

/** Shared, because it is only ever read. */
const ZEROS = Buffer.alloc(PREALLOCATED_BYTES_DEFAULT / SLICES);

export interface PreallocationOptions {
  /** How many bytes of zeros to keep ahead of the end, at most the default; 0 for none. */
  readonly bytesAhead: number;
  /** The size at which a segment is full. */
  readonly segmentBytes: number;
  /** Whether the disk has room for this many optional bytes. */
  readonly hasRoomFor: (bytes: number) => boolean;
  /** A failed write or sync, after which nothing is known about the file. A full disk is no failure. */
  readonly onFailure: (segment: number, offset: number, cause: unknown) => void;
}

interface Target {
  readonly file: OpenFile;
  /** By the id of its first event. */
  readonly segment: number;
}

interface Slice {
  readonly from: number;
  readonly written: Promise<void>;
}

export class Preallocation {
  readonly #options: PreallocationOptions;
  readonly #sliceBytes: number;
  #target: Target | null = null;
  /** Up to here the file holds frames, or zeros that are on disk. */
  #end = 0;
  #slice: Slice | null = null;
  #isDiskFull = false;

  constructor(options: PreallocationOptions) {
    this.#options = options;
    this.#sliceBytes = Math.floor(options.bytesAhead / SLICES);
    assert(this.#sliceBytes <= ZEROS.length, 'a slice is no longer than the zeros it is written from');
  }

  /** Goes over to a segment whose file ends at `end`. */
  begin(target: Target, end: number): void {
    assert(this.#slice === null, 'no zeros are written into a segment that is full');
    assert(end >= SEGMENT_HEADER_BYTES, 'zeros lie behind the header of a segment');
    this.#target = target;
    this.#end = end;
    this.#isDiskFull = false;
  }

  /**
   * Starts to write a slice unless enough lies ahead of `offset`, where the next batch will begin. Calls for a segment
   * that is not begun yet do nothing.
   */
  keepAhead(segment: number | null, offset: number): void {
    const target = this.#target;
    if (target === null || target.segment !== segment || this.#slice !== null || this.#isDiskFull) return;
    const { bytesAhead, segmentBytes, hasRoomFor } = this.#options;
    if (this.#end - offset > bytesAhead - this.#sliceBytes) return;
    const from = Math.max(this.#end, offset);
    const to = Math.min(from + this.#sliceBytes, segmentBytes);
    if (to <= from || !hasRoomFor(to - from)) return;
    assert(from >= offset && to <= segmentBytes, 'zeros lie behind all batches, within the segment');
    this.#slice = { from, written: this.#write(target, from, to) };
  }

  /** The write of zeros that a batch ending at `batchEnd` has to wait for; null in nearly every case. */
  clearOf(batchEnd: number): Promise<void> | null {
    return this.#slice === null || batchEnd <= this.#slice.from ? null : this.#slice.written;
  }

  /** Writes no more, and cuts off the zeros behind `offset`, on disk too. */
  async cut(offset: number): Promise<void> {
    const file = this.#target?.file;
    this.#target = null;
    await this.#slice?.written;
    assert(this.#slice === null, 'no slice is begun any more');
    if (file === undefined) return;
    const size = await file.size();
    assert(size >= offset, 'the file reaches to the end of what is durable');
    if (size === offset) return;
    await file.truncate(offset);
    await file.sync();
  }

  /** Synced before it is used: overwriting bytes that the disk does not have yet would gain nothing. */
  async #write({ file, segment }: Target, from: number, to: number): Promise<void> {
    try {
      await writeFully(file, ZEROS.subarray(0, to - from), from);
      await file.datasync();
      assert(to > this.#end, 'zeros are written further and further ahead');
      this.#end = to;
    } catch (cause) {
      // The next batch finds out by itself whether it fits.
      if (isFull(cause)) this.#isDiskFull = true;
      else this.#options.onFailure(segment, from, cause);
    } finally {
      this.#slice = null;
    }
  }
}

const isFull = (cause: unknown): boolean =>
  cause instanceof ShortWriteError || (cause instanceof Error && 'code' in cause && cause.code === 'ENOSPC');
