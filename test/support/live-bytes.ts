/** Memory that is in use, not what the process happens to hold: unreachable objects are collected first. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

export function liveHeapBytes(): number {
  collect();
  // Node 24 counts what the first one freed outside of the heap only then.
  collect();
  return process.memoryUsage().heapUsed;
}

/** On the heap, and in buffers outside of it. */
export function liveBytes(): number {
  return liveHeapBytes() + process.memoryUsage().external;
}
