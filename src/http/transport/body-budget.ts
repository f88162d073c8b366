/**
 * Bounds the memory of request bodies that have not arrived whole, over all requests.
 *
 * Small bodies have a share of their own, so that a few large uploads never keep the many small changes out. When a
 * share is full, the slowest body in it is refused, measured by its bytes per second since its first byte. A client that
 * holds memory by sending slowly, or not at all, so gives way to one that sends.
 */
import type { TransportClock } from './deadlines.ts';
import { BODIES_TOO_MANY, bodyTooLarge, type RequestRefusal } from './received-request.ts';

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

// Collects a request body that arrives in pieces, within two limits: one for each body, and one for all bodies
// together, so that many clients cannot take more memory than one may.

/** The owner of the body. An object, because each request would otherwise make a function that it hardly ever needs. */
export interface BodyOwner {
  /** Called when other bodies need the budget. The collector is empty by then. */
  bodyEvicted(): void;
}

interface BodyCollectorOptions {
  readonly bytesMax: number;
  readonly budget: BodyBudget;
  readonly owner: BodyOwner;
}

export class BodyCollector implements Upload {
  readonly startedAtMs: number;
  readonly #bytesMax: number;
  readonly #budget: BodyBudget;
  readonly #owner: BodyOwner;
  #pieces: Uint8Array[] = [];
  #bytes = 0;

  constructor({ bytesMax, budget, owner }: BodyCollectorOptions) {
    this.#bytesMax = bytesMax;
    this.#budget = budget;
    this.#owner = owner;
    this.startedAtMs = budget.now();
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Keeps `piece`, which must be the collector's own. After a fault nothing is kept any more. */
  add(piece: Uint8Array): RequestRefusal | null {
    const bytesMax = this.#bytesMax;
    if (this.#bytes + piece.byteLength > bytesMax) return this.#overflow(bodyTooLarge(bytesMax));
    this.#bytes += piece.byteLength;
    this.#pieces.push(piece);
    return this.#budget.grow(this, piece.byteLength) ? null : this.#overflow(BODIES_TOO_MANY);
  }

  /** Takes the last piece. One that is the whole body was never unfinished, so it costs nothing of the budget. */
  finish(piece: Uint8Array): Uint8Array | RequestRefusal {
    if (this.#bytes === 0 && piece.byteLength <= this.#bytesMax) return piece;
    return this.add(piece) ?? this.take();
  }

  /** The whole body. The collector is empty afterwards: what is handed over no longer counts as unfinished. */
  take(): Uint8Array {
    const [first] = this.#pieces;
    const whole = this.#pieces.length === 1 && first !== undefined ? first : Buffer.concat(this.#pieces);
    this.discard();
    return whole;
  }

  discard(): void {
    this.#budget.leave(this);
    this.#pieces = [];
    this.#bytes = 0;
  }

  evict(): void {
    this.discard();
    this.#owner.bodyEvicted();
  }

  #overflow(refusal: RequestRefusal): RequestRefusal {
    this.discard();
    return refusal;
  }
}
