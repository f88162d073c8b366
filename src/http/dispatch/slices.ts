/**
 * Long work, cut into slices, so that other requests are served in between. In each round of the event loop at most one
 * slice runs, however much work is under way: a thousand requests that each took a slice would hold it for seconds.
 */
import { performance } from 'node:perf_hooks';

/** How long a slice holds the event loop. */
const SLICE_MS = 5;

/** Those that wait for their slice, in the order of their turns. */
const waiting: (() => void)[] = [];
/** Whether a slice has run in this round. */
let hasRun = false;

/** Resolves when the next slice may run: at once where none has run in this round and none waits. */
function nextSlice(): Promise<void> | undefined {
  if (!hasRun && waiting.length === 0) {
    begin();
    return undefined;
  }
  return new Promise((resolve) => waiting.push(resolve));
}

function begin(): void {
  hasRun = true;
  setImmediate(() => {
    hasRun = false;
    const resolve = waiting.shift();
    if (resolve === undefined) return;
    begin();
    resolve();
  });
}

/** Calls `advance` until it returns true. A single call must be short. Rejects once `signal` is aborted. */
export async function inSlices(advance: () => boolean, signal?: AbortSignal): Promise<void> {
  for (;;) {
    const turn = nextSlice();
    if (turn !== undefined) await turn;
    signal?.throwIfAborted();
    const end = performance.now() + SLICE_MS;
    do if (advance()) return;
    while (performance.now() < end);
  }
}
