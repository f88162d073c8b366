/**
 * A thread for reading of the log that would hold the event loop: free-text scans, pages of large frames, and the reading of old history.
 * Its callers bound how many tasks run at once (src/actors/log-reads.ts).
 *
 * The first task starts the thread, which stays. If it dies, the tasks that it was busy with fail, and the next one
 * starts a new thread.
 */
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { ADVICE_DAMAGED, DataFolderError } from '../disk/data-folder.ts';
import { type FileSystem, isMissing } from '../disk/file-system.ts';
import { type JournalPart, verifyPart } from '../journal/deferred-part.ts';
import { segmentFileName } from '../journal/segment.ts';
import type { Rest, VisitFrame } from '../journal/segment-scan.ts';
import { EventIndex } from './event-index.ts';
import type { PageRequest, RenderedPage } from './event-page.ts';
import { indexFrame } from './index-building.ts';
import { type PartRows, rowsOf } from './part-rows.ts';
import type { TextMatches, TextScanRequest } from './text-scan.ts';

/** Each method rejects with the reason of the signal once that is aborted. */
export interface LogReader {
  scan(request: TextScanRequest, signal?: AbortSignal): Promise<TextMatches>;
  page(request: PageRequest, signal?: AbortSignal): Promise<RenderedPage>;
  check(request: CheckRequest): Promise<Checked>;
  close(): Promise<void>;
}

export interface CheckRequest {
  /** The journal folder. */
  readonly folder: string;
  readonly part: JournalPart;
  /** Whether the caller has its rows. */
  readonly isIndexed: boolean;
}

/** The fields of a `DataFolderError` that pass between threads. */
export type JournalDamage = Pick<
  DataFolderError,
  'problem' | 'file' | 'offset' | 'lastGoodEventId' | 'advice'
>;

export interface Checked {
  readonly damage: JournalDamage | null;
  /** The rows of the part, where it is whole and the caller lacks them. */
  readonly rows: PartRows | null;
}

/** Protects the process from a frame that is hostile once decoded; ordinary tasks need a tenth of it. */
const WORKER_HEAP_MB_MAX = 256;

export type LogTask =
  | { readonly kind: 'scan'; readonly request: TextScanRequest }
  | { readonly kind: 'page'; readonly request: PageRequest }
  | { readonly kind: 'check'; readonly request: CheckRequest };

export type TaskOutput = TextMatches | RenderedPage | Checked;

export interface NumberedTask {
  readonly number: number;
  readonly task: LogTask;
  /** One element in shared memory: 1 tells the thread to give the task up at the next occasion. */
  readonly cancelled: Int32Array;
}

export interface TaskResult {
  readonly number: number;
  readonly outcome:
    | { readonly kind: 'done'; readonly result: TaskOutput }
    | { readonly kind: 'cancelled' }
    | { readonly kind: 'damaged'; readonly damage: JournalDamage }
    | { readonly kind: 'failed'; readonly problem: string };
}

interface Job {
  readonly kind: LogTask['kind'];
  readonly cancelled: Int32Array;
  readonly signal: AbortSignal | undefined;
  readonly onAbort: () => void;
  readonly resolve: (result: TaskOutput) => void;
  readonly reject: (error: unknown) => void;
}

export class WorkerLogReader implements LogReader {
  readonly #startWorker: () => Worker;
  readonly #jobs = new Map<number, Job>();
  #lastNumber = 0;
  #worker: Worker | null = null;
  #ended: Promise<unknown> = Promise.resolve();
  #closed = false;

  constructor(startWorker: () => Worker = startLogReaderWorker) {
    this.#startWorker = startWorker;
  }

  scan(request: TextScanRequest, signal?: AbortSignal): Promise<TextMatches> {
    return this.#run({ kind: 'scan', request }, signal) as Promise<TextMatches>;
  }

  page(request: PageRequest, signal?: AbortSignal): Promise<RenderedPage> {
    return this.#run({ kind: 'page', request }, signal) as Promise<RenderedPage>;
  }

  check(request: CheckRequest): Promise<Checked> {
    return this.#run({ kind: 'check', request }) as Promise<Checked>;
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#failAll(new Error('The reader of the log is closed'));
    await Promise.all([this.#ended, this.#worker?.terminate()]);
  }

  #run(task: LogTask, signal?: AbortSignal): Promise<TaskOutput> {
    if (this.#closed) return Promise.reject(new Error('The reader of the log is closed'));
    if (signal?.aborted) return Promise.reject(signal.reason);
    return new Promise((resolve, reject) => {
      this.#lastNumber += 1;
      const number = this.#lastNumber;
      const cancelled = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
      const onAbort = (): void => {
        Atomics.store(cancelled, 0, 1);
      };
      signal?.addEventListener('abort', onAbort);
      this.#jobs.set(number, { kind: task.kind, cancelled, signal, onAbort, resolve, reject });
      this.#worker ??= this.#start();
      this.#worker.ref();
      this.#worker.postMessage({ number, task, cancelled } satisfies NumberedTask);
    });
  }

  #start(): Worker {
    const worker = this.#startWorker();
    let cause: unknown;
    worker.on('message', (result: TaskResult) => this.#settle(result));
    worker.on('error', (error) => {
      cause = error;
    });
    worker.on('exit', () => {
      if (this.#worker !== worker) return;
      this.#worker = null;
      this.#failAll(new Error('The thread that reads the log ended before it had answered', { cause }));
    });
    return worker;
  }

  #settle({ number, outcome }: TaskResult): void {
    const job = this.#take(number);
    if (outcome.kind === 'done') job?.resolve(outcome.result);
    else if (outcome.kind === 'cancelled') job?.reject(job.signal?.reason);
    else if (outcome.kind === 'damaged') job?.reject(errorOf(outcome.damage));
    else job?.reject(new Error(outcome.problem));
    // An idle thread must not keep a process alive that has nothing else to do.
    if (this.#jobs.size > 0) return;
    this.#worker?.unref();
    if (job?.kind === 'check') this.#end();
  }

  /** A thread that has read a part of the journal keeps a heap as large as it was then; the next task gets another thread. */
  #end(): void {
    this.#ended = Promise.all([this.#ended, this.#worker?.terminate()]);
    this.#worker = null;
  }

  #failAll(error: Error): void {
    for (const number of [...this.#jobs.keys()]) this.#take(number)?.reject(error);
  }

  #take(number: number): Job | undefined {
    const job = this.#jobs.get(number);
    this.#jobs.delete(number);
    job?.signal?.removeEventListener('abort', job.onAbort);
    return job;
  }
}

/** Verifies a part of the journal, and indexes it. A damaged file, and one that the disk cannot read, is a result and no failure. */
export async function checkPart(
  fs: FileSystem,
  { folder, part, isIndexed }: CheckRequest,
  rest?: Rest,
): Promise<Checked> {
  const { segment } = part;
  const file = join(folder, segmentFileName(segment));
  const index = isIndexed ? null : new EventIndex(part.lastId - segment + 1);
  const visit: VisitFrame = (raw, payload) => {
    if (index !== null) indexFrame(index, { firstId: segment, path: file }, raw, payload);
    return true;
  };
  try {
    const error = await verifyPart({ fs, folder }, part, { visit, rest });
    if (error !== null) return { damage: damageOf(error), rows: null };
    return { damage: null, rows: index && rowsOf(index) };
  } catch (error) {
    if (error instanceof DataFolderError) return { damage: damageOf(error), rows: null };
    if (!isMissing(error)) throw error;
    return { damage: damageOfFile(file, segment, 'A journal file is missing'), rows: null };
  }
}

export const damageOfFile = (file: string, segment: number, problem: string): JournalDamage => ({
  ...{ problem, file, offset: null, lastGoodEventId: segment - 1, advice: ADVICE_DAMAGED },
});

export function damageOf({ problem, file, offset, lastGoodEventId, advice }: DataFolderError): JournalDamage {
  return { problem, file, offset, lastGoodEventId, advice };
}

export function errorOf({ problem, file, offset, lastGoodEventId, advice }: JournalDamage): DataFolderError {
  return new DataFolderError(problem, {
    ...{ file, advice },
    ...(offset !== null && { offset }),
    ...(lastGoodEventId !== null && { lastGoodEventId }),
  });
}

export function logReaderSource(): string {
  return threadSource(new URL('./log-reader-worker', import.meta.url).href);
}

export function startLogReaderWorker(): Worker {
  return new Worker(logReaderSource(), {
    eval: true,
    execArgv: [],
    name: 'log-reader',
    resourceLimits: { maxOldGenerationSizeMb: WORKER_HEAP_MB_MAX },
  });
}

/**
 * The code that a thread runs: the file `entry`, a URL without its extension. In a checkout that is its TypeScript source, behind a line of
 * JavaScript: neither `--import tsx` nor hooks of the main thread reach the entry file of a
 * worker in every version of Node, so they are registered in the worker first.
 */
function threadSource(entry: string): string {
  const isSource = import.meta.url.endsWith('.ts');
  const load = `import(${JSON.stringify(`${entry}.${isSource ? 'ts' : 'js'}`)})`;
  if (!isSource) return `${load};`;
  return `import(${JSON.stringify(import.meta.resolve('tsx/esm/api'))}).then(({ register }) => { register(); return ${load}; });`;
}
