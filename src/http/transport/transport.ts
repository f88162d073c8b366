/**
 * The seam between HTTP engines and everything above them.
 *
 * What an engine guarantees, whichever it is:
 * - `handle` runs once per request, after the whole body has arrived and its framing has been checked. A request that
 *   is malformed, too large or too slow is refused before that, so a handler may act on what it is given. The exception
 *   is a request whose body `admit` did not want: it is handed over by its head alone, to be refused.
 * - Every request handed over ends: with the first `send` or `stream`, with a 503 at the deadline, or with the connection.
 *   A second `send` is logged and ignored; one after the client has gone does nothing.
 * - A handler that throws, or a response that must not be sent, becomes a 500. Neither ends the process.
 *
 * Two engines stand behind it: uWebSockets.js, and node:http for platforms without a uWebSockets binary. The same
 * test suite runs over both, and nothing above this file may know which one it is talking to.
 */

import { createServer, isIPv6 } from 'node:net';
import { performance } from 'node:perf_hooks';
import type { TransportClock } from './deadlines.ts';
import type { ResponseBody, ResponseHeaders } from './response.ts';
import type { TransportLimits } from './transport-limits.ts';

export interface TransportRequestHead {
  /** The method as sent: methods are case-sensitive, so `get` is not `GET`. */
  readonly method: string;
  /** The part before `?`, undecoded. */
  readonly path: string;
  /** The part after `?`, undecoded; empty when there is none. */
  readonly query: string;
  /** The first header of that lower-case name; empty when absent. Bytes arrive as Latin-1 characters. */
  header(name: string): string;
  /** The address of the caller: the other end of the connection, or who is behind the trusted proxies. Empty once the client has gone. */
  remoteAddress(): string;
  /** The header Host, or what it was where another node of the cluster handed the request on. */
  host(): string;
}

/** The caller of a request as another node of the cluster says. */
export interface HandedOn {
  readonly address: string;
  readonly host: string;
}

export interface TransportRequest extends TransportRequestHead {
  /** The whole body; it belongs to the handler, no engine writes to it any more. */
  readonly body: Uint8Array;
  /** Whether there is at least one byte of body. */
  readonly hasBody: boolean;
  /** Whether `admit` decided that the body is not kept. Such a request must be refused. */
  readonly bodyDropped: boolean;
}

export interface HttpResponse {
  readonly status: number;
  /** Without `content-length` and `connection`, which the engine writes. */
  readonly headers: ResponseHeaders;
  /** Shared by reference where possible: must not change after `send`. Strings are sent as UTF-8. */
  readonly body: ResponseBody;
}

export interface StreamHead {
  readonly status: number;
  readonly headers: ResponseHeaders;
}

export interface ResponseStream {
  /**
   * Sends `bytes`, or keeps them until the client has made room. Returns whether everything has been taken so far; when
   * not, the owner should wait for `onDrain`. They are shared by reference and must not change. The head of the
   * response leaves with the first bytes. Without effect once the stream is over.
   */
  write(bytes: Uint8Array): boolean;
  /** Ends the response once the client has taken what waits. */
  close(): void;
  /** Disconnects a client that is too slow to follow. */
  giveUp(): void;
  /** Whether `write` still has an effect. */
  readonly isOpen: boolean;
  /** Bytes that wait for the client. */
  readonly bufferedBytes: number;
  /** Calls back each time that everything which had to wait has been taken. */
  onDrain(callback: () => void): void;
  /** Calls back once if the stream ends without the owner's `close`: the client left or was too slow, or a stop. */
  onAborted(callback: () => void): void;
}

export interface Responder {
  /** Sends the response. For HEAD it is the same as for GET, and the engine leaves out the body. */
  send(response: HttpResponse): void;
  /**
   * Answers with a response that stays open. Null when the server takes no further stream, because there are too many
   * or because it stops, when the request was answered already or its client is gone, and for a request with a chunked
   * body: `send` a 503 then.
   */
  stream(head: StreamHead): ResponseStream | null;
  /** The client is gone. What the request set in motion may still have happened. */
  readonly aborted: boolean;
  /** Whether a response is wanted: the client is there, and nothing was sent yet, not even at the deadline. */
  readonly isWanted: boolean;
  /**
   * Whether work for the response is worth beginning: a response is wanted, and the client has not closed its side of the
   * connection. After that, nobody can tell whether it still reads. What is ready is sent to it all the same.
   */
  readonly isAwaited: boolean;
  /** Aborted once no response is awaited any more. */
  readonly signal: AbortSignal;
}

export type RequestHandler = (request: TransportRequest, responder: Responder) => void;

/** The part of pino's interface that an engine needs. */
export interface TransportLog {
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** The handlers of requests. They may change while the server listens. */
export interface RequestHandlers {
  readonly handle: RequestHandler;
  /**
   * The client that a body which arrives in pieces counts for, judged by the head of its request. Null means that `handle`
   * refuses the request whatever its body says: it is called at once, with no body. Absent: every body is kept.
   */
  readonly admit?: (head: TransportRequestHead) => string | null;
  /**
   * Makes the response to a request that never reaches `handle`, or on which `handle` failed. `head` is null where the
   * parser could make nothing of it.
   */
  readonly refuse: (status: number, reason: string, head: TransportRequestHead | null) => HttpResponse;
  /** The caller of a request that another node of the cluster hands on; null for every other request. */
  readonly handedOnFor?: (request: Pick<TransportRequest, 'header'>) => HandedOn | null;
}

export interface TransportOptions {
  readonly host: string;
  /** 0 lets the operating system choose. */
  readonly port: number;
  readonly handlers: RequestHandlers;
  readonly log: TransportLog;
  /** Paths of GET requests that come far more often than others, as they are sent, without a query: an engine may know them sooner. */
  readonly polledPaths?: readonly string[];
  readonly limits?: Partial<TransportLimits>;
  /** Addresses and ranges of proxies whose X-Forwarded-For says who calls. */
  readonly trustedProxies?: readonly string[];
  readonly clock?: TransportClock;
  /** PEM files of a certificate and its key: HTTPS and nothing else. Absent: HTTP. */
  readonly tls?: { readonly certFile: string; readonly keyFile: string } | null;
  /**
   * Whether other processes may listen on the same port, among which the system shares connections out: on Linux, with uWebSockets.js or, from
   * Node 22.12 on, with node:http.
   */
  readonly sharesPort?: boolean;
}

export interface Transport {
  readonly engine: 'uws' | 'node';
  /** Resolves when connections are accepted; rejects with the reason when it cannot listen on the address. */
  listen(): Promise<{ readonly port: number }>;
  /**
   * Stops accepting connections. Requests on open ones are still answered, each with `connection: close`; streams are
   * ended, a few at a time.
   */
  drain(): void;
  /** Ends every connection, answered or not: drain and wait for `openRequests` and `openStreams` to reach 0 first. */
  close(): Promise<void>;
  readonly openConnections: number;
  /** Requests whose head has arrived and whose response has not been handed to the kernel whole. */
  readonly openRequests: number;
  /** Streams that have not ended; none of them is among `openRequests`. */
  readonly openStreams: number;
  /** Bytes of responses in memory because clients have not read them; what many wait for counts once. */
  readonly unreadBytes: number;
  /** Clients disconnected since the start because they left too much unread. */
  readonly evictedReaders: number;
  /** Streams that ended since the start while their clients did not take what was sent; some are among the evicted readers. */
  readonly slowStreams: number;
}

// Finds the reason why listening on an address failed. uWebSockets.js gives no reason, so node:net tries the same and
// gives its error.

const BUSY = 'EADDRINUSE';

const ADVICE = new Map([
  [BUSY, 'another process listens there; stop it, or choose another port'],
  ['EACCES', 'this user may not listen on that port; choose one above 1023'],
  ['EADDRNOTAVAIL', 'this machine does not have that address; check the host setting'],
  ['ENOTFOUND', 'that host name is unknown; check the host setting'],
  ['EAI_AGAIN', 'that host name cannot be looked up; check the host setting'],
]);

/** The server cannot listen on the address of its settings. The message is everything that an operator needs. */
export class ListenError extends Error {
  override readonly name = 'ListenError';
  /** Another process has the port and may give it up. Otherwise the settings cannot be used on this machine. */
  readonly isBusy: boolean;

  constructor(host: string, port: number, cause: Error | null) {
    const code = cause !== null && 'code' in cause ? String(cause.code) : '';
    const why = ADVICE.get(code) ?? cause?.message ?? 'the operating system does not say why; try again';
    super(`Cannot listen on ${originOf(host, port)}: ${why}.`, { cause });
    this.isBusy = code === BUSY;
  }
}

export async function explainListenFailure(host: string, port: number): Promise<ListenError> {
  const cause = await new Promise<Error | null>((resolve) => {
    const server = createServer();
    server.once('error', resolve);
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(null)));
  });
  return new ListenError(host, port, cause);
}

/** How often a stop checks whether requests are still under way. */
const DRAIN_LOOK_MS = 10;

/** Closes a transport once the requests and streams that it has begun are over, at the latest after so many milliseconds. */
export async function drainAndClose(transport: Transport, drainMs: number): Promise<void> {
  transport.drain();
  const deadline = performance.now() + drainMs;
  while (transport.openRequests + transport.openStreams > 0 && performance.now() < deadline)
    await new Promise((resolve) => setTimeout(resolve, DRAIN_LOOK_MS));
  await transport.close();
}

/**
 * The origin at which a server listens, in a form that browsers accept: `http://0.0.0.0:4242`, and with an IPv6
 * address `http://[::1]:4242`.
 */
export function originOf(host: string, port: number): string {
  return `http://${isIPv6(host) ? `[${host}]` : host}:${port}`;
}
