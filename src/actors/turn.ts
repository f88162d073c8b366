/**
 * The one way to hold the event loop for longer than a moment. Work that takes long is written as steps: a generator that yields wherever
 * others may go on. A turn takes steps for 5 ms, and in each round of the event loop there is one turn at most, however much work is
 * under way: a thousand requests that each took one would hold the loop for seconds.
 *
 * The requester of the work is charged for each turn (loop-accounts.ts), and the work stops when the client has disconnected. fair-queue.ts
 * limits how much of it waits, and chooses the next one. Background work is at the end of this file.
 */
import assert from 'node:assert/strict';
import { performance } from 'node:perf_hooks';
import { nextRound } from '../process/timers.ts';

/** Each step is short, well below a millisecond. */
export type Steps<T> = Iterator<unknown, T>;

/** The caller for which work is done. */
export interface Requester {
  /** Equal for all that one caller requests. */
  readonly name: string;
  /** Aborted once the outcome is not needed any more. Absent for work that is done even then. */
  readonly signal?: AbortSignal | undefined;
  /** Whether the signal is aborted. Absent where only the signal knows: making one takes almost as long as a read from memory. */
  readonly isGone?: boolean;
  /** Called with the milliseconds for which each piece of work held the event loop. Absent where no caller is charged. */
  readonly charge?: ((heldMs: number) => void) | undefined;
}

/** How long a turn holds the event loop. */
export const TURN_MS = 5;
let turnMs = TURN_MS;

/** For tests that count what is done in one turn: with 0, each step is one. */
export function setTurnMs(ms = TURN_MS): void {
  turnMs = ms;
}

/** A turn of background work, many times a second: requests must not notice it. */
const BRIEF_TURN_MS = 0.25;

/** Milliseconds of work that needs no turns: it holds the event loop no longer than other requests do. */
const AT_ONCE_MS = 2;

/** Milliseconds of such work in one round: a hundred requests at once would hold the event loop a hundred times as long. */
export const AT_ONCE_EACH_ROUND_MS = 5;
/** For each beyond that: small work is done with it, and need not wait behind large work. */
export const AT_ONCE_MS_MIN = 0.1;
let atOnceInRoundMs = 0;

assert(BRIEF_TURN_MS <= TURN_MS && AT_ONCE_MS <= TURN_MS, 'nothing holds the event loop longer than a turn');

/** Work of so few turns is short: it goes before long work, so that a small request does not wait for all large ones. */
const SHORT_TURNS = 2;
/** One turn of this many is for long work if any waits. */
const LONG_EVERY = 3;

/** Work that waits for its turn, in order. */
const short: (() => void)[] = [];
const long: (() => void)[] = [];
/** Whether there was a turn in this round. */
let isTaken = false;
let takenCount = 0;

/**
 * Takes the steps for a moment; null when that was not enough, and the rest is to be done in turns. The first of them is in a later
 * round: one step alone may have taken as long as a turn.
 */
export function atOnce<T>(steps: Steps<T>): IteratorReturnResult<T> | null {
  const leftMs = Math.max(AT_ONCE_MS_MIN, AT_ONCE_EACH_ROUND_MS - atOnceInRoundMs);
  const end = run(steps, Math.min(turnMs, AT_ONCE_MS, leftMs), countAtOnce);
  if (end === null && !isTaken) take();
  return end;
}

function countAtOnce(heldMs: number): void {
  if (atOnceInRoundMs === 0)
    setImmediate(() => {
      atOnceInRoundMs = 0;
    });
  atOnceInRoundMs += heldMs;
}

/** Takes the steps in turns, and resolves with what they return. Rejects once the requester's signal is aborted. */
export function inTurns<T>(steps: Steps<T>, requester: Partial<Requester> = {}): Promise<T> {
  return takeTurns(steps, requester, turnMs);
}

/** Runs steps in brief turns, none of them in this round of the event loop. */
export function inBriefTurns<T>(steps: Steps<T>, requester: Partial<Requester> = {}): Promise<T> {
  if (!isTaken) take();
  return takeTurns(steps, requester, Math.min(turnMs, BRIEF_TURN_MS));
}

async function takeTurns<T>(steps: Steps<T>, { signal, charge }: Partial<Requester>, ms: number): Promise<T> {
  for (let turns = 0; ; turns += 1) {
    const turn = nextTurn(turns);
    if (turn !== undefined) await turn;
    signal?.throwIfAborted();
    const end = run(steps, ms, charge);
    if (end !== null) return end.value;
  }
}

/** Resolves in a round of the event loop in which no other work has a turn: at once where nothing waits. */
export async function ownTurn(): Promise<void> {
  await nextTurn(0);
}

/** Waiters for the same result each continue with their own work, such as an evaluation: this many do in a round of the loop. */
export const TOGETHER_MAX = 10;
const released: (() => void)[] = [];

/** Resolves in a later round of the event loop, for a few of those who call it at a time, in their order. */
export function inGroups(): Promise<void> {
  if (released.length === 0) setImmediate(release);
  return new Promise((resolve) => released.push(resolve));
}

function release(): void {
  assert(released.length > 0, 'a group is released while somebody waits');
  for (const resolve of released.splice(0, TOGETHER_MAX)) resolve();
  if (released.length > 0) setImmediate(release);
}

/** One step for each item, until `visit` returns true. */
export function* each<T>(items: Iterable<T>, visit: (item: T) => unknown): Generator<void, void> {
  for (const item of items) {
    if (visit(item) === true) return;
    yield;
  }
}

/** One step for each call of `isDone`, until it returns true. */
export function* until(isDone: () => boolean): Generator<void, void> {
  while (!isDone()) yield;
}

/** Uses a value at once where it is there, so that it waits for no later turn. */
export function andThen<T, U>(value: T | Promise<T>, use: (value: T) => U | Promise<U>): U | Promise<U> {
  return value instanceof Promise ? value.then(use) : use(value);
}

/** Resolves when the next turn begins: at once where there was none in this round and nothing waits for one. */
function nextTurn(turnsBefore: number): Promise<void> | undefined {
  if (isTaken || short.length > 0 || long.length > 0) return turnBehindOthers(turnsBefore);
  take();
  return undefined;
}

/** Resolves in a later round of the event loop; the turn of this one has to be taken. */
function turnBehindOthers(turnsBefore: number): Promise<void> {
  assert(isTaken, 'a turn of this round gives away the next one');
  const waiting = turnsBefore < SHORT_TURNS ? short : long;
  return new Promise((resolve) => waiting.push(resolve));
}

/** Takes the turn of this round, and gives away that of the next one. */
function take(): void {
  assert(!isTaken, 'a round has one turn');
  isTaken = true;
  takenCount += 1;
  setImmediate(() => {
    assert(isTaken, 'the turn of a round is given back once');
    isTaken = false;
    const first = takenCount % LONG_EVERY === 0 ? long : short;
    const resolve = first.shift() ?? short.shift() ?? long.shift();
    if (resolve === undefined) return;
    take();
    resolve();
  });
}

/** Null where there are steps left. */
function run<T>(steps: Steps<T>, ms: number, charge?: Requester['charge']): IteratorReturnResult<T> | null {
  const begunAt = performance.now();
  try {
    do {
      const step = steps.next();
      if (step.done === true) return step;
    } while (performance.now() < begunAt + ms);
    return null;
  } finally {
    charge?.(performance.now() - begunAt);
  }
}

// Background work, such as a snapshot: in turns, with pauses between them while requests are served.

/**
 * The pause between two turns while requests are served. The work thus gets at most a ninth of the processor. Without
 * pauses, a snapshot of 100,000 flags took four fifths of the write throughput as long as it lasted, and no request waits for
 * a snapshot.
 */
export const PAUSE_MS = 40;

/** The busy share of a pause below which the process counts as idle: TURNS_WHEN_IDLE turns then follow without a pause. */
const IDLE_SHARE = 0.3;
export const TURNS_WHEN_IDLE = 4;

export interface BackgroundClock {
  monotonicMs(): number;
  yieldToEventLoop(): Promise<void>;
  /** Resolves after that many milliseconds, with the share of them (0 to 1) in which the process was busy. */
  pause(pauseMs: number): Promise<number>;
}

export const BACKGROUND_CLOCK: BackgroundClock = {
  monotonicMs: () => performance.now(),
  yieldToEventLoop: nextRound,
  pause: (pauseMs) =>
    new Promise((resolve) => {
      const begun = performance.eventLoopUtilization();
      setTimeout(() => resolve(performance.eventLoopUtilization(begun).utilization), pauseMs);
    }),
};

export class Background {
  readonly #clock: BackgroundClock;
  #turnEndsMs = Number.NEGATIVE_INFINITY;
  #turnsWithoutPause = 0;
  #hurries = false;

  constructor(clock = BACKGROUND_CLOCK) {
    this.#clock = clock;
  }

  /** Begins with a turn. Without it the work begins with a pause: requests come first. */
  begin(): void {
    this.#turnEndsMs = this.#clock.monotonicMs() + TURN_MS;
  }

  /** To be called when no requests are served any more: the work then takes the whole processor. */
  hurry(): void {
    this.#hurries = true;
  }

  /** To be awaited between two steps: undefined while the turn lasts. */
  rest(pauseMs = PAUSE_MS): Promise<void> | undefined {
    return this.#clock.monotonicMs() < this.#turnEndsMs ? undefined : this.pause(pauseMs);
  }

  /** Ends the turn; resolves when the next one begins. */
  async pause(pauseMs = PAUSE_MS): Promise<void> {
    assert(pauseMs > 0, 'work in the background leaves time to requests');
    if (this.#hurries || this.#turnsWithoutPause > 0) {
      this.#turnsWithoutPause -= 1;
      await this.#clock.yieldToEventLoop();
    } else {
      const busyShare = await this.#clock.pause(pauseMs);
      this.#turnsWithoutPause = busyShare < IDLE_SHARE ? TURNS_WHEN_IDLE : 0;
    }
    this.begin();
  }
}

// Work that never ends while changes go on, such as telling thousands of streams of them. Somebody waits for it, so it never pauses; its turns
// are brief while others want the event loop.

/** Milliseconds that others may take between two turns without counting as busy. */
const OTHERS_MS = 1;

export interface FollowUpClock {
  /** Milliseconds, monotonic. */
  now(): number;
  /** Takes the turn after the current callbacks of the event loop. */
  defer(turn: () => void): void;
}

const FOLLOW_UP_CLOCK: FollowUpClock = {
  now: () => performance.now(),
  defer: (turn) => void setImmediate(turn),
};

export interface FollowUpOptions {
  /** Does a little of the work, well below a millisecond; true when nothing is left. Must not throw. */
  advance(): boolean;
  /** Whether others wait for something that a turn would delay. */
  areOthersWaiting(): boolean;
  readonly clock?: FollowUpClock;
}

export class FollowUp {
  readonly #options: FollowUpOptions;
  readonly #clock: FollowUpClock;
  #isRunning = false;
  #isWanted = false;

  constructor(options: FollowUpOptions) {
    this.#options = options;
    this.#clock = options.clock ?? FOLLOW_UP_CLOCK;
  }

  /** There is work, perhaps. */
  want(): void {
    this.#isWanted = true;
    if (this.#isRunning) return;
    this.#isRunning = true;
    this.#defer();
  }

  #defer(): void {
    const deferredAt = this.#clock.now();
    this.#clock.defer(() => this.#run(this.#clock.now() - deferredAt));
  }

  #run(othersMs: number): void {
    assert(this.#isRunning, 'a turn is taken only while there is work');
    const isShared = othersMs > OTHERS_MS || this.#options.areOthersWaiting();
    const end = this.#clock.now() + (isShared ? BRIEF_TURN_MS : TURN_MS);
    do {
      this.#isWanted = false;
      if (this.#options.advance() && !this.#isWanted) {
        this.#isRunning = false;
        return;
      }
    } while (this.#clock.now() < end);
    this.#defer();
  }
}
