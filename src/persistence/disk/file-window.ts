/** A window over a file that slides forward: readers look at large chunks in plain loops, instead of awaiting each piece. */
import assert from 'node:assert/strict';
import { type OpenFile, readLeniently } from './file-system.ts';

/** Large enough to read at the disk's pace, small enough to stay in the processor's cache while it is verified. */
export const CHUNK_BYTES = 1024 * 1024;

/** `bytes` holds the file from `start` on. */
export class FileWindow {
  readonly #file: OpenFile;
  readonly size: number;
  #buffer: Buffer = Buffer.alloc(0);
  bytes: Buffer = this.#buffer.subarray(0, 0);
  start = 0;
  /** The offset that the disk could not read the last time; null when it could. */
  unreadableAt: number | null = null;

  constructor(file: OpenFile, size: number) {
    this.#file = file;
    this.size = size;
  }

  has(offset: number, count: number): boolean {
    return offset >= this.start && offset + count <= this.start + this.bytes.length;
  }

  /** The bytes from `offset` on, which the window must have; they are overwritten when it slides on. */
  at(offset: number, count: number): Buffer {
    assert(this.has(offset, count), 'the window has what is looked at');
    return this.bytes.subarray(offset - this.start, offset - this.start + count);
  }

  /** Makes `count` bytes from `offset` on available, and as many more as fit. The caller has checked the size. */
  async slide(offset: number, count: number): Promise<void> {
    const wanted = Math.min(Math.max(count, CHUNK_BYTES), this.size - offset);
    assert(wanted >= count, 'nothing is looked for behind the end of the file');
    // A buffer that grew for one huge piece is freed.
    const fits = this.#buffer.length >= wanted && this.#buffer.length <= Math.max(wanted, CHUNK_BYTES);
    if (!fits) this.#buffer = Buffer.allocUnsafeSlow(wanted);
    const { count: read, unreadableAt } = await readLeniently(this.#file, this.#buffer, wanted, offset);
    this.start = offset;
    this.unreadableAt = unreadableAt;
    this.bytes = this.#buffer.subarray(0, unreadableAt === null ? read : unreadableAt - offset);
  }
}
