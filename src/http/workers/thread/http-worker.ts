/**
 * The thread of an HTTP worker: an engine that connections are handed to. What it keeps it gives by itself; everything else
 * the main thread responds to. It knows nothing of the state.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import type { HttpResponse, RequestHandler, TransportOptions } from '../../transport/transport.ts';
import { createUwsTransport } from '../../transport/uws/uws-transport.ts';
import { ChangeMarks } from '../change-marks.ts';
import { WorkerFigures } from '../worker-figures.ts';
import type { FromWorker, ToWorker, WorkerStart } from '../worker-messages.ts';
import { KeptResponses } from './kept-responses.ts';
import { MainLink } from './main-link.ts';
import { WordedRefusals } from './worded-refusals.ts';

assert(parentPort !== null, 'runs as a worker thread only');
const port = parentPort;
const start = workerData as WorkerStart;

/** How often the figures are renewed while the server waits for requests under way. */
const DRAIN_LOOK_MS = 5;

// Node would end the thread, and abort the process because of the connections in it.
process.on('uncaughtException', (error) => send({ kind: 'fault', stack: error.stack ?? String(error) }));

const figures = new WorkerFigures(start.figures);
const kept = new KeptResponses({
  marks: new ChangeMarks(start.marks),
  basePath: start.basePath,
  now: Date.now,
  monotonicMs: () => performance.now(),
});
const refusals = new WordedRefusals(start.basePath);
const link = new MainLink({
  kept,
  post: (parcel) => send({ kind: 'parcel', parcel }, [parcel.bytes]),
  noStream: (head) => {
    const reason = 'No further stream can be opened at the moment; try again later.';
    return refusals.response({ status: 503, reason, head, errorId: randomUUID() });
  },
  afterTurn: tellFigures,
});

const handle: RequestHandler = (request, responder) => {
  if (!start.keeps) return link.forward(request, responder, null);
  const startedAt = start.metered ? performance.now() : 0;
  const given = kept.find(request);
  if (given === null) return link.forward(request, responder, kept.wishFor(request));
  responder.send(given.isForPages ? refusals.readable(request, given.response) : given.response);
  if (start.metered) figures.responded(given.route, given.response.status, performance.now() - startedAt);
};

const refuse: TransportOptions['refuse'] = (status, reason, head): HttpResponse => {
  const refused = { status, reason, head, errorId: randomUUID() };
  link.tellRefused(refused);
  return refusals.response(refused);
};

const engine = await createUwsTransport({
  // Connections are handed to it: it listens on nothing.
  host: '',
  port: 0,
  handle,
  refuse,
  log: {
    warn: (fields, message) => send({ kind: 'log', level: 'warn', fields: plain(fields), message }),
    error: (fields, message) => send({ kind: 'log', level: 'error', fields: plain(fields), message }),
  },
  limits: start.limits,
  trustedProxies: start.trustedProxies,
  onConnections: () => tellFigures(),
});

function tellFigures(): void {
  figures.set(engine);
}

function send(message: FromWorker, transferred: readonly ArrayBuffer[] = []): void {
  port.postMessage(message, transferred);
}

/** What a message can carry: an error would lose its name. */
function plain(fields: object): object {
  return JSON.parse(
    JSON.stringify(fields, (_, value: unknown) => (value instanceof Error ? value.stack : value)),
  );
}

port.on('message', (message: ToWorker) => {
  if (message.kind === 'parcel') link.receive(message.parcel);
  else if (message.kind === 'surfaces') refusals.know(message.surfaces, message.origins);
  else if (message.kind === 'drain') drain();
  else void close();
});

function drain(): void {
  engine.drain();
  setInterval(tellFigures, DRAIN_LOOK_MS).unref();
}

/** Connections are closed in a turn of the loop, and given back to the system in the next. */
async function close(): Promise<void> {
  await engine.close();
  port.close();
  await nextTurn();
  await nextTurn();
  const closed = new Int32Array(start.closed);
  Atomics.store(closed, 0, 1);
  Atomics.notify(closed, 0);
}

send({ kind: 'ready', engine: engine.descriptor() });
