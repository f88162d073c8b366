/**
 * One evaluation of one or many flags for one context. It holds what comes from outside, and remembers what many rules
 * ask for again: the bytes of the user's id, the parsed address, the moment.
 */
import { type AddressRange, parseAddress } from './address.ts';
import type { EvaluationContext } from './context.ts';
import { utf8BytesOf } from './murmur3.ts';

export interface EvaluationInput {
  readonly context: EvaluationContext;
  /** The moment of the evaluation, for contexts without `currentTime`. */
  readonly nowMs: number;
  /** In [0, 1), anew at each call. */
  random(): number;
  /** Of the machine that evaluates, for the strategy applicationHostname; null matches none. */
  readonly hostName: string | null;
}

export class Run {
  readonly context: EvaluationContext;
  readonly hostName: string | null;
  readonly #input: EvaluationInput;
  #currentTimeMs: number | null = null;
  #hashedText = '';
  #hashedBytes: Uint8Array = new Uint8Array(0);
  #addressText = '';
  #address: AddressRange | null = null;

  constructor(input: EvaluationInput) {
    this.#input = input;
    this.context = input.context;
    this.hostName = input.hostName;
  }

  /** An integer from 1 to `highest`. */
  draw(highest: number): number {
    return Math.floor(this.#input.random() * highest) + 1;
  }

  /** NaN when the context's `currentTime` is no date: no comparison holds then. */
  get currentTimeMs(): number {
    if (this.#currentTimeMs === null) {
      const { currentTime } = this.context;
      this.#currentTimeMs = currentTime ? Date.parse(currentTime) : this.#input.nowMs;
    }
    return this.#currentTimeMs;
  }

  bytesOf(text: string): Uint8Array {
    if (text !== this.#hashedText) {
      this.#hashedBytes = utf8BytesOf(text);
      this.#hashedText = text;
    }
    return this.#hashedBytes;
  }

  /** Null when `text` is no IP address. */
  addressOf(text: string): AddressRange | null {
    if (text !== this.#addressText) {
      this.#address = parseAddress(text);
      this.#addressText = text;
    }
    return this.#address;
  }
}

/** A compiled condition. It never throws. */
export type Test = (run: Run) => boolean;
