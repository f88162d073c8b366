/**
 * Collects a request body that arrives in pieces, within two limits: one for each body, and one for all bodies
 * together, so that many clients cannot take more memory than one may.
 */
import type { Fault } from './received-request.ts';
import { BODIES_TOO_MANY, BODY_TOO_LARGE } from './received-request.ts';

/** The bytes of unfinished bodies, shared by all collectors of an engine. */
export class BodyBudget {
  readonly #bytesMax: number;
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  take(bytes: number): boolean {
    if (this.#bytes + bytes > this.#bytesMax) return false;
    this.#bytes += bytes;
    return true;
  }

  give(bytes: number): void {
    this.#bytes -= bytes;
  }
}

export class BodyCollector {
  readonly #bytesMax: number;
  readonly #budget: BodyBudget;
  #pieces: Uint8Array[] = [];
  #bytes = 0;

  constructor(bytesMax: number, budget: BodyBudget) {
    this.#bytesMax = bytesMax;
    this.#budget = budget;
  }

  /** Keeps `piece`, which must be the collector's own. After a fault nothing is kept any more. */
  add(piece: Uint8Array): Fault | null {
    if (this.#bytes + piece.byteLength > this.#bytesMax) return this.#overflow(BODY_TOO_LARGE);
    if (!this.#budget.take(piece.byteLength)) return this.#overflow(BODIES_TOO_MANY);
    this.#bytes += piece.byteLength;
    this.#pieces.push(piece);
    return null;
  }

  /** The whole body. The collector is empty afterwards: what is handed over no longer counts as unfinished. */
  take(): Uint8Array {
    const [first] = this.#pieces;
    const whole = this.#pieces.length === 1 && first !== undefined ? first : Buffer.concat(this.#pieces);
    this.discard();
    return whole;
  }

  discard(): void {
    this.#budget.give(this.#bytes);
    this.#pieces = [];
    this.#bytes = 0;
  }

  #overflow(fault: Fault): Fault {
    this.discard();
    return fault;
  }
}
