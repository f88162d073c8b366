/**
 * One request and its response on node:http.
 *
 * Node's parser frames requests strictly, skips what was not read of a body, and answers pipelined requests in
 * order; what is left to do here is to keep in step with the other engine.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Exchange, type ExchangeServer } from '../../http/transport/exchange.ts';
import {
  bodyTooLarge,
  NO_BYTES,
  ReceivedRequest,
  type RequestRefusal,
  UNKNOWN_VERSION,
} from '../../http/transport/received-request.ts';
import { BodyPieces, byteLengthOf, bytesOf, isBodiless } from '../../http/transport/response.ts';
import { OpenStream, type StreamServer, type StreamStart } from '../../http/transport/stream.ts';
import type { HttpResponse } from '../../http/transport/transport.ts';

/** Bytes of the pieces of a body that are written in one turn of the event loop. */
const TURN_BYTES_MAX = 1024 * 1024;

export class NodeExchange extends Exchange {
  readonly #message: IncomingMessage;
  readonly #res: ServerResponse;
  readonly #waitsForContinue: boolean;
  #endsConnection = false;
  #stream: OpenStream | null = null;

  /** The head has arrived; whatever comes before it on the connection, its deadline runs from here. */
  constructor(
    server: ExchangeServer,
    message: IncomingMessage,
    res: ServerResponse,
    waitsForContinue: boolean,
  ) {
    super(server, receiveHead(message));
    this.#message = message;
    this.#res = res;
    this.#waitsForContinue = waitsForContinue;
    res.once('finish', () => this.release());
    server.requests.enter(this);
  }

  /** The response ends the connection, so nothing behind this request may run. */
  get endsConnection(): boolean {
    return this.#endsConnection;
  }

  /** Its turn has come: all requests before it on the connection have been answered. */
  begin(): void {
    if (this.hasResponded || this.aborted) return;
    const { limits } = this.server;
    const refusal = this.request.judge(limits.targetBytesMax);
    const isTooLarge = this.request.contentLength > limits.bodyBytesMax;
    if (refusal !== null) this.refuse(refusal, true);
    else if (isTooLarge) this.refuse(bodyTooLarge(limits.bodyBytesMax), this.#waitsForContinue);
    else if (this.request.expectsBody) this.#receiveBody();
    else this.handle();
  }

  protected peerAddress(): string {
    return this.#message.socket.remoteAddress ?? '';
  }

  override abort(): void {
    super.abort();
    this.#stream?.abort();
  }

  /** Nobody would notice that the client of a stream has gone, until something is written to it. */
  override halfClose(): void {
    if (this.#stream === null) super.halfClose();
    else this.disconnect();
  }

  /** The parser found the rest of the connection malformed. */
  cutOff(refusal: RequestRefusal): void {
    if (this.body !== null) this.refuse(refusal, true);
    // This request was whole and may have been acted on: what is wrong came after it.
    else this.disconnect();
  }

  protected disconnect(): void {
    this.#message.socket.destroy();
  }

  protected open(start: StreamStart): OpenStream {
    this.#endsConnection = start.isLast;
    this.#stream = new NodeStream(this.server, {
      socket: this.#message.socket,
      res: this.#res,
      start,
      whenEnded: () => this.server.responses.enter(this),
    });
    return this.#stream;
  }

  protected write(response: HttpResponse): void {
    this.server.responses.enter(this);
    this.#endsConnection = this.isLast;
    const { status, body } = response;
    const headers = [...response.headers.pairs];
    if (!isBodiless(status)) headers.push('content-length', String(byteLengthOf(body)));
    if (this.#endsConnection) headers.push('connection', 'close');
    this.#res.writeHead(status, headers);
    if (isBodiless(status) || this.request.method === 'HEAD') this.#res.end();
    else if (body instanceof BodyPieces && body.areLarge) this.#writePieces(body);
    else this.#writeBytes(bytesOf(body));
  }

  #writeBytes(bytes: Uint8Array): void {
    if (bytes.byteLength > TURN_BYTES_MAX) {
      this.awaitReader(bytes);
      return this.#writeInTurns(partsOf(bytes));
    }
    this.#res.end(bytes);
    if (this.#message.socket.writableLength > 0) this.awaitReader(bytes);
  }

  #writePieces(body: BodyPieces): void {
    this.awaitReader(...body);
    this.#writeInTurns(body[Symbol.iterator]());
  }

  /** Writes pieces as the reader makes room, and some in each turn of the event loop at most. */
  #writeInTurns(pieces: Iterator<Uint8Array>): void {
    const write = (): void => {
      let written = 0;
      while (!this.aborted) {
        const { done, value } = pieces.next();
        if (done === true) return void this.#res.end();
        written += value.byteLength;
        const hasRoom = this.#res.write(value);
        if (!hasRoom) return void this.#res.once('drain', () => setImmediate(write));
        if (written >= TURN_BYTES_MAX) return void setImmediate(write);
      }
    };
    write();
  }

  #receiveBody(): void {
    if (this.#waitsForContinue && !this.keepsBody()) {
      // The client may send its body or not, so nobody could tell where a next request begins.
      this.mustClose = true;
      return this.handleWithoutBody();
    }
    this.body = NO_BYTES;
    this.#message.on('data', (piece: Buffer) => this.#receive(piece));
    this.#message.once('end', () => this.#complete());
    if (this.#waitsForContinue) this.#res.writeContinue();
  }

  #receive(piece: Buffer): void {
    if (this.body === null) return;
    const isWhole = piece.byteLength === this.request.contentLength;
    if (this.bodyBytes === 0 && !isWhole && !this.#waitsForContinue && !this.keepsBody()) {
      this.body = null;
      return this.handleWithoutBody();
    }
    const refusal = this.keep(piece);
    if (refusal !== null) this.refuse(refusal, false);
  }

  #complete(): void {
    if (this.body === null) return;
    this.takeBody();
    this.handle();
  }
}

function* partsOf(bytes: Uint8Array): Generator<Uint8Array, void> {
  for (let at = 0; at < bytes.byteLength; at += TURN_BYTES_MAX) yield bytes.subarray(at, at + TURN_BYTES_MAX);
}

function receiveHead(message: IncomingMessage): ReceivedRequest {
  const target = message.url ?? '';
  const question = target.indexOf('?');
  const path = question === -1 ? target : target.slice(0, question);
  const query = question === -1 ? '' : target.slice(question + 1);
  const request = new ReceivedRequest(message.method ?? '', path, query);
  // The parser lets 2.0 and 0.9 pass as well.
  if (message.httpVersionMajor !== 1) request.refusal = UNKNOWN_VERSION;
  const { rawHeaders } = message;
  for (let i = 0; i < rawHeaders.length; i += 2)
    ReceivedRequest.addHeader(rawHeaders[i]!.toLowerCase(), rawHeaders[i + 1]!);
  return request;
}

// A stream on node:http, which chunks what is written, and keeps by reference what the kernel does not take.

interface NodeStreamOptions {
  readonly socket: Socket;
  readonly res: ServerResponse;
  readonly start: StreamStart;
  /** Called when the response is ended, of which some may still wait for the client. */
  readonly whenEnded: () => void;
}

class NodeStream extends OpenStream {
  readonly #socket: Socket;
  readonly #res: ServerResponse;
  /** Not sent yet, as on the other engine: it leaves with the first bytes. */
  #start: StreamStart | null;
  readonly #whenEnded: () => void;

  constructor(server: StreamServer, { socket, res, start, whenEnded }: NodeStreamOptions) {
    super(server);
    this.#socket = socket;
    this.#res = res;
    this.#start = start;
    this.#whenEnded = whenEnded;
    res.on('drain', () => this.drained());
  }

  protected offer(piece: Uint8Array): boolean {
    if (this.#start !== null) this.#writeHead(this.#start, []);
    return this.#res.write(piece);
  }

  protected finish(): void {
    if (this.#start !== null) this.#writeHead(this.#start, ['content-length', '0']);
    this.#whenEnded();
    this.#res.end();
  }

  protected disconnect(): void {
    this.#socket.destroy();
    // The connection's own event comes in a later turn, and until then nothing may be written.
    this.abort();
  }

  #writeHead({ headers, status, isLast }: StreamStart, framing: readonly string[]): void {
    this.#start = null;
    this.#res.writeHead(status, [...headers.pairs, ...framing, ...(isLast ? ['connection', 'close'] : [])]);
  }
}
