/**
 * Closed loop: each connection sends its next request when the last one is answered. Tells the throughput at
 * saturation. Its latencies say how long one request takes among that many, and no more: a stall delays the next
 * requests instead of being counted for them (coordinated omission); for that see open-loop.ts.
 *
 * wrk is used where it is installed, since it takes the least processor time from the server on a small machine;
 * autocannon otherwise, and where a number of requests is asked for instead of a time.
 */
import { execFileSync } from 'node:child_process';
import { runAutocannon } from './autocannon-load.ts';
import type { ClosedLoopOptions, ClosedLoopRun } from './closed-loop-run.ts';
import { runWrk } from './wrk-load.ts';

/** Requests of a run without a duration. */
const REQUESTS_PER_CONNECTION = 4;

let hasWrk: boolean | undefined;

export function loadGenerator(): 'wrk' | 'autocannon' {
  hasWrk ??= isInstalled('wrk');
  return hasWrk ? 'wrk' : 'autocannon';
}

function isInstalled(program: string): boolean {
  try {
    execFileSync('which', [program], { stdio: 'ignore' });
    return true;
  } catch {
    // `which` ends with a code other than 0: not installed, which is an answer.
    return false;
  }
}

/** Rejects when a response was not a success: a figure about errors would be worth nothing. */
export function runClosedLoop(options: ClosedLoopOptions): Promise<ClosedLoopRun> {
  const { target, operation, connections, seconds } = options;
  const load = { target, operation, connections };
  if (seconds === null) return runAutocannon({ ...load, requests: connections * REQUESTS_PER_CONNECTION });
  return loadGenerator() === 'wrk' ? runWrk({ ...options, seconds }) : runAutocannon({ ...load, seconds });
}
