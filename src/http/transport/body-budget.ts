/**
 * Bounds the memory of request bodies that have not arrived whole, over all requests.
 *
 * Small bodies have a share of their own, so that a few large uploads never keep the many small changes out. When a
 * share is full, the slowest body in it is refused, measured by its bytes per second since its first byte. A client that
 * holds memory by sending slowly, or not at all, so gives way to one that sends.
 */
import type { TransportClock } from './deadlines.ts';

/** A body up to this size is small: nearly all changes of flags are. */
export const SMALL_BODY_BYTES_MAX = 16 * 1024;

/** The part of the whole budget that small bodies have for themselves. */
const SMALL_SHARE = 1 / 4;

/** A body that is arriving. */
export interface Upload {
  /** Bytes that are kept. */
  readonly bytes: number;
  /** By the clock of the budget, in milliseconds. */
  readonly startedAtMs: number;
  /** The budget is needed for another. Its bytes no longer count. */
  evict(): void;
}

export class BodyBudget {
  readonly #clock: Pick<TransportClock, 'now'>;
  readonly #small: Share;
  readonly #large: Share;

  constructor(bytesMax: number, clock: Pick<TransportClock, 'now'>) {
    this.#clock = clock;
    this.#small = new Share(Math.floor(bytesMax * SMALL_SHARE));
    this.#large = new Share(bytesMax - Math.floor(bytesMax * SMALL_SHARE));
  }

  /** Bytes of all bodies together. */
  get bytes(): number {
    return this.#small.bytes + this.#large.bytes;
  }

  now(): number {
    return this.#clock.now();
  }

  /** `upload` has grown by `added` bytes. False when it was itself the slowest, and does not count any more. */
  grow(upload: Upload, added: number): boolean {
    const before = upload.bytes - added;
    const share = this.#shareOf(upload.bytes);
    const shareBefore = this.#shareOf(before);
    if (share !== shareBefore) shareBefore.remove(upload, before);
    share.add(upload, share === shareBefore ? added : upload.bytes);
    while (share.isOverfull) {
      const slowest = share.slowest(this.#clock.now()) ?? upload;
      share.remove(slowest, slowest.bytes);
      if (slowest === upload) return false;
      slowest.evict();
    }
    return true;
  }

  /** `upload` is whole or given up. Without effect for one that does not count. */
  leave(upload: Upload): void {
    this.#shareOf(upload.bytes).remove(upload, upload.bytes);
  }

  #shareOf(bytes: number): Share {
    return bytes <= SMALL_BODY_BYTES_MAX ? this.#small : this.#large;
  }
}

class Share {
  readonly #bytesMax: number;
  readonly #uploads = new Set<Upload>();
  bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get isOverfull(): boolean {
    return this.bytes > this.#bytesMax;
  }

  add(upload: Upload, bytes: number): void {
    this.#uploads.add(upload);
    this.bytes += bytes;
  }

  remove(upload: Upload, bytes: number): void {
    if (this.#uploads.delete(upload)) this.bytes -= bytes;
  }

  slowest(nowMs: number): Upload | null {
    let slowest: Upload | null = null;
    let lowest = Number.POSITIVE_INFINITY;
    for (const upload of this.#uploads) {
      // One that has only just begun has no time to be slow in.
      const bytesPerMs = upload.bytes / Math.max(nowMs - upload.startedAtMs, 1);
      if (bytesPerMs > lowest) continue;
      lowest = bytesPerMs;
      slowest = upload;
    }
    return slowest;
  }
}
