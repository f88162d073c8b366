/**
 * One evaluation of one or many flags for one context. It holds what comes from outside, and remembers what many rules
 * ask for again: the bytes of the user's id, the parsed address, the moment.
 */
import { parseAddress } from '../flags/address.ts';
import type { EvaluationContext } from './context.ts';
import { utf8BytesOf } from './murmur3.ts';
import { parseSemanticVersion } from './semantic-version.ts';

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
  readonly bytes = new LastParsed(utf8BytesOf);
  readonly addresses = new LastParsed(parseAddress);
  readonly versions = new LastParsed(parseSemanticVersion);
  readonly #input: EvaluationInput;
  #currentTimeMs: number | null = null;

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
}

/**
 * Parses a text once as long as the same one is asked for: of all rules that look at a context, most look at the same
 * few fields.
 */
class LastParsed<T> {
  readonly #parse: (text: string) => T;
  #text: string | null = null;
  #value: T | null = null;

  constructor(parse: (text: string) => T) {
    this.#parse = parse;
  }

  of(text: string): T {
    if (text !== this.#text) {
      this.#value = this.#parse(text);
      this.#text = text;
    }
    return this.#value as T;
  }
}

/** A compiled condition. It never throws. */
export type Test = (run: Run) => boolean;
