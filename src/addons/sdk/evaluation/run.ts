/**
 * One evaluation of one or many flags for one context. It holds what comes from outside, and remembers what many rules
 * ask for again: the blocks of the user's id, the parsed address, the text in lower case, the moment. Rules that many flags share
 * remember their answer by the number of the run.
 */
import { parseAddress } from '../../../domain/flags/address.ts';
import { type Cost, costKind } from '../../../domain/flags/evaluation-cost.ts';
import { parseSemanticVersion } from '../../../domain/flags/semantic-version.ts';
import type { EvaluationContext } from './context.ts';
import { Suffix } from './murmur3.ts';

export interface EvaluationInput {
  readonly context: EvaluationContext;
  /** Characters of all names and values that were given (context.ts). */
  readonly contextLength: number;
  /** The moment of the evaluation, for contexts without `currentTime`. */
  readonly nowMs: number;
  /** A number in [0, 1), new at each call. */
  random(): number;
  /** The machine that evaluates, for the strategy applicationHostname; null matches none. */
  readonly hostName: string | null;
}

/** The cost of the tests between two looks at the clock, in about microseconds. */
export const STEP_COST = 500;

/** Several times what all texts of the longest context take. */
const INDEXING_STEPS_MAX = 100;

/**
 * An evaluation in steps, which yields wherever others may have their turn: a flag may have so many conditions that testing all of them
 * takes a second. Between two yields there is little more than STEP_COST.
 */
export type Steps<Result> = Generator<void, Result, void>;

/** All steps at once. */
export function finished<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}

let lastId = 0;

export class Run {
  /** No other run has the same; from 1. */
  readonly id: number;
  readonly context: EvaluationContext;
  readonly hostName: string | null;
  readonly suffixes = new Parsed(suffixOf);
  readonly addresses = new Parsed(parseAddress);
  readonly versions = new Parsed(parseSemanticVersion);
  readonly numbers = new Parsed(Number);
  readonly lowerCase = new Parsed((text) => text.toLowerCase());
  /** The kind of cost that applies to its context. */
  readonly costKind: keyof Cost;
  readonly #input: EvaluationInput;
  #currentTimeMs: number | null = null;
  /** By segment, because many flags share them. Null until something was found out in steps. */
  #segmentResults: Map<object, boolean> | null = null;
  /** Since the last step. */
  #spent = 0;
  /** Steps in which texts were indexed. */
  #indexingSteps = 0;

  constructor(input: EvaluationInput) {
    lastId += 1;
    this.id = lastId;
    this.#input = input;
    this.context = input.context;
    this.hostName = input.hostName;
    this.costKind = costKind(input.contextLength);
  }

  segmentResult(segment: object): boolean | undefined {
    return this.#segmentResults === null ? undefined : this.#segmentResults.get(segment);
  }

  rememberSegment(segment: object, holds: boolean): void {
    this.#segmentResults ??= new Map();
    this.#segmentResults.set(segment, holds);
  }

  /** Whether another step of indexing texts is due: others may have dropped what this run began, again and again. */
  mayIndex(): boolean {
    this.#indexingSteps += 1;
    return this.#indexingSteps <= INDEXING_STEPS_MAX;
  }

  /** Counts what was tested. True when it is time for a step. */
  hasSpent(cost: Cost): boolean {
    this.#spent += cost[this.costKind];
    if (this.#spent < STEP_COST) return false;
    this.#spent = 0;
    return true;
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

/** Parses each text once. A run asks for the values of a few fields, and mostly for the same one again. */
class Parsed<T> {
  readonly #parse: (text: string) => T;
  #lastText: string | null = null;
  #last: T | null = null;
  #others: Map<string, T> | null = null;

  constructor(parse: (text: string) => T) {
    this.#parse = parse;
  }

  of(text: string): T {
    if (text === this.#lastText) return this.#last as T;
    if (this.#lastText !== null) {
      this.#others ??= new Map();
      this.#others.set(this.#lastText, this.#last as T);
    }
    const known = this.#others?.get(text);
    this.#last = known === undefined ? this.#parse(text) : known;
    this.#lastText = text;
    return this.#last;
  }
}

function suffixOf(text: string): Suffix {
  return new Suffix(text);
}

/** A compiled condition. It never throws. */
export type Test = (run: Run) => boolean;
