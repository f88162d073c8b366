/** Reads the Linux scheduler's figures about a thread. */
import { openSync, readSync } from 'node:fs';

/** Times of a thread so far, in milliseconds. */
export interface ScheduleTimes {
  readonly ranMs: number;
  /** Ready to run, without a core. */
  readonly waitedMs: number;
}

/** The times of the thread that opens it. The kernel brings the time that it ran up to date only now and then, and after each wait for a core. */
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

// How much processor time the event loop has used: what passes while the process has no core is nobody's doing.

/** Linux counts here for the first thread of the process, which runs the event loop. */
const FILE = '/proc/self/schedstat';

/** A function that tells the milliseconds so far, in a few microseconds. Where threads are not counted, those of all threads. */
export function coreUsedMs(file = FILE): () => number {
  const times = scheduleTimes(file);
  return () => {
    // The kernel brings the figures of the calling thread up to date for this call, and for the file only from time to time.
    const { user, system } = process.cpuUsage();
    return times === null ? (user + system) / 1000 : times().ranMs;
  };
}
