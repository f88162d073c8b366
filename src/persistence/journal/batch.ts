/**
 * A batch: the frames that one write and one sync take to the disk, packed into one contiguous buffer.
 *
 * The journal has two of them. One is on its way to the disk and must not be touched; the other is open and takes
 * what arrives meanwhile. The place of a batch is fixed when its first frame arrives, so that the position of every
 * frame is known, and its header can be completed, before anything is written.
 */
import assert from 'node:assert/strict';
import type { CommitBatch } from './commit-log.ts';
import { type Boundary, FRAME_BYTES_MAX } from './frame.ts';
import { FRAME_FORMAT, FRAME_HEADER_BYTES, type FrameBody, frameEnd, sealFrame } from './frame-format.ts';

/** Holds about two thousand frames of a typical command; most batches are far smaller. */
const BUFFER_BYTES_FIRST = 512 * 1024;

/** A burst may grow the buffer. A larger one is freed after its write, so that memory does not stay high. */
const BUFFER_BYTES_KEPT = 8 * 1024 * 1024;

export interface BatchPlace {
  /** The segment, by the id of its first event. */
  readonly segment: number;
  /** Offset in the segment at which the batch begins. */
  readonly offset: number;
  /** Whether the segment has to be created first. */
  readonly rolls: boolean;
  /** Checksum of the frame before the batch. */
  readonly chain: number;
}

/** Frames that are on disk, one behind the other. */
export interface DurableFrames {
  readonly firstId: number;
  readonly lastId: number;
  /** Valid during the call. */
  readonly bytes: Buffer;
  readonly begin: Boundary;
  readonly end: Boundary;
}

const NOWHERE: BatchPlace = { segment: 0, offset: 0, rolls: false, chain: 0 };

export class Batch implements CommitBatch {
  #buffer = Buffer.allocUnsafe(BUFFER_BYTES_FIRST);
  place: BatchPlace = NOWHERE;
  bytes = 0;
  frames = 0;
  firstId = 0;
  lastId = 0;
  /** Checksum of the last frame. */
  chain = 0;

  /** Begins the empty batch at a place. */
  begin(place: BatchPlace, firstId: number): void {
    assert(this.frames === 0, 'a batch begins once');
    assert(this.bytes === 0 && this.lastId === 0, 'a batch that was written is empty');
    this.place = place;
    this.firstId = firstId;
    this.chain = place.chain;
    assert(place.segment > 0 && place.segment <= firstId, 'a segment begins before the batches in it');
  }

  get previousChain(): number {
    return this.place.chain;
  }

  *bodies(): Generator<FrameBody> {
    const bytes = this.content();
    let chain = this.previousChain;
    for (let at = 0; at < bytes.length; ) {
      const frame = FRAME_FORMAT.readHeader(bytes, at);
      assert(frame !== null, 'a batch holds whole frames');
      assert(frame.previous === chain, 'the frames of a batch are chained');
      chain = frame.checksum;
      const { contentVersion, rules } = frame;
      const payload = bytes.subarray(at + FRAME_HEADER_BYTES, frameEnd(frame));
      at = frameEnd(frame);
      yield { payload, contentVersion, rules };
    }
    assert(chain === this.chain, 'a batch ends with the frame that was added last');
  }

  /** Adds a frame; returns its offset in the segment. */
  add({ payload, contentVersion, rules }: FrameBody, lastId: number): number {
    assert(lastId >= this.firstId && lastId > this.lastId, 'the frames of a batch follow each other');
    assert(payload.length > 0 && payload.length <= FRAME_BYTES_MAX, 'recovery accepts the length of a frame');
    const at = this.bytes;
    this.#makeRoom(at + FRAME_HEADER_BYTES + payload.length);
    this.#buffer.set(payload, at + FRAME_HEADER_BYTES);
    this.chain = sealFrame(this.#buffer, at, {
      payloadBytes: payload.length,
      previous: this.chain,
      batchStart: this.place.offset,
      contentVersion,
      rules,
    });
    this.bytes += FRAME_HEADER_BYTES + payload.length;
    this.frames += 1;
    this.lastId = lastId;
    return this.place.offset + at;
  }

  /** The bytes to write at `place.offset`. */
  content(): Buffer {
    assert(this.bytes <= this.#buffer.length, 'the buffer holds all of the batch');
    assert(this.bytes >= this.frames * FRAME_HEADER_BYTES, 'each frame of the batch has a header');
    return this.#buffer.subarray(0, this.bytes);
  }

  durable(): DurableFrames {
    const { segment, offset } = this.place;
    const begin = { segment, offset, chain: this.previousChain };
    const end = { segment, offset: this.end, chain: this.chain };
    return { firstId: this.firstId, lastId: this.lastId, bytes: this.content(), begin, end };
  }

  /** Offset in the segment behind the batch. */
  get end(): number {
    return this.place.offset + this.bytes;
  }

  clear(): void {
    this.place = NOWHERE;
    this.bytes = 0;
    this.frames = 0;
    this.lastId = 0;
    if (this.#buffer.length > BUFFER_BYTES_KEPT) this.#buffer = Buffer.allocUnsafe(BUFFER_BYTES_FIRST);
  }

  #makeRoom(bytes: number): void {
    if (bytes <= this.#buffer.length) return;
    const larger = Buffer.allocUnsafe(Math.max(bytes, this.#buffer.length * 2));
    larger.set(this.content(), 0);
    this.#buffer = larger;
  }
}
