/**
 * Collects a request body that arrives in pieces, within two limits: one for each body, and one for all bodies
 * together, so that many clients cannot take more memory than one may.
 */
import type { BodyBudget, Upload } from './body-budget.ts';
import type { RequestRefusal } from './received-request.ts';
import { BODIES_TOO_MANY, bodyTooLarge } from './received-request.ts';

/** Whose body it is. An object, because each request would otherwise make a function that it hardly ever needs. */
export interface BodyOwner {
  /** Called when other bodies need the budget. The collector is empty by then. */
  bodyEvicted(): void;
}

export interface BodyCollectorOptions {
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
