/**
 * A worker's end of what it has to do with the main thread: requests go out, responses come in, a parcel in each turn of the event loop.
 * The worker's engine has the deadline of each request and bounds what clients leave unread.
 */
import { ReceivedRequest } from '../../transport/received-request.ts';
import { ResponseHeaders } from '../../transport/response-headers.ts';
import type {
  HttpResponse,
  Responder,
  ResponseStream,
  TransportRequest,
  TransportRequestHead,
} from '../../transport/transport.ts';
import {
  bodyIn,
  joinHeaders,
  KEPT_FIELDS,
  ParcelBytes,
  PIECE_FIELDS,
  parcelBytes,
  RESPONSE_FIELDS,
  type RequestParcel,
  type ResponseParcel,
  STREAM_FIELDS,
} from '../parcel.ts';
import type { KeptResponses, Wish } from './kept-responses.ts';

/** The main thread is told of what a stream's client has taken after so many bytes, which is often enough for its bound. */
const TAKEN_STEP_BYTES = 16 * 1024;

export interface MainLinkOptions {
  readonly kept: KeptResponses;
  /** Sends a parcel; its bytes change their owner. */
  post(parcel: RequestParcel): void;
  /** The response where a stream cannot be opened here. */
  noStream(head: TransportRequestHead): HttpResponse;
  /** Told at the end of each turn in which something went to or came from the main thread. */
  afterTurn(): void;
}

/** A request that the engine refused, and the id in the response. */
export interface Refused {
  readonly status: number;
  readonly reason: string;
  readonly head: TransportRequestHead | null;
  readonly errorId: string;
}

interface Asked {
  readonly request: TransportRequestHead;
  readonly responder: Responder;
  /** Null where nothing may be kept. */
  readonly wish: Wish | null;
}

interface Streaming {
  readonly stream: ResponseStream;
  /** Written since the main thread was told. */
  writtenBytes: number;
}

export class MainLink {
  readonly #options: MainLinkOptions;
  readonly #asked = new Map<number, Asked>();
  readonly #streams = new Map<number, Streaming>();
  #lastNumber = 0;
  #isScheduled = false;
  #requests: (string | number)[] = [];
  #refused: (string | number)[] = [];
  #over: number[] = [];
  #taken: number[] = [];
  #bytes = new ParcelBytes();
  #receivedBytes = 0;
  #receivedPieces = 0;

  constructor(options: MainLinkOptions) {
    this.#options = options;
  }

  /** Has the main thread respond; keeps the response where there is a wish, and the main thread lets it. */
  forward(request: TransportRequest, responder: Responder, wish: Wish | null): void {
    this.#lastNumber += 1;
    const number = this.#lastNumber;
    this.#asked.set(number, { request, responder, wish });
    responder.onUnwanted?.(() => {
      if (this.#asked.delete(number)) this.#tellOver(number);
    });
    const { method, path, query, body, hasBody } = request;
    const list = this.#requests;
    list.push(
      number,
      wish === null ? 0 : 1,
      method,
      path,
      query,
      headersOf(request),
      request.remoteAddress(),
    );
    this.#bytes.add(hasBody ? body : null, list);
    this.#schedule();
  }

  /** The main thread counts and logs what the engine here has refused. */
  tellRefused({ status, reason, head, errorId }: Refused): void {
    this.#refused.push(status, reason, errorId);
    if (head === null) this.#refused.push('', '', '', '', '');
    else this.#refused.push(head.method, head.path, head.query, headersOf(head), head.remoteAddress());
    this.#schedule();
  }

  receive(parcel: ResponseParcel): void {
    const { kept, blocks, responses, streams, pieces, ended } = parcel;
    for (let i = 0; i < kept.length; i += KEPT_FIELDS) this.#keep(parcel, i);
    for (const block of blocks) this.#options.kept.keepBlock(block);
    for (let i = 0; i < responses.length; i += RESPONSE_FIELDS) this.#respond(parcel, i);
    for (let i = 0; i < streams.length; i += STREAM_FIELDS) this.#begin(streams, i);
    for (let i = 0; i < pieces.length; i += PIECE_FIELDS) this.#write(parcel, i);
    for (let i = 0; i < ended.length; i += 2) this.#end(ended[i]!, ended[i + 1] === 1);
    this.#receivedBytes += parcelBytes(parcel);
    this.#receivedPieces += pieces.length / PIECE_FIELDS;
    this.#schedule();
  }

  #keep({ kept, bytes }: ResponseParcel, at: number): void {
    const [number, etag, headers, begin, end, untilMs, expiresAt, readsAll] = kept.slice(
      at,
      at + KEPT_FIELDS,
    ) as [number, string, string, number, number, number, number, number];
    const wish = this.#asked.get(number)?.wish ?? null;
    if (wish === null) return;
    const terms = { untilMs, expiresAt, readsAll: readsAll === 1 };
    this.#options.kept.keep(wish, { etag, headers, body: bodyIn(bytes, begin, end)! }, terms);
  }

  #respond({ responses, bytes }: ResponseParcel, at: number): void {
    const [number, status, headers, begin, end] = responses.slice(at, at + RESPONSE_FIELDS) as [
      number,
      number,
      string,
      number,
      number,
    ];
    const asked = this.#asked.get(number);
    this.#asked.delete(number);
    asked?.responder.send({
      status,
      headers: ResponseHeaders.ofLines(headers),
      body: bodyIn(bytes, begin, end),
    });
  }

  #begin(streams: ResponseParcel['streams'], at: number): void {
    const [number, status, headers] = streams.slice(at, at + STREAM_FIELDS) as [number, number, string];
    const asked = this.#asked.get(number);
    this.#asked.delete(number);
    if (asked === undefined) return;
    const { responder } = asked;
    const stream = responder.stream({ status, headers: ResponseHeaders.ofLines(headers) });
    if (stream === null) {
      if (responder.isWanted) responder.send(this.#options.noStream(asked.request));
      this.#tellOver(number);
      return;
    }
    const streaming: Streaming = { stream, writtenBytes: 0 };
    this.#streams.set(number, streaming);
    stream.onDrain(() => this.#tellTaken(number, streaming));
    stream.onAborted(() => {
      if (this.#streams.delete(number)) this.#tellOver(number);
    });
  }

  #write({ pieces, bytes }: ResponseParcel, at: number): void {
    const number = pieces[at]!;
    const streaming = this.#streams.get(number);
    const piece = bodyIn(bytes, pieces[at + 1]!, pieces[at + 2]!);
    if (streaming === undefined || piece === null) return;
    streaming.writtenBytes += piece.byteLength;
    // What waits for a slow client would keep the parcel that it came in, with the pieces of all others.
    const isTaken = streaming.stream.write(streaming.stream.bufferedBytes > 0 ? piece.slice() : piece);
    if (isTaken && streaming.writtenBytes >= TAKEN_STEP_BYTES) this.#tellTaken(number, streaming);
  }

  #end(number: number, isTooSlow: boolean): void {
    const streaming = this.#streams.get(number);
    this.#streams.delete(number);
    if (isTooSlow) streaming?.stream.giveUp();
    else streaming?.stream.close();
  }

  #tellTaken(number: number, streaming: Streaming): void {
    this.#taken.push(number, streaming.writtenBytes);
    streaming.writtenBytes = 0;
    this.#schedule();
  }

  #tellOver(number: number): void {
    this.#over.push(number);
    this.#schedule();
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => this.#flush());
  }

  #flush(): void {
    this.#isScheduled = false;
    this.#options.afterTurn();
    const parcel: RequestParcel = {
      requests: this.#requests,
      over: this.#over,
      taken: this.#taken,
      refused: this.#refused,
      receivedBytes: this.#receivedBytes,
      receivedPieces: this.#receivedPieces,
      bytes: this.#bytes.join(),
    };
    const isEmpty =
      [parcel.requests, parcel.over, parcel.taken, parcel.refused].every(({ length }) => length === 0) &&
      parcel.receivedBytes < TAKEN_STEP_BYTES &&
      parcel.receivedPieces === 0;
    if (isEmpty) return;
    this.#requests = [];
    this.#over = [];
    this.#taken = [];
    this.#refused = [];
    this.#receivedBytes = 0;
    this.#receivedPieces = 0;
    this.#bytes = new ParcelBytes();
    this.#options.post(parcel);
  }
}

function headersOf(head: TransportRequestHead): string {
  return head instanceof ReceivedRequest ? joinHeaders(head.headers) : '';
}
