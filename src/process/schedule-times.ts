/** The Linux scheduler's figures about a thread, and work that leaves the cores to others by them. */
import { openSync, readSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

/** Times of a thread so far, in milliseconds. */
export interface ScheduleTimes {
  readonly ranMs: number;
  /** Ready to run, without a core. */
  readonly waitedMs: number;
}

/** Counts the thread that opens it. The kernel updates the time that it ran only now and then, and after each wait for a core. */
export const OWN_SCHEDULE = '/proc/thread-self/schedstat';

const NANOSECONDS = 1e6;

/** A function that reads the times, in a few microseconds; null where the system does not count them. */
export function scheduleTimes(file: string): (() => ScheduleTimes) | null {
  const descriptor = opened(file);
  if (descriptor === null) return null;
  const text = Buffer.alloc(64);
  return () => {
    const length = readSync(descriptor, text, 0, text.byteLength, 0);
    const [ran, waited] = text.toString('latin1', 0, length).split(' ');
    return { ranMs: Number(ran) / NANOSECONDS, waitedMs: Number(waited) / NANOSECONDS };
  };
}

function opened(file: string): number | null {
  try {
    return openSync(file, 'r');
  } catch {
    return null;
  }
}

// Processor time of the event loop, without the time in which the process has no core.

/** Linux counts here for the first thread of the process, which runs the event loop. */
const FILE = '/proc/self/schedstat';

/** Returns a function that reads the milliseconds used so far, in a few microseconds; those of all threads where threads are not counted. */
export function coreUsedMs(file = FILE): () => number {
  const times = scheduleTimes(file);
  return () => {
    // This call makes the kernel update the figures of the thread, which reading the file does not.
    const { user, system } = process.cpuUsage();
    return times === null ? (user + system) / 1000 : times().ranMs;
  };
}

// Background work on busy cores. A low priority is not enough: the scheduler lets a running thread go on for a few milliseconds, and
// its data evict those of others from the caches. So a thread that had to wait for a core rests for longer than that.

/** The rest, as a multiple of the wait before it. */
const REST_FACTOR = 3;

/** A search of a gigabyte, in pieces of a megabyte, takes at most 20 s longer. */
const REST_MS_MAX = 20;

/** Returns a function to be awaited between pieces of work, which rests in proportion to new waits. `waitedMs`: the time that this thread has waited for a core so far. */
export function contentionBackOff(
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
