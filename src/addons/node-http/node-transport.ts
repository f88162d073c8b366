/**
 * HTTP on node:http: the engine for every platform and Node version, and the one with the stricter parser. This
 * file owns the server and its connections; what happens to one request is in node-exchange.ts.
 *
 * Requests of one connection are handled one after the other: a GET pipelined behind a PUT sees what that changed.
 * (Node announces a request before the body of the one before it has been read.)
 *
 * Timers run before the sockets are read. After a pause of the process that was longer than the time that a connection may be silent, the
 * request that has arrived meanwhile is read first, because its connection was not silent.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { Socket } from 'node:net';
import { ExchangeTransport, refusalResponse } from '../../http/transport/exchange.ts';
import {
  HEAD_TOO_LARGE,
  MALFORMED,
  type RequestRefusal,
  TOO_SLOW,
} from '../../http/transport/received-request.ts';
import { bytesOf } from '../../http/transport/response.ts';
import { ListenError, type Transport, type TransportOptions } from '../../http/transport/transport.ts';
import { HEADER_BLOCK_BYTES_MAX } from '../../http/transport/transport-limits.ts';
import { NodeExchange } from './node-exchange.ts';

/** How late a head that takes too long may be noticed. */
const HEAD_CHECK_MS = 1_000;

/**
 * Requests waiting on one connection, its responses being due in order. Protects memory from a client that pipelines
 * behind a slow response; no client in use has more than a few under way.
 */
const PIPELINED_MAX = 64;

/**
 * `connectionsPerAddressMax`: open connections of one address. Protects the other clients from one that takes all; infinite where a proxy,
 * which has one address, is in front.
 */
export function createNodeTransport(
  options: TransportOptions,
  connectionsPerAddressMax = Number.POSITIVE_INFINITY,
): Transport {
  return new NodeTransport(options, connectionsPerAddressMax);
}

interface Connection {
  /** The unanswered requests, oldest first. */
  readonly line: NodeExchange[];
  /**
   * Whether a response has said that it is the last. It can be sent, and out of the line, before the parser is through
   * with the bytes behind its request: with more than 32 headers it calls back several times for one packet.
   */
  isEnding: boolean;
  /** Requests whose heads have arrived. */
  requestCount: number;
}

/** Node's own setting, which its documentation leaves out: a client that has sent all it has to say gets its response. */
interface HalfOpenServer {
  httpAllowHalfOpen: boolean;
}

class NodeTransport extends ExchangeTransport implements Transport {
  readonly engine = 'node';
  readonly #options: TransportOptions;
  readonly #connectionsPerAddressMax: number;
  readonly #http: ReturnType<typeof createServer>;
  readonly #connections = new Map<Socket, Connection>();
  readonly #perAddress = new AddressCounts();
  #isFull = false;

  constructor(options: TransportOptions, connectionsPerAddressMax: number) {
    super(options);
    this.#options = options;
    this.#connectionsPerAddressMax = connectionsPerAddressMax;
    const { limits } = this.server;
    const { tls } = options;
    const settings = {
      maxHeaderSize: HEADER_BLOCK_BYTES_MAX,
      headersTimeout: limits.idleMs,
      keepAliveTimeout: limits.idleMs,
      connectionsCheckingInterval: Math.min(HEAD_CHECK_MS, limits.idleMs),
      // Requests have a deadline of their own, which comes first; this ends bodies sent on after a refusal.
      requestTimeout: limits.requestDeadlineMs + limits.idleMs,
      // Judged with the other headers, so that the refusal is worded like them.
      requireHostHeader: false,
      noDelay: true,
    };
    this.#http = tls
      ? createSecureServer({ ...settings, cert: readFileSync(tls.certFile), key: readFileSync(tls.keyFile) })
      : createServer(settings);
    this.#attach();
  }

  get openConnections(): number {
    return this.#connections.size;
  }

  listen(): Promise<{ readonly port: number }> {
    const { host, port, sharesPort = false } = this.#options;
    // Node before 22.12 does not know `reusePort`, nor do its types: a second process finds the port taken there.
    const where = { host, port, exclusive: true, reusePort: sharesPort };
    return new Promise((resolve, reject) => {
      this.#http.once('error', (error) => reject(new ListenError(host, port, error)));
      this.#http.listen(where, () => {
        const address = this.#http.address();
        resolve({ port: address !== null && typeof address === 'object' ? address.port : port });
      });
    });
  }

  drain(): void {
    this.stopResponses();
    if (this.#http.listening) this.#http.close();
  }

  async close(): Promise<void> {
    this.drain();
    const ended = [...this.#connections.keys()].map(
      (socket) => new Promise<void>((resolve) => void socket.once('close', () => resolve())),
    );
    this.#http.closeAllConnections();
    await Promise.all(ended);
    this.closeServer();
  }

  #attach(): void {
    // Node drops headers beyond its default of 2,000 unseen; the block is bounded, and they are counted later.
    this.#http.maxHeadersCount = 0;
    (this.#http as unknown as HalfOpenServer).httpAllowHalfOpen = true;
    const opening = this.#options.tls ? 'secureConnection' : 'connection';
    this.#http.on(opening, (socket: Socket) => this.#admit(socket));
    this.#http.on('request', (message, res) => this.#receive(message, res, false));
    this.#http.on('checkContinue', (message, res) => this.#receive(message, res, true));
    this.#http.on('clientError', (error, socket) => this.#reject(error, socket as Socket));
    this.#http.on('timeout', (socket) => endUnlessReceiving(socket));
  }

  #admit(socket: Socket): void {
    const { connectionsMax } = this.server.limits;
    const connectionsPerAddressMax = this.#connectionsPerAddressMax;
    const address = socket.remoteAddress ?? '';
    const isCrowded = this.#perAddress.of(address) >= connectionsPerAddressMax;
    if (isCrowded || this.#connections.size >= connectionsMax) {
      // Operators: find the client, or allow more [connections](docs/limits.md#connections-and-queues)
      if (isCrowded)
        this.#warn(
          { connectionsPerAddressMax, address },
          'Too many connections of one address: new ones are closed.',
        );
      else this.#warn({ connectionsMax }, 'Too many connections: new ones are closed.');
      socket.destroy();
      return;
    }
    this.#perAddress.add(address, 1);
    const connection: Connection = { line: [], isEnding: false, requestCount: 0 };
    this.#connections.set(socket, connection);
    socket.once('close', () => {
      for (const exchange of connection.line) exchange.abort();
      this.#connections.delete(socket);
      this.#perAddress.add(address, -1);
      this.#isFull = false;
    });
    socket.once('end', () => {
      for (const exchange of connection.line) exchange.halfClose();
    });
  }

  /** Once until a connection ends, because a flood would fill the log. */
  #warn(fields: object, message: string): void {
    if (!this.#isFull) this.#options.log.warn(fields, message);
    this.#isFull = true;
  }

  /** Queues the request behind those before it on its connection. */
  #receive(message: IncomingMessage, res: ServerResponse, waitsForContinue: boolean): void {
    const connection = this.#connections.get(message.socket);
    assert(connection !== undefined, 'requests come from admitted connections only');
    const { line } = connection;
    connection.requestCount += 1;
    if (connection.isEnding) return;
    if (line.length === PIPELINED_MAX) {
      message.socket.destroy();
      return;
    }
    const exchange = new NodeExchange(this.server, message, res, waitsForContinue);
    res.once('finish', () => {
      line.shift();
      connection.isEnding ||= exchange.endsConnection;
      if (!connection.isEnding) line[0]?.begin();
    });
    if (line.push(exchange) === 1) exchange.begin();
  }

  /** The parser gave up on a connection: within a request's body, or where a head should be. */
  #reject(error: Error, socket: Socket): void {
    const connection = this.#connections.get(socket);
    const last = connection?.line.at(-1);
    const refusal = refusalOf(error);
    if (last !== undefined) return last.cutOff(refusal);
    if (connection === undefined || refusal !== TOO_SLOW)
      return this.#refuseHead(connection, refusal, socket);
    const { requestCount } = connection;
    setImmediate(() => {
      if (connection.requestCount === requestCount) this.#refuseHead(connection, refusal, socket);
    });
  }

  #refuseHead(connection: Connection | undefined, refusal: RequestRefusal, socket: Socket): void {
    // Behind the last response of a connection nothing is said any more.
    if (connection === undefined || connection.isEnding || !socket.writable) return void socket.destroy();
    connection.isEnding = true;
    socket.end(this.#rawRefusal(refusal), () => socket.destroy());
  }

  #rawRefusal(refusal: RequestRefusal): Buffer {
    const response = refusalResponse(this.server, refusal, null);
    const body = bytesOf(response.body);
    const lines = [
      `HTTP/1.1 ${response.headers.startOf(response.status)}`,
      'connection: close',
      `content-length: ${body.byteLength}`,
    ];
    return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`), body]);
  }
}

/** Ends a connection that was silent for as long as it may be, where the kernel has nothing from it either. */
function endUnlessReceiving(socket: Socket): void {
  const { bytesRead } = socket;
  setImmediate(() => {
    if (socket.bytesRead === bytesRead) socket.destroy();
  });
}

function refusalOf(error: Error): RequestRefusal {
  const code = 'code' in error ? error.code : '';
  if (code === 'HPE_HEADER_OVERFLOW') return HEAD_TOO_LARGE;
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return TOO_SLOW;
  return MALFORMED;
}

/** How many connections each address has open. An entry goes with its last connection, so there are as many at most. */
class AddressCounts {
  readonly #counts = new Map<string, number>();

  of(address: string): number {
    return this.#counts.get(address) ?? 0;
  }

  add(address: string, change: 1 | -1): void {
    const count = this.of(address) + change;
    if (count === 0) this.#counts.delete(address);
    else this.#counts.set(address, count);
  }
}
