/**
 * Several HTTP engines, each in a thread of its own, as one (docs/decisions/http.md#http-workers). The main thread accepts connections and
 * hands each to a worker; it hears of requests that the workers cannot answer by themselves.
 *
 * Limits that protect the process are divided among the workers, except for streams, which are counted here.
 *
 * A worker that fails ends the process: its connections are lost, and the library cannot do without its memory. No thread may end, nor
 * the process, while connections are open in a worker, or else Node aborts and the exit code is lost; so `process.exit` waits for the
 * workers to have closed theirs.
 */
import type { Worker } from 'node:worker_threads';
import type { RouteMeter } from '../dispatch/meters.ts';
import type { Surface } from '../dispatch/surface.ts';
import type { Neighbors, Transport, TransportOptions } from '../transport/transport.ts';
import { resolveLimits, type TransportLimits } from '../transport/transport-limits.ts';
import { type EngineDescriptor, UwsAcceptor } from '../transport/uws/uws-acceptor.ts';
import { ChangeMarks } from './change-marks.ts';
import { outlineOf } from './error-shapes.ts';
import { FlagPublisher } from './flag-publisher.ts';
import { startWorker } from './start-worker.ts';
import { type EngineFigures, KEPT_ROUTES, WorkerFigures } from './worker-figures.ts';
import { type Above, WorkerLink, type WorkerLinkOptions } from './worker-link.ts';
import type { FromWorker, ToWorker, WorkerStart } from './worker-messages.ts';

export interface WorkersOptions extends Omit<TransportOptions, 'refuse'>, Above {
  /** Of workers, at least 1. */
  readonly count: number;
  readonly basePath: string;
  /** Whether workers may keep responses: not where each request is logged or traced. */
  readonly keeps: boolean;
  readonly metered: boolean;
  /** Told that a worker has died, which is the end. */
  stop(error: Error): void;
  /** For tests, which look at the threads. */
  readonly start?: typeof startWorker;
}

/** Rejects where there is no binary of uWebSockets.js for this platform and Node version. */
export async function createWorkersTransport(options: WorkersOptions): Promise<WorkersTransport> {
  return new WorkersTransport(await UwsAcceptor.create(), options);
}

export class WorkersTransport implements Transport {
  readonly engine = 'uws';
  /** What the workers keep is held against them. */
  readonly marks = new ChangeMarks();
  readonly #acceptor: UwsAcceptor;
  readonly #options: WorkersOptions;
  readonly #streamsMax: number;
  readonly #workers: RunningWorker[];
  #isDraining = false;

  constructor(acceptor: UwsAcceptor, options: WorkersOptions) {
    this.#acceptor = acceptor;
    this.#options = options;
    const limits = resolveLimits(options.limits);
    this.#streamsMax = limits.streamsMax;
    const { basePath, keeps, metered, count, trustedProxies = [] } = options;
    const shared = { limits: shareOf(limits, count), trustedProxies, basePath, keeps, metered };
    const start = { marks: this.marks.memory, ...shared };
    const mayStream = (): boolean => !this.#isDraining && this.#streamCount < this.#streamsMax;
    process.on('exit', this.#closeNow);
    const publisher = new FlagPublisher({
      marks: this.marks,
      monotonicMs: () => performance.now(),
      publish: (block) => {
        for (const { link } of this.#workers) link.publish(block);
      },
    });
    const above = {
      ...options,
      monotonicMs: () => performance.now(),
      mayStream,
      askedBeside: (path: string, neighbors: Neighbors) => publisher.asked(path, neighbors),
    };
    this.#workers = Array.from({ length: count }, () => new RunningWorker(start, above));
  }

  get openConnections(): number {
    return this.#sum('openConnections');
  }

  /** A request that was handed over here, and has its response, may still be under way from its worker to its client. */
  get openRequests(): number {
    return this.#workers.reduce(
      (sum, { figures, link }) => sum + Math.max(figures.get('openRequests'), link.openRequests),
      0,
    );
  }

  get openStreams(): number {
    return this.#workers.reduce(
      (sum, { figures, link }) => sum + Math.max(figures.get('openStreams'), link.openStreams),
      0,
    );
  }

  get unreadBytes(): number {
    return this.#sum('unreadBytes');
  }

  get evictedReaders(): number {
    return this.#sum('evictedReaders');
  }

  get slowStreams(): number {
    return this.#sum('slowStreams');
  }

  async listen(): Promise<{ readonly port: number }> {
    const engines = await Promise.all(this.#workers.map((worker) => worker.ready()));
    return this.#acceptor.listen(engines, this.#options);
  }

  drain(): void {
    if (this.#isDraining) return;
    this.#isDraining = true;
    this.#acceptor.stopListening();
    for (const worker of this.#workers) worker.drain();
  }

  async close(): Promise<void> {
    this.drain();
    // First: it must not know of engines that are gone.
    this.#acceptor.close();
    await Promise.all(this.#workers.map((worker) => worker.close()));
    process.off('exit', this.#closeNow);
  }

  /** Adds to the meters of routes what the workers have given by themselves. */
  addTo(meters: readonly RouteMeter[]): void {
    for (const [at, route] of KEPT_ROUTES.entries()) {
      const meter = meters.find((one) => `${one.method} ${one.route}` === route);
      if (meter === undefined) continue;
      for (const { figures } of this.#workers) figures.addTo(meter, at);
    }
  }

  /** How the workers are to word what they refuse, and the pages of which origins may read it. */
  announce(surfaces: readonly Surface[], origins: readonly string[]): void {
    for (const worker of this.#workers)
      worker.send({ kind: 'surfaces', surfaces: surfaces.map(outlineOf), origins });
  }

  /** The process exits without having closed anything. */
  readonly #closeNow = (): void => {
    for (const worker of this.#workers) worker.send({ kind: 'close' });
    for (const worker of this.#workers) worker.waitUntilClosed();
  };

  get #streamCount(): number {
    return this.#workers.reduce((sum, { link }) => sum + link.openStreams, 0);
  }

  #sum(figure: keyof EngineFigures): number {
    return this.#workers.reduce((sum, { figures }) => sum + figures.get(figure), 0);
  }
}

/** Connections are spread evenly, so that each worker meets its share of what all clients do. */
function shareOf(limits: TransportLimits, count: number): TransportLimits {
  return {
    ...limits,
    connectionsMax: Math.ceil(limits.connectionsMax / count),
    bodiesBytesMax: Math.ceil(limits.bodiesBytesMax / count),
    unreadBytesMax: Math.ceil(limits.unreadBytesMax / count),
  };
}

interface WorkerOptions
  extends Above,
    Pick<WorkersOptions, 'stop' | 'start'>,
    Pick<WorkerLinkOptions, 'mayStream' | 'askedBeside' | 'monotonicMs'> {}

/** A worker that is busy with one request is done with it long before. */
const CLOSE_MS_MAX = 1_000;

class RunningWorker {
  readonly #closed = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  readonly figures = new WorkerFigures();
  readonly link: WorkerLink;
  readonly #thread: Worker;
  readonly #options: WorkerOptions;
  readonly #ready: Promise<EngineDescriptor>;
  readonly #gone: Promise<void>;
  #isReady = false;
  #isClosing = false;

  constructor(start: Omit<WorkerStart, 'figures' | 'closed'>, options: WorkerOptions) {
    this.#options = options;
    this.#thread = (options.start ?? startWorker)({
      ...start,
      figures: this.figures.memory,
      closed: this.#closed.buffer as SharedArrayBuffer,
    });
    this.link = new WorkerLink({
      ...options,
      post: (parcel) => this.send({ kind: 'parcel', parcel }, [parcel.bytes]),
    });
    let fault: unknown;
    this.#thread.on('error', (error) => {
      fault = error;
    });
    this.#gone = new Promise((resolve) => {
      this.#thread.on('exit', () => {
        this.link.close();
        resolve();
        if (!this.#isClosing && this.#isReady)
          options.stop(new Error('An HTTP worker died, and its connections with it.', { cause: fault }));
      });
    });
    this.#ready = new Promise((resolve, reject) => {
      void this.#gone.then(() =>
        reject(new Error('An HTTP worker ended before it was ready.', { cause: fault })),
      );
      this.#thread.on('message', (message: FromWorker) => {
        if (message.kind === 'ready') {
          this.#isReady = true;
          resolve(message.engine);
        } else this.#receive(message);
      });
    });
  }

  /** Rejects when the thread ends before. */
  ready(): Promise<EngineDescriptor> {
    return this.#ready;
  }

  drain(): void {
    this.send({ kind: 'drain' });
  }

  close(): Promise<void> {
    this.#isClosing = true;
    this.send({ kind: 'close' });
    return this.#gone;
  }

  /** Holds up this thread, and not the worker's. */
  waitUntilClosed(): void {
    Atomics.wait(this.#closed, 0, 0, CLOSE_MS_MAX);
  }

  #receive(message: Exclude<FromWorker, { kind: 'ready' }>): void {
    if (message.kind === 'parcel') this.link.receive(message.parcel);
    else if (message.kind === 'fault')
      this.#options.stop(
        new Error('An HTTP worker failed, and its connections with it.', { cause: message.stack }),
      );
    else this.#options.log[message.level](message.fields, message.message);
  }

  send(message: ToWorker, transferred: readonly ArrayBuffer[] = []): void {
    this.#thread.postMessage(message, transferred);
  }
}
