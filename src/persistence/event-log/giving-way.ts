/**
 * Work that nobody is in a hurry for, where others want the cores. A low priority alone does not keep it out of their way: the scheduler
 * lets whoever runs go on for a few milliseconds, and what passes through the caches is lost to the others. So whoever had to wait for
 * a core stays away from it for longer than that.
 */
import { setTimeout as delay } from 'node:timers/promises';

/** The rest, as a multiple of the wait before it. */
const REST_FACTOR = 3;

/** A search of a gigabyte, in pieces of a megabyte, takes at most 20 s longer. */
const REST_MS_MAX = 20;

/** Called between pieces of work. `waitedMs`: how long this thread has waited for a core, so far. */
export function givingWay(
  waitedMs: () => number,
  rest: (restMs: number) => Promise<unknown> = delay,
): () => Promise<void> {
  let before = waitedMs();
  return async () => {
    const restMs = REST_FACTOR * (waitedMs() - before);
    if (restMs < 1) return;
    await rest(Math.min(restMs, REST_MS_MAX));
    before = waitedMs();
  };
}
