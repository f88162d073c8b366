/** Starts the thread of an HTTP worker. */
import { Worker } from 'node:worker_threads';
import { threadSource } from '../../threads/thread-source.ts';
import type { WorkerStart } from './worker-messages.ts';

/** What requests and responses leave behind dies young if it is given the room. */
const YOUNG_GENERATION_MB = 48;

export function startWorker(start: WorkerStart): Worker {
  return new Worker(threadSource(new URL('./thread/http-worker', import.meta.url).href), {
    eval: true,
    execArgv: [],
    name: 'http-worker',
    workerData: start,
    resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB },
  });
}
