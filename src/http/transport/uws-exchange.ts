/**
 * One request and its response on uWebSockets.js.
 *
 * The rules of that library which this file keeps, so that nobody else has to know them:
 * - Nothing is called on `res` after the response or an abort: that throws, and a throw inside a callback ends the
 *   process. Every use goes through this class, which knows.
 * - An abort handler must be there before the callback returns without a response.
 * - The parser runs on to the next request in its buffer as soon as the callback returns. So whatever was refused,
 *   and every chunked request (whose trailers the parser takes for a new request), is answered from a later turn of
 *   the event loop: meeting a further request before that, the library closes the connection, and what was
 *   smuggled never runs.
 * - A header line without a name ends the list of headers for the library: it hides the lines behind it, a length among them, from
 *   `forEach`, `getHeader` and the library's own framing, which then takes the body for a request. Nothing shows it, so a request
 *   without a visible length is treated like a chunked one; so is one that asks for the connection to end, behind which the library
 *   would go on. GET and HEAD are spared, or each read would cost a connection: docs/decisions/http.md says what that leaves open.
 * - `end` copies what the socket does not take, also for a client that pipelines requests and never reads. So
 *   bodies are offered with `tryEnd`, from the one shared buffer, as the reader makes room; and a response that waits
 *   for its reader is unanswered to the library, which then refuses further requests. That costs a twentieth of a
 *   cached read, so small bodies are spared it most times: see COPIED_BYTES_MEAN.
 */
import type { HttpResponse as UwsResponse } from 'uWebSockets.js';
import { Exchange, type ExchangeServer } from './exchange.ts';
import { bodyTooLarge, NO_BYTES, type ReceivedRequest, type RequestRefusal } from './received-request.ts';
import { BodyPieces, byteLengthOf, bytesOf, isBodiless, type ResponseBody } from './response.ts';
import { OpenStream, type StreamServer, type StreamStart } from './stream.ts';
import type { HttpResponse } from './transport.ts';
import { BodySender, OFFERED_BYTES_MAX, scratch, sendClosingHead } from './uws-body.ts';

/** Copied for one connection at most when `end` is used, which is what a client that never reads may cost. */
const COPIED_BODY_BYTES_MAX = 16 * 1024;

/**
 * Bodies of up to 16 KiB are sent with `end`, except for a share of them, chosen at random, that grows with their size. A client
 * that does not read meets a `tryEnd`, which stops it, after this many bytes on average, however it mixes its requests with
 * those of others. The probability that 25 times as many are copied for it is below 1 in 10^10.
 */
const COPIED_BYTES_MEAN = 32 * 1024;

/** Headers are copied too. */
const HEAD_BYTES = 512;

/**
 * How much of a too large chunked body is read before the 413. Closing at once would make the kernel discard the
 * response together with what the client still sends. A client that sends more than this may lose the response.
 */
const SWALLOWED_BYTES_MAX = 8 * 1024 * 1024;

export class UwsExchange extends Exchange {
  readonly #res: UwsResponse;
  /** Whether `res` may still be used. */
  #isOpen = true;
  /** Inside one of the library's callbacks, which have corked the socket already. */
  #isCorked = true;
  /** The call to make after the end of a body that is discarded as it arrives; null when the body is kept. */
  #afterwards: (() => void) | null = null;
  #swallowedBytes = 0;

  constructor(server: ExchangeServer, res: UwsResponse, request: ReceivedRequest) {
    super(server, request);
    this.#res = res;
  }

  /** The head has arrived. Called within the library's callback. */
  begin(): void {
    const { limits } = this.server;
    const refusal = this.request.judge(limits.targetBytesMax);
    if (refusal !== null) this.#refuseLater(refusal, true);
    // The length is good, so the library skips the body by itself and the connection stays usable.
    else if (this.request.contentLength > limits.bodyBytesMax)
      this.#refuseLater(bodyTooLarge(limits.bodyBytesMax), false);
    else if (this.request.expectsBody) this.#receiveBody();
    else this.#handleWhole();
    // No abort can arrive before this callback returns, so a response given by now has saved two native calls.
    if (this.#isOpen) this.#stayOpen();
    this.#isCorked = false;
  }

  protected peerAddress(): string {
    return this.#isOpen ? Buffer.from(this.#res.getRemoteAddressAsText()).toString('latin1') : '';
  }

  override abort(): void {
    this.#isOpen = false;
    super.abort();
  }

  protected disconnect(): void {
    this.#res.close();
  }

  protected write(response: HttpResponse): void {
    if (this.#isCorked) this.#writeCorked(response);
    else this.#res.cork(() => this.#writeCorked(response));
  }

  /** From here on, only the stream uses `res`. It registers all handlers that the library asks for. */
  protected open(start: StreamStart): OpenStream {
    this.#isOpen = false;
    return new UwsStream(this.server, this.#res, start);
  }

  /** The kernel has the response, and `res` may not be used any more. */
  #finish(): void {
    this.#isOpen = false;
    this.release();
  }

  #stayOpen(): void {
    this.#res.onAborted(() => this.abort());
    if (!this.hasResponded) this.server.requests.enter(this);
  }

  #receiveBody(): void {
    this.body = NO_BYTES;
    this.#res.onData((chunk, isLast) => {
      this.#isCorked = true;
      this.#receive(chunk, isLast);
      this.#isCorked = false;
    });
  }

  #receive(chunk: ArrayBuffer, isLast: boolean): void {
    if (this.body === null && this.#afterwards === null) return;
    // A body that comes in one piece is never kept unfinished, so most requests do not pay for a second look at the head.
    const isFirst = this.bodyBytes === 0 && this.#afterwards === null;
    if (isFirst && !isLast && chunk.byteLength > 0 && !this.keepsBody()) return this.#goWithoutBody();
    if (this.#afterwards !== null) return this.#swallow(chunk.byteLength, isLast);
    const piece = new Uint8Array(chunk);
    const refusal = isFirst && isLast ? this.#takeWhole(piece) : this.keep(piece);
    if (refusal !== null) {
      this.#afterwards = () => this.refuse(refusal, false);
      this.#swallow(chunk.byteLength, isLast);
    } else if (isLast) {
      this.takeBody();
      this.#handleWhole();
    }
  }

  /** One piece that is the whole body was never unfinished, so it costs nothing of the budget. */
  #takeWhole(piece: Uint8Array): RequestRefusal | null {
    const { bodyBytesMax } = this.server.limits;
    if (piece.byteLength > bodyBytesMax) return bodyTooLarge(bodyBytesMax);
    // The library empties its buffer when this returns.
    this.body = Buffer.from(piece);
    this.bodyBytes = piece.byteLength;
    return null;
  }

  /** Hands the request over; in a later turn where the bytes behind it must not become a request. */
  #handleWhole(): void {
    if (this.request.isDelimited && !this.request.wantsClose) return this.handle();
    this.mustClose = true;
    setImmediate(() => this.handle());
  }

  /** The handler will refuse the request by its head. The library skips a body whose length it knows. */
  #goWithoutBody(): void {
    if (this.request.chunked) {
      this.#afterwards = () => this.handleWithoutBody();
      return;
    }
    this.body = null;
    setImmediate(() => this.handleWithoutBody());
  }

  #swallow(bytes: number, isLast: boolean): void {
    this.#swallowedBytes += bytes;
    if (!isLast && this.#swallowedBytes <= SWALLOWED_BYTES_MAX) return;
    this.mustClose ||= this.request.chunked;
    this.body = null;
    if (this.#afterwards !== null) setImmediate(this.#afterwards);
  }

  #refuseLater(refusal: RequestRefusal, mustClose: boolean): void {
    setImmediate(() => this.refuse(refusal, mustClose));
  }

  /** Writes status, headers and body. The socket is corked, so all of it leaves in one system call. */
  #writeCorked(response: HttpResponse): void {
    const res = this.#res;
    // The library writes the status as it comes, and a line's end after it; so the headers can go with it.
    res.writeStatus(response.headers.startOf(response.status));
    // The library closes by itself, without saying so, when the request's Connection header has five letters.
    const closesItself = this.request.wantsClose && this.request.header('connection').length === 5;
    if (closesItself) res.writeHeader('connection', 'close');
    const close = this.isLast && !closesItself;
    const body = response.body ?? '';
    if (isBodiless(response.status)) this.#writeBodiless(close);
    else if (this.request.method === 'HEAD') this.#writeHeadOnly(body, close);
    else if (!close && mayCopy(body)) this.#writeCopied(body);
    else if (body instanceof BodyPieces && body.byteLength > scratch.byteLength && body.areLarge)
      this.#writeInTurns(body, body, close);
    else if (!close && body instanceof BodyPieces && body.byteLength <= scratch.byteLength)
      this.#writePieces(body);
    else this.#writeBody(bytesOf(body), close);
  }

  /** Strings as they are: the library makes bytes of them itself. */
  #writeCopied(body: Uint8Array | string): void {
    this.#res.end(body);
    this.#finish();
  }

  /** A 204 or 304, which has no Content-Length; except where the library must close, and then insists on one. */
  #writeBodiless(close: boolean): void {
    if (close && this.mustClose) {
      this.#res.endWithoutBody(0, true);
    } else {
      if (close) this.#res.writeHeader('connection', 'close');
      this.#res.endWithoutBody();
    }
    this.#finish();
  }

  #writeHeadOnly(body: ResponseBody, close: boolean): void {
    const byteLength = byteLengthOf(body);
    if (close && byteLength > 0) {
      sendClosingHead(this.#res, byteLength, () => this.#isOpen);
      this.server.responses.enter(this);
      return;
    }
    // Given a length, endWithoutBody of this version waits for that many bytes; so the header is written by hand.
    if (byteLength > 0) this.#res.writeHeader('content-length', String(byteLength)).endWithoutBody();
    else this.#res.end('', close);
    this.#finish();
  }

  #writeBody(bytes: Uint8Array, close: boolean): void {
    if (close && bytes.byteLength <= COPIED_BODY_BYTES_MAX) {
      this.#res.end(bytes, true);
      this.#finish();
    } else if (close || bytes.byteLength > OFFERED_BYTES_MAX) {
      this.#writeInTurns(bytes, [bytes], close);
    } else {
      const [, isSent] = this.#res.tryEnd(bytes, bytes.byteLength);
      if (isSent) this.#finish();
      else this.#sendRest(bytes);
    }
  }

  /** The kernel mostly takes all of it at once, so that no memory has to be found for it. */
  #writePieces(body: BodyPieces): void {
    const bytes = scratch.subarray(0, body.byteLength);
    body.copyInto(bytes);
    const [, isSent] = this.#res.tryEnd(bytes, bytes.byteLength);
    if (isSent) this.#finish();
    else this.#sendRest(Buffer.from(bytes));
  }

  #writeInTurns(body: Uint8Array | BodyPieces, waiting: Iterable<Uint8Array>, close: boolean): void {
    this.awaitReader(...waiting);
    // They may have been too much.
    if (this.#isOpen) this.#senderOf(body, close).send();
  }

  #sendRest(bytes: Uint8Array): void {
    this.#senderOf(bytes, false).awaitRoom();
    this.awaitReader(bytes);
  }

  #senderOf(body: Uint8Array | BodyPieces, closes: boolean): BodySender {
    const isOpen = (): boolean => this.#isOpen;
    return new BodySender(this.#res, body, { closes, isOpen, onSent: () => this.#finish() });
  }
}

/** Whether a body may be copied for a reader of whom it is not known that he reads. */
function mayCopy(body: NonNullable<ResponseBody>): body is Uint8Array | string {
  if (body instanceof BodyPieces) return false;
  // A character takes at most 3 bytes of UTF-8.
  const bytesMax = typeof body === 'string' ? body.length * 3 : body.byteLength;
  if (bytesMax > COPIED_BODY_BYTES_MAX) return false;
  return bytesMax === 0 || Math.random() >= (bytesMax + HEAD_BYTES) / COPIED_BYTES_MEAN;
}

/**
 * A stream on uWebSockets.js.
 *
 * Each piece leaves as a chunk. The library copies what the kernel does not take of it, and does not send that on by
 * itself while somebody listens for room; so whenever there is room, its copy goes first. A copy that the client does
 * not take for 10 s ends the connection, by the library's own clock.
 *
 * The library cannot close the connection behind a chunked response (told to, it writes a header into the body). It
 * does so by itself where the request said `Connection: close`; otherwise the client was told, and ends it, or the
 * library does after 10 s.
 */
class UwsStream extends OpenStream {
  readonly #res: UwsResponse;
  /** Not sent yet: the library ends the head itself, with the first chunk. */
  #start: StreamStart | null;

  constructor(server: StreamServer, res: UwsResponse, start: StreamStart) {
    super(server);
    this.#res = res;
    this.#start = start;
    // In the place of the exchange's handler, so that nothing of the request stays in memory for an open stream.
    res.onAborted(() => this.abort());
    res.onWritable(() => {
      // Leaving the cork sends what the library has copied, and then what was written in it.
      res.cork(() => this.drained());
      return true;
    });
  }

  protected offer(piece: Uint8Array): boolean {
    let hasRoom = true;
    this.#res.cork(() => {
      this.#writeHead();
      hasRoom = this.#res.write(piece);
    });
    return hasRoom;
  }

  protected finish(): void {
    this.#res.cork(() => {
      this.#writeHead();
      this.#res.end();
    });
  }

  protected disconnect(): void {
    this.#res.close();
  }

  #writeHead(): void {
    if (this.#start === null) return;
    const { headers, status, isLast } = this.#start;
    this.#start = null;
    this.#res.writeStatus(headers.startOf(status));
    if (isLast) this.#res.writeHeader('connection', 'close');
  }
}
