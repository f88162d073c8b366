/**
 * Runs free-text searches in a separate thread, one at a time, and never on the server's event loop.
 *
 * The thread is started by the first search and kept. Searches wait in a queue with a limit; beyond it they are
 * refused at once, since a search that is answered after its reader has left costs as much as one in time. If the
 * thread dies, the search it was busy with fails, and the next one starts a new thread.
 */
import { Worker } from 'node:worker_threads';
import type { Refusal } from '../../domain/state/refusal.ts';
import type { FileSystem } from '../disk/file-system.ts';
import { scanText, type TextMatches, type TextScanRequest } from './text-scan.ts';

export interface TextSearch {
  /** A refusal when too many searches wait already. Rejects with the signal's reason once it is aborted. */
  search(request: TextScanRequest, signal?: AbortSignal): Promise<TextMatches | Refusal>;
  close(): Promise<void>;
}

/**
 * Protects readers from each other: when a search on a large log takes a second, the last in the queue waits 16 s.
 */
export const SEARCHES_WAITING_MAX = 16;

/** Protects the process from a frame that is hostile once decoded; ordinary searches need a tenth of it. */
const WORKER_HEAP_MB_MAX = 256;

export interface TextSearchTask {
  readonly request: TextScanRequest;
  /** One element in shared memory: 1 tells the thread to give up at the next piece. */
  readonly cancelled: Int32Array;
}

export type TextSearchReply =
  | { readonly kind: 'found'; readonly matches: TextMatches }
  | { readonly kind: 'cancelled' }
  | { readonly kind: 'failed'; readonly problem: string };

interface Job {
  readonly task: TextSearchTask;
  readonly signal: AbortSignal | undefined;
  readonly onAbort: () => void;
  readonly resolve: (matches: TextMatches) => void;
  readonly reject: (error: unknown) => void;
}

const BUSY = 'Too many event searches are waiting. Try again in a few seconds.';
const CLOSED = 'The server is shutting down.';

const unavailable = (message: string): Refusal => ({
  refused: true,
  name: 'ServiceUnavailableError',
  message,
  details: [{ message }],
});

export class WorkerTextSearch implements TextSearch {
  readonly #startWorker: () => Worker;
  readonly #waiting: Job[] = [];
  #running: Job | null = null;
  #worker: Worker | null = null;
  #closed = false;

  constructor(startWorker: () => Worker = startTextSearchWorker) {
    this.#startWorker = startWorker;
  }

  search(request: TextScanRequest, signal?: AbortSignal): Promise<TextMatches | Refusal> {
    if (this.#closed) return Promise.resolve(unavailable(CLOSED));
    if (this.#waiting.length >= SEARCHES_WAITING_MAX) return Promise.resolve(unavailable(BUSY));
    if (signal?.aborted) return Promise.reject(signal.reason);
    return new Promise((resolve, reject) => {
      const cancelled = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
      const job: Job = {
        task: { request, cancelled },
        signal,
        onAbort: () => this.#abort(job),
        resolve,
        reject,
      };
      signal?.addEventListener('abort', job.onAbort);
      this.#waiting.push(job);
      this.#next();
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const job of this.#waiting.splice(0)) this.#end(job).reject(new Error(CLOSED));
    await this.#worker?.terminate();
  }

  #next(): void {
    if (this.#running !== null) return;
    const job = this.#waiting.shift();
    if (job === undefined) {
      // An idle thread must not keep the process alive.
      this.#worker?.unref();
      return;
    }
    this.#running = job;
    this.#worker ??= this.#start();
    this.#worker.ref();
    this.#worker.postMessage(job.task);
  }

  #start(): Worker {
    const worker = this.#startWorker();
    let cause: unknown;
    worker.on('message', (reply: TextSearchReply) => this.#settle(reply));
    worker.on('error', (error) => {
      cause = error;
    });
    worker.on('exit', () => {
      this.#worker = null;
      this.#fail(new Error('The text-search thread ended before it had answered', { cause }));
    });
    return worker;
  }

  #settle(reply: TextSearchReply): void {
    const job = this.#running;
    if (job === null) return;
    this.#running = null;
    this.#end(job);
    if (reply.kind === 'found') job.resolve(reply.matches);
    else job.reject(reply.kind === 'cancelled' ? job.signal?.reason : new Error(reply.problem));
    this.#next();
  }

  #fail(error: Error): void {
    const job = this.#running;
    this.#running = null;
    if (job !== null) this.#end(job).reject(error);
    this.#next();
  }

  /** Removes a waiting search from the queue, and tells the thread to abandon a running one. */
  #abort(job: Job): void {
    const place = this.#waiting.indexOf(job);
    if (place < 0) {
      Atomics.store(job.task.cancelled, 0, 1);
      return;
    }
    this.#waiting.splice(place, 1);
    this.#end(job).reject(job.signal?.reason);
  }

  #end(job: Job): Job {
    job.signal?.removeEventListener('abort', job.onAbort);
    return job;
  }
}

/**
 * What the thread runs: its TypeScript source, behind a line of JavaScript. Node 20 applies neither `--import tsx`
 * nor hooks that the main thread has registered to the entry file of a worker, so they are registered in the worker
 * first.
 */
export function textSearchSource(): string {
  const tsx = JSON.stringify(import.meta.resolve('tsx/esm/api'));
  const entry = JSON.stringify(new URL('./text-search-worker.ts', import.meta.url).href);
  return `import(${tsx}).then(({ register }) => { register(); return import(${entry}); });`;
}

export function startTextSearchWorker(): Worker {
  return new Worker(textSearchSource(), {
    eval: true,
    execArgv: [],
    name: 'text-search',
    resourceLimits: { maxOldGenerationSizeMb: WORKER_HEAP_MB_MAX },
  });
}

/** For tools and simulations that have a file system but no need to stay responsive. */
export function inlineTextSearch(fs: FileSystem): TextSearch {
  return {
    async search(request, signal) {
      const matches = await scanText(request, fs, () => signal?.aborted === true);
      if (matches === null) throw signal?.reason;
      return matches;
    },
    async close() {
      // Nothing is kept between searches.
    },
  };
}
