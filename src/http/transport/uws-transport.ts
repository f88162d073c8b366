/**
 * HTTP on uWebSockets.js: the fast engine. This file owns the listening socket and the connections; what happens
 * to one request is in uws-exchange.ts.
 *
 * What this engine does differently from node:http, because its parser answers before this code can:
 * - HTTP/1.0, absolute-form targets (`GET http://…`) and bare line feeds get 505, an oversized head 431, a body
 *   with broken or extended chunks 400: with the parser's own HTML, after which the connection ends.
 * - A chunk that is longer than its size, and trailers, are taken for the end of the body; the request runs if
 *   nothing else came with it, and its connection ends. A client that expects it is always told to continue.
 * - A head with obsolete folding, a blank before the colon or a control character is never taken for complete;
 *   nothing behind it on that connection is run, and the connection ends after 10 s.
 * - A client that closes its side of the connection behind its request gets no response: the library closes the other
 *   side at once, and offers no setting for it.
 * - The address of a connection is known while it is open and not when it ends, so connections cannot be counted by address.
 * - A request pipelined behind one that is still unanswered ends the connection; neither it nor the response is seen.
 */
import type {
  HttpRequest,
  TemplatedApp,
  HttpResponse as UwsResponse,
  us_listen_socket,
  us_socket,
} from 'uWebSockets.js';
import { ExchangeTransport } from './exchange.ts';
import { ReceivedRequest } from './received-request.ts';
import { explainListenFailure, type Transport, type TransportOptions } from './transport.ts';
import { HEADER_BLOCK_BYTES_MAX } from './transport-limits.ts';
import { UwsExchange } from './uws-exchange.ts';

/** Rejects where there is no binary for this platform and Node version. */
export async function createUwsTransport(options: TransportOptions): Promise<UwsTransport> {
  return new UwsTransport(await loadUws(), options);
}

export class UwsTransport extends ExchangeTransport implements Transport {
  readonly engine = 'uws';
  readonly #uws: UwsModule;
  readonly #app: TemplatedApp;
  readonly #options: TransportOptions;
  #listening: Listening | null = null;
  #openConnections = 0;
  #isFull = false;

  constructor(uws: UwsModule, options: TransportOptions) {
    super(options);
    this.#uws = uws;
    this.#options = options;
    const { tls } = options;
    this.#app = tls ? uws.SSLApp({ cert_file_name: tls.certFile, key_file_name: tls.keyFile }) : uws.App();
    this.#app.filter((res, change) => this.#countConnection(res, change));
    // Asking the library for the method of each request would cost a native call that its router has made already.
    this.#app.get('/*', (res, req) => this.#receive(res, req, 'GET'));
    // The router matches only the spelling that it is given here, with or without a query.
    for (const path of options.polledPaths ?? [])
      this.#app.get(path, (res, req) => this.#receive(res, req, 'GET', path));
    this.#app.post('/*', (res, req) => this.#receive(res, req, 'POST'));
    this.#app.put('/*', (res, req) => this.#receive(res, req, 'PUT'));
    this.#app.patch('/*', (res, req) => this.#receive(res, req, 'PATCH'));
    this.#app.any('/*', (res, req) => this.#receive(res, req, req.getCaseSensitiveMethod()));
  }

  get openConnections(): number {
    return this.#openConnections;
  }

  async listen(): Promise<{ readonly port: number }> {
    this.#listening = await listenOn(this.#uws, this.#app, this.#options);
    return { port: this.#listening.port };
  }

  drain(): void {
    this.stopResponses();
    this.#listening?.stop();
  }

  async close(): Promise<void> {
    this.drain();
    this.#app.close();
    this.closeServer();
  }

  #receive(res: UwsResponse, req: HttpRequest, method: string, path?: string): void {
    try {
      new UwsExchange(this.server, res, receiveHead(req, method, path ?? req.getUrl())).begin();
    } catch (error) {
      // A bug in the engine itself: what it threw would end the process, and all other connections with it.
      // Operators: report it with the log line
      this.#options.log.error(
        { err: error },
        'A connection was closed because of an error in the HTTP engine.',
      );
      res.close();
    }
  }

  #countConnection(res: UwsResponse, change: number): void {
    this.#openConnections += change;
    const { connectionsMax } = this.server.limits;
    if (this.#openConnections < connectionsMax) this.#isFull = false;
    if (this.#openConnections <= connectionsMax) return;
    if (!this.#isFull)
      // Operators: find the client, or allow more [connections](docs/limits.md#connections-and-queues)
      this.#options.log.warn({ connectionsMax }, 'Too many connections: new ones are closed.');
    this.#isFull = true;
    res.close();
  }
}

/** Everything is read here and now: `req` is gone when the callback returns. */
function receiveHead(req: HttpRequest, method: string, path: string): ReceivedRequest {
  // Declared as a string, but undefined when the target has no `?`.
  const received = new ReceivedRequest(method, path, req.getQuery() ?? '');
  req.forEach(ReceivedRequest.addHeader);
  return received;
}

// The native library: loading it, and listening with it.

/** The module's interface at run time, as far as it is used here; its type declarations leave some of it out. */
interface UwsModule {
  App(): TemplatedApp;
  SSLApp(options: { cert_file_name: string; key_file_name: string }): TemplatedApp;
  us_listen_socket_close(socket: us_listen_socket): void;
  us_socket_local_port(socket: us_socket): number;
  readonly LIBUS_LISTEN_EXCLUSIVE_PORT: number;
}

interface ListeningApp {
  listen(
    host: string,
    port: number,
    options: number,
    done: (socket: us_listen_socket | false) => void,
  ): unknown;
}

/** Loads the native module; rejects where there is no binary for this platform and Node version. */
export async function loadUws(): Promise<UwsModule> {
  // Read by the native code once, when it is loaded.
  process.env['UWS_HTTP_MAX_HEADERS_SIZE'] = String(HEADER_BLOCK_BYTES_MAX);
  const loaded = (await import('uWebSockets.js')) as unknown as UwsModule & { readonly default?: UwsModule };
  // The official releases are CommonJS, whose exports Node shows under `default` only.
  return loaded.App === undefined && loaded.default !== undefined ? loaded.default : loaded;
}

interface Listening {
  readonly port: number;
  /** Accepts no further connections. */
  stop(): void;
}

/** Rejects with the reason where it cannot listen. */
export async function listenOn(
  uws: UwsModule,
  app: TemplatedApp,
  { host, port, sharesPort }: Pick<TransportOptions, 'host' | 'port' | 'sharesPort'>,
): Promise<Listening> {
  const socket = await new Promise<us_listen_socket | false>((resolve) => {
    // Without the exclusive flag a second process would share the port, and half of the requests, in silence.
    const flags = sharesPort === true ? 0 : uws.LIBUS_LISTEN_EXCLUSIVE_PORT;
    (app as unknown as ListeningApp).listen(host, port, flags, resolve);
  });
  if (socket === false) throw await explainListenFailure(host, port);
  let isOpen = true;
  return {
    port: uws.us_socket_local_port(socket),
    stop() {
      if (isOpen) uws.us_listen_socket_close(socket);
      isOpen = false;
    },
  };
}
