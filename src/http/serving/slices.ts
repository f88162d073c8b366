/**
 * Long work, cut into slices, so that other requests are served in between. In each round of the event loop at most one
 * slice runs, however much work is under way: a thousand requests that each took a slice would hold it for seconds.
 */
import { performance } from 'node:perf_hooks';

/** How long a slice holds the event loop. */
const SLICE_MS = 5;
let sliceMs = SLICE_MS;

/** For tests that count what is done in one slice: with 0, each step is one. */
export function setSliceMs(ms = SLICE_MS): void {
  sliceMs = ms;
}

/** Work of so few slices is short: it goes before long work, so that a small request does not wait for all large ones. */
const SHORT_SLICES = 2;
/** One of so many slices is for long work if any waits. */
const LONG_EVERY = 3;

/** The same for work that nobody waits for, many times a second: other requests must not notice it. */
const BRIEF_SLICE_MS = 0.25;

/** Work that waits for its slice, in the order of turns. */
const short: (() => void)[] = [];
const long: (() => void)[] = [];
/** Whether a slice has run in this round. */
let hasRun = false;
let begunCount = 0;

/** Resolves when the next slice may run: at once where none has run in this round and none waits. */
function nextSlice(slicesBefore: number): Promise<void> | undefined {
  if (!hasRun && short.length === 0 && long.length === 0) {
    begin();
    return undefined;
  }
  return turnBehindOthers(slicesBefore);
}

/** Resolves in a later round of the event loop; one has to be under way. */
function turnBehindOthers(slicesBefore: number): Promise<void> {
  const waiting = slicesBefore < SHORT_SLICES ? short : long;
  return new Promise((resolve) => waiting.push(resolve));
}

function begin(): void {
  hasRun = true;
  begunCount += 1;
  setImmediate(() => {
    hasRun = false;
    const first = begunCount % LONG_EVERY === 0 ? long : short;
    const resolve = first.shift() ?? short.shift() ?? long.shift();
    if (resolve === undefined) return;
    begin();
    resolve();
  });
}

/** The owner of work that somebody asked for: it stops when nobody waits for it any more, and is charged to who asked. */
export interface SliceOwner {
  readonly signal?: AbortSignal;
  /** The work has held the event loop for so many milliseconds. */
  readonly charge?: ((heldMs: number) => void) | undefined;
}

/** Milliseconds of work that needs no slices: it holds the event loop no longer than other requests do. */
const AT_ONCE_MS = 2;

/**
 * Calls `advance` until it returns true, for a moment: false when that was not enough, and the rest is to be done in slices. The
 * first of them comes in a later round: one step alone may have taken as long as a slice.
 */
export function doneAtOnce(advance: () => boolean): boolean {
  const isDone = runSlice(advance, Math.min(sliceMs, AT_ONCE_MS));
  if (!isDone && !hasRun) begin();
  return isDone;
}

/** Calls `advance` until it returns true. A single call must be short. Rejects once the owner's signal is aborted. */
export async function inSlices(advance: () => boolean, owner: SliceOwner = {}): Promise<void> {
  for (let slices = 0; ; slices += 1) {
    const turn = nextSlice(slices);
    if (turn !== undefined) await turn;
    owner.signal?.throwIfAborted();
    if (runSlice(advance, sliceMs, owner.charge)) return;
  }
}

/** The same, in brief slices, none of which runs in this round of the event loop. */
export async function inBriefSlices(advance: () => boolean, owner: SliceOwner = {}): Promise<void> {
  let slices = 0;
  do {
    if (!hasRun) begin();
    await turnBehindOthers(slices);
    owner.signal?.throwIfAborted();
    slices += 1;
  } while (!runSlice(advance, Math.min(sliceMs, BRIEF_SLICE_MS), owner.charge));
}

/** Resolves in a round of the event loop in which no slice runs, nor anybody else's turn: at once where nothing waits. */
export async function turn(): Promise<void> {
  await nextSlice(0);
}

/** Whether `advance` has returned true. */
function runSlice(advance: () => boolean, ms: number, charge?: SliceOwner['charge']): boolean {
  const begunAt = performance.now();
  let now: number;
  let isDone: boolean;
  try {
    do {
      isDone = advance();
      now = performance.now();
    } while (!isDone && now < begunAt + ms);
  } finally {
    charge?.(performance.now() - begunAt);
  }
  return isDone;
}
