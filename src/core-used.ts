/** How much processor time the event loop has used: what passes while the process has no core is nobody's doing. */
import { openSync, readSync } from 'node:fs';

/** Linux counts here for the first thread of the process, which runs the event loop. */
const FILE = '/proc/self/schedstat';

const NANOSECONDS = 1e6;

/** A function that tells the milliseconds so far, in a few microseconds. Where threads are not counted, those of all threads. */
export function coreUsedMs(file = FILE): () => number {
  const text = Buffer.alloc(64);
  const descriptor = opened(file);
  return () => {
    // The kernel brings the figures of the calling thread up to date for this call, and for the file only from time to time.
    const { user, system } = process.cpuUsage();
    if (descriptor === null) return (user + system) / 1000;
    return (
      Number.parseInt(text.toString('latin1', 0, readSync(descriptor, text, 0, text.byteLength, 0)), 10) /
      NANOSECONDS
    );
  };
}

function opened(file: string): number | null {
  try {
    return openSync(file, 'r');
  } catch {
    return null;
  }
}
