/**
 * One request and its response, as far as both are the same on every engine. It is handled once, gets one response,
 * and ends at its deadline, whatever the handler does.
 */
import { ByteBudget, type ByteHolder } from './byte-budget.ts';
import { type DeadlineEntry, DeadlineQueue, systemClock } from './deadlines.ts';
import {
  BODIES_TOO_MANY,
  bodyTooLarge,
  HANDLER_FAILED,
  NO_BYTES,
  NO_RESPONSE,
  REQUESTS_TOO_MANY,
  type ReceivedRequest,
  type RequestRefusal,
  TOO_SLOW,
  WAITED_IN_VAIN,
} from './received-request.ts';
import { RequestRounds } from './request-rounds.ts';
import { BodyPieces, bytesOf, NO_HEADERS } from './response.ts';
import { ENDED_STREAM, type OpenStream, type StreamServer, type StreamStart, stopStreams } from './stream.ts';
import type {
  HttpResponse,
  Responder,
  ResponseStream,
  StreamHead,
  TransportOptions,
  TransportRequestHead,
} from './transport.ts';
import { resolveLimits } from './transport-limits.ts';
import { TrustedProxies } from './trusted-proxies.ts';

/** The part that all exchanges of a server share. */
export interface ExchangeServer extends StreamServer, Pick<TransportOptions, 'handlers'> {
  readonly proxies: TrustedProxies;
  /** Bodies that have not arrived whole. */
  readonly bodies: ByteBudget;
  readonly rounds: RequestRounds;
  /** Requests being received or handled. */
  readonly requests: DeadlineQueue;
  /** Responses that the client has not read yet. */
  readonly responses: DeadlineQueue;
  /** Set when the server stops: every response then ends its connection. */
  draining: boolean;
}

function createExchangeServer(options: TransportOptions): ExchangeServer {
  const { handlers, log, clock = systemClock } = options;
  const limits = resolveLimits(options.limits);
  return {
    handlers,
    log,
    limits,
    proxies: new TrustedProxies(options.trustedProxies ?? []),
    bodies: new ByteBudget(limits.bodiesBytesMax, clock),
    rounds: new RequestRounds(limits.roundMs, limits.waitingBytesMax),
    requests: new DeadlineQueue(limits.requestDeadlineMs, clock),
    responses: new DeadlineQueue(limits.responseDeadlineMs, clock),
    streams: new Set(),
    stalledStreams: new DeadlineQueue(limits.streamStallMs, clock),
    unread: new ByteBudget(limits.unreadBytesMax, clock),
    slowStreamCount: 0,
    draining: false,
  };
}

/** The part of a transport that is the same on every engine. */
export abstract class ExchangeTransport {
  protected readonly server: ExchangeServer;

  constructor(options: TransportOptions) {
    this.server = createExchangeServer(options);
  }

  get openRequests(): number {
    return this.server.requests.size + this.server.responses.size;
  }

  get openStreams(): number {
    return this.server.streams.size;
  }

  get unreadBytes(): number {
    return this.server.unread.bytes;
  }

  get evictedReaders(): number {
    return this.server.unread.evictedCount;
  }

  get slowStreams(): number {
    return this.server.slowStreamCount;
  }

  /** Makes every response the last of its connection, and ends all streams. */
  protected stopResponses(): void {
    this.server.draining = true;
    stopStreams(this.server.streams);
  }

  /** Ends the deadlines, once all connections are closed. */
  protected closeServer(): void {
    const { requests, responses, stalledStreams } = this.server;
    requests.close();
    responses.close();
    stalledStreams.close();
  }
}

export abstract class Exchange implements DeadlineEntry, Responder, ByteHolder {
  queue: DeadlineQueue | null = null;
  enteredAt = 0;
  aborted = false;
  protected hasResponded = false;
  /** Set when the rest of the connection cannot be trusted, or is not wanted. */
  protected mustClose = false;
  /** The body, while it is arriving: what has come, and room for more. */
  protected body: Uint8Array | null = null;
  /** Bytes of it that have come. */
  protected bodyBytes = 0;
  /** The client that its body counts for, while it is arriving. */
  client: string | undefined;
  /** Others needed the memory of its body; a refusal is on its way. */
  #isEvicted = false;
  /** The body of the response, while the client has not read all of it. */
  #unread: readonly Uint8Array[] | null = null;
  protected readonly server: ExchangeServer;
  protected readonly request: ReceivedRequest;
  /** Inside the handler, whose work the round counts already. */
  #isHandling = false;
  #isHalfClosed = false;
  /** Made when it is first asked for, which few requests do. */
  #unwanted: AbortController | null = null;

  constructor(server: ExchangeServer, request: ReceivedRequest) {
    this.server = server;
    this.request = request;
    request.connection = this;
  }

  /** The address of the other end of the connection; empty once the client has gone. */
  protected abstract peerAddress(): string;

  remoteAddress(): string {
    const { handlers, proxies } = this.server;
    return (
      handlers.handedOnFor?.(this.request)?.address ??
      proxies.callerOf(this.peerAddress(), this.request.headers)
    );
  }

  host(): string {
    return this.server.handlers.handedOnFor?.(this.request)?.host || this.request.header('host');
  }

  /** Writes a response that is fit to be sent. Called once at most, and never after an abort. */
  protected abstract write(response: HttpResponse): void;

  /** Starts a stream. Called once at most, instead of `write`, and never after an abort. */
  protected abstract open(start: StreamStart): OpenStream;

  /** Ends the connection at once. */
  protected abstract disconnect(): void;

  get isWanted(): boolean {
    return !this.hasResponded && !this.aborted;
  }

  get isAwaited(): boolean {
    return this.isWanted && !this.#isHalfClosed;
  }

  get signal(): AbortSignal {
    this.#unwanted ??= new AbortController();
    if (!this.isAwaited) this.#unwanted.abort();
    return this.#unwanted.signal;
  }

  send(response: HttpResponse): void {
    if (this.hasResponded) {
      const { path } = this.request;
      // Operators: report it with the log line
      this.server.log.warn(
        { path, status: response.status },
        'A second response to one request was ignored.',
      );
      return;
    }
    this.hasResponded = true;
    if (this.aborted) return;
    if (this.#isHandling || this.server.rounds.hasRoom()) this.#write(response);
    else this.#writeInRound(response);
  }

  #write(response: HttpResponse): void {
    this.queue?.leave(this);
    this.write(sendableResponse(this.server, response, this.request));
  }

  /** The body counts as unread until then. Where half of what may be unread is, the kernel gets it at once. */
  #writeInRound(response: HttpResponse): void {
    const { rounds, unread } = this.server;
    if (unread.isHalfFull) return this.#write(response);
    const { body } = response;
    this.awaitReader(...(body instanceof BodyPieces ? body : [bytesOf(body)]));
    rounds.awaitResponse(() => {
      if (this.aborted) return;
      this.release();
      this.#write(response);
    });
  }

  stream(head: StreamHead): ResponseStream | null {
    const { limits, streams, draining } = this.server;
    if (!this.isAwaited || draining || streams.size >= limits.streamsMax) return null;
    // An engine that does not know where the request ends could not close the connection behind a stream.
    if (this.mustClose && !this.request.isDelimited) return null;
    // Throws here, where the handler that made it still can answer otherwise.
    head.headers.startOf(head.status);
    if (this.request.method === 'HEAD') {
      this.send({ ...head, body: null });
      return ENDED_STREAM;
    }
    this.hasResponded = true;
    this.release();
    return this.open({ ...head, isLast: this.isLast });
  }

  *waitingBytes(): Iterable<Uint8Array> {
    if (this.#unread !== null) yield* this.#unread;
  }

  get copiedBytes(): number {
    return this.body?.byteLength ?? 0;
  }

  evict(): void {
    if (this.hasResponded) return this.disconnect();
    this.#isEvicted = true;
    this.#dropBody();
    // In a later turn, because this happens within the callback of another connection.
    setImmediate(() => this.refuse(BODIES_TOO_MANY, true));
  }

  expire(): void {
    if (this.hasResponded) this.disconnect();
    else if (this.body === null) this.refuse(NO_RESPONSE, false);
    else this.refuse(TOO_SLOW, true);
  }

  /** The client is gone. */
  abort(): void {
    this.aborted = true;
    this.release();
    this.#unwanted?.abort();
  }

  /** The client sends nothing more. It may still read, or be gone: that shows only when something is sent to it. */
  halfClose(): void {
    this.#isHalfClosed = true;
    this.#unwanted?.abort();
  }

  /** Whether the response ends the connection. */
  protected get isLast(): boolean {
    return this.mustClose || this.server.draining || this.request.wantsClose;
  }

  /** Whether anything of the body may be kept before it is whole. */
  protected keepsBody(): boolean {
    try {
      const { admit } = this.server.handlers;
      if (admit === undefined) return true;
      this.client = admit(this.request) ?? undefined;
      return this.client !== undefined;
    } catch (error) {
      // Operators: report it with the log line
      this.server.log.error(
        { err: error, path: this.request.path },
        'The check of a request by its head failed.',
      );
      return false;
    }
  }

  /** Hands the request over by its head alone, to be refused. */
  protected handleWithoutBody(): void {
    this.request.bodyDropped = true;
    this.handle();
  }

  /**
   * Keeps a copy of a piece of the body. After a refusal nothing is kept any more. However many pieces there are, they are in one block of memory:
   * a client chooses them, and an object for each would take a hundred times as much as a byte.
   */
  protected keep(piece: Uint8Array): RequestRefusal | null {
    const { limits, bodies } = this.server;
    const bytes = this.bodyBytes + piece.byteLength;
    if (bytes > limits.bodyBytesMax) {
      this.#dropBody();
      return bodyTooLarge(limits.bodyBytesMax);
    }
    const before = this.copiedBytes;
    const body = this.#withRoomFor(bytes);
    body.set(piece, this.bodyBytes);
    this.body = body;
    this.bodyBytes = bytes;
    if (body.byteLength > before) bodies.takeCopied(this, body.byteLength - before);
    return null;
  }

  /** Doubles what is too small, so that many small pieces are copied a few times only. */
  #withRoomFor(bytes: number): Uint8Array {
    const body = this.body ?? NO_BYTES;
    if (bytes <= body.byteLength) return body;
    const { chunked, contentLength } = this.request;
    const most = chunked ? this.server.limits.bodyBytesMax : contentLength;
    const larger = Buffer.allocUnsafeSlow(Math.max(bytes, Math.min(2 * body.byteLength, most)));
    larger.set(body);
    return larger;
  }

  /** Gives the request its whole body, which no longer counts as unfinished. */
  protected takeBody(): void {
    const { body, bodyBytes } = this;
    if (body !== null)
      this.request.body = body.byteLength === bodyBytes ? body : Buffer.from(body.subarray(0, bodyBytes));
    this.#dropBody();
  }

  #dropBody(): void {
    this.server.bodies.leave(this);
    this.body = null;
    this.bodyBytes = 0;
    this.client = undefined;
  }

  /** Hands the request over, in a later round when this one is full, unless it was refused, or its client left, in the meantime. */
  protected handle(): void {
    if (this.hasResponded || this.aborted || this.#isEvicted) return;
    const { rounds } = this.server;
    if (rounds.hasRoom()) this.#handle();
    else if (!rounds.awaitRequest(this.request.bytes, () => this.#handleWaiting()))
      this.refuse(REQUESTS_TOO_MANY, false);
  }

  #handleWaiting(): void {
    if (this.hasResponded || this.aborted) return;
    if (this.isAwaited) this.#handle();
    else this.refuse(WAITED_IN_VAIN, false);
  }

  #handle(): void {
    this.#isHandling = true;
    try {
      const outcome: unknown = this.server.handlers.handle(this.request, this);
      // The type says void, but an async function fits it, and its rejection would end the process.
      if (outcome instanceof Promise) outcome.catch((error: unknown) => this.#fail(error));
    } catch (error) {
      this.#fail(error);
    }
    this.#isHandling = false;
  }

  protected refuse(refusal: RequestRefusal, mustClose: boolean): void {
    if (this.hasResponded || this.aborted) return;
    this.mustClose ||= mustClose;
    this.release();
    this.send(refusalResponse(this.server, refusal, this.request));
    this.#unwanted?.abort();
  }

  /** The response is on its way, and `bytes` of it wait for the client. May disconnect it at once. */
  protected awaitReader(...bytes: readonly Uint8Array[]): void {
    this.server.responses.enter(this);
    this.#unread = bytes;
    for (const piece of bytes) {
      // An earlier one may have been too much.
      if (this.#unread === null) return;
      this.server.unread.take(this, piece);
    }
  }

  /** Releases the server's resources. */
  protected release(): void {
    this.queue?.leave(this);
    if (this.#unread !== null) {
      this.server.unread.leave(this);
      this.#unread = null;
    }
    if (this.body !== null) this.#dropBody();
  }

  #fail(error: unknown): void {
    // Operators: report it with the log line
    this.server.log.error({ err: error, path: this.request.path }, 'A request handler failed.');
    this.refuse(HANDLER_FAILED, false);
  }
}

// Makes sure that there is always something to send. An invalid response becomes a 500, and when the body of that 500
// cannot be made either, it is sent without a body. So an engine can respond whatever happens above it.

type Above = Pick<TransportOptions, 'handlers' | 'log'>;

/** The response to a request that is refused for `refusal`; `head` is null where there is none. Never throws. */
export function refusalResponse(
  above: Above,
  refusal: RequestRefusal,
  head: TransportRequestHead | null,
): HttpResponse {
  try {
    const response = above.handlers.refuse(refusal.status, refusal.reason, head);
    response.headers.startOf(response.status);
    return response;
  } catch (error) {
    // Operators: report it with the log line
    above.log.error(
      { err: error, status: refusal.status },
      'The response to a refused request could not be made.',
    );
    return { status: refusal.status, headers: NO_HEADERS, body: null };
  }
}

/** Returns `response`, or a 500 when it is invalid. Never throws. */
export function sendableResponse(
  above: Above,
  response: HttpResponse,
  head: TransportRequestHead,
): HttpResponse {
  try {
    response.headers.startOf(response.status);
    return response;
  } catch (error) {
    // Operators: report it with the log line
    above.log.error({ err: error, status: response.status }, 'A response was invalid and was not sent.');
    return refusalResponse(above, HANDLER_FAILED, head);
  }
}
