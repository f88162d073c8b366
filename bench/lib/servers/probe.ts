/**
 * Loaded before the server under test where its memory and stalls are measured: answers questions of the bench over
 * the channel between the processes. Until a question comes it does nothing.
 */
import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks';

export type ProbeQuestion = 'memory' | 'watch-stalls' | 'longest-stall';

export interface ProbeResponses {
  /** After a full garbage collection, in bytes. */
  readonly memory: { readonly heap: number; readonly rss: number };
  readonly 'watch-stalls': null;
  /** Since `watch-stalls`, in milliseconds. */
  readonly 'longest-stall': number;
}

/** The histogram's timer; a stall is what a tick took beyond it. */
const TICK_MS = 1;

let stalls: IntervalHistogram | null = null;

/** More than the largest that a server is started with. */
const FILLED_BYTES = 256 * 2 ** 20;
const GARBAGE_BYTES = 16 * 1024;

/** Its pages become resident when they are first used, and stay so: what is done meanwhile must not seem to be what costs them. */
function fillYoungGeneration(): void {
  for (let filled = 0; filled < FILLED_BYTES; filled += GARBAGE_BYTES)
    new Array(GARBAGE_BYTES / 8).fill(filled);
}

const RESPONSES: { readonly [Q in ProbeQuestion]: () => ProbeResponses[Q] } = {
  memory() {
    fillYoungGeneration();
    globalThis.gc?.();
    const { heapUsed, external, rss } = process.memoryUsage();
    return { heap: heapUsed + external, rss };
  },
  'watch-stalls'() {
    stalls ??= monitorEventLoopDelay({ resolution: TICK_MS });
    stalls.enable();
    stalls.reset();
    return null;
  },
  'longest-stall'() {
    return stalls === null ? 0 : Math.max(0, stalls.max / 1e6 - TICK_MS);
  },
};

process.on('message', (question: ProbeQuestion) => {
  process.send?.({ question, response: RESPONSES[question]() });
});
// Asking must not be what keeps the server alive.
process.channel?.unref();
