/** How much processor time the event loop has used: what passes while the process has no core is nobody's doing. */
import { scheduleTimes } from './schedule-times.ts';

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
