/**
 * Runs one suite over both HTTP engines, with a clock that tests advance by hand and a handler that they supply.
 */
import { describe, type TestContext } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { TransportClock } from '../../../src/http/transport/deadlines.ts';
import { ResponseHeaders } from '../../../src/http/transport/response.ts';
import type {
  HttpResponse,
  RequestHandler,
  RequestHandlers,
  Transport,
  TransportOptions,
} from '../../../src/http/transport/transport.ts';
import { createUwsTransport } from '../../../src/http/transport/uws-transport.ts';
import { ENGINES, type EngineName, OTHER_ENGINE } from '../../support/installed-engines.ts';

export interface Engine {
  readonly name: EngineName;
  create(options: TransportOptions): Promise<Transport>;
}

export const engineOf = (name: EngineName): Engine => ({
  name,
  create: async (options) => (name === 'uws' ? createUwsTransport(options) : OTHER_ENGINE!.open(options)),
});

export function overEachEngine(subject: string, define: (engine: Engine) => void): void {
  for (const name of ENGINES)
    describe(`${subject} (${name})`, { timeout: 30_000 }, () => define(engineOf(name)));
}

export class ManualClock implements TransportClock {
  #nowMs = 0;
  readonly #callbacks = new Set<() => void>();

  now(): number {
    return this.#nowMs;
  }

  every(_periodMs: number, callback: () => void): () => void {
    this.#callbacks.add(callback);
    return () => this.#callbacks.delete(callback);
  }

  advance(byMs: number): void {
    this.#nowMs += byMs;
    for (const callback of this.#callbacks) callback();
  }
}

export interface LogLine {
  readonly level: 'warn' | 'error';
  readonly fields: object;
  readonly message: string;
}

export interface Started {
  readonly transport: Transport;
  readonly port: number;
  readonly clock: ManualClock;
  readonly log: LogLine[];
  /** Paths in the order in which the handler saw them. */
  readonly handled: string[];
}

export type Setup = Partial<
  Pick<RequestHandlers, 'handle' | 'admit' | 'refuse'> &
    Pick<TransportOptions, 'limits' | 'polledPaths' | 'trustedProxies'>
>;

/** A server that answers every request with its path, unless `handle` says otherwise. Closed after the test. */
export async function start(t: TestContext, engine: Engine, setup: Setup = {}): Promise<Started> {
  const clock = new ManualClock();
  const log: LogLine[] = [];
  const handled: string[] = [];
  const handle: RequestHandler = setup.handle ?? ((request, responder) => responder.send(text(request.path)));
  const transport = await engine.create({
    host: '127.0.0.1',
    port: 0,
    clock,
    log: {
      warn: (fields, message) => log.push({ level: 'warn', fields, message }),
      error: (fields, message) => log.push({ level: 'error', fields, message }),
    },
    handlers: {
      refuse:
        setup.refuse ??
        ((status, reason) => ({ status, headers: ResponseHeaders.of('x-refused', 'yes'), body: reason })),
      ...(setup.admit !== undefined && { admit: setup.admit }),
      handle: (request, responder) => {
        handled.push(request.path);
        return handle(request, responder);
      },
    },
    polledPaths: setup.polledPaths ?? [],
    trustedProxies: setup.trustedProxies ?? [],
    limits: { connectionsMax: 100, ...setup.limits },
  });
  const { port } = await transport.listen();
  t.after(() => transport.close());
  return { transport, port, clock, log, handled };
}

export function text(body: string, status = 200): HttpResponse {
  return { status, headers: ResponseHeaders.of('content-type', 'text/plain'), body };
}

/** Lets the event loop turn until `condition` holds; the suite's timeout ends a wait in vain. */
export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await nextTurn();
}
