/**
 * The main thread's end of what it has to do with one HTTP worker: requests come in, responses go out, a parcel in each turn of the
 * event loop.
 *
 * What the worker has not taken in yet is bounded: beyond that, responses wait here, where many that have the same bytes share them.
 */
import { HANDLER_FAILED } from '../transport/received-request.ts';
import { refusalResponse } from '../transport/safe-response.ts';
import type {
  HttpResponse,
  KeepTerms,
  Neighbors,
  OfferedResponse,
  StreamHead,
  TransportOptions,
  TransportRequestHead,
} from '../transport/transport.ts';
import {
  ForwardedExchange,
  ForwardedHead,
  ForwardedRequest,
  type ResponseLink,
} from './forwarded-exchange.ts';
import { ForwardedStream } from './forwarded-stream.ts';
import {
  bodyIn,
  type FlagBlock,
  ParcelBytes,
  REFUSED_FIELDS,
  REQUEST_FIELDS,
  type RequestParcel,
  type ResponseParcel,
} from './parcel.ts';

/** Bytes of parcels that the worker has not taken in. Protects memory while it is busy. */
export const UNDER_WAY_BYTES_MAX = 32 * 1024 * 1024;

/** Messages that wait for the end of the turn, or for the worker. */
const PUBLISHED_BEHIND_MAX = 1_000;

/** Somebody who sends one request after another comes with one, for which nothing has to be kept back. */
const ASKED_ALONE = 1;

/** What the main thread does with requests: `refuse` is told the id of a response that has left already. */
export interface Above extends Pick<TransportOptions, 'handle' | 'log'> {
  refuse(status: number, reason: string, head: TransportRequestHead | null, errorId?: string): HttpResponse;
}

export interface WorkerLinkOptions extends Above {
  /** Sends a parcel; its bytes change their owner. */
  post(parcel: ResponseParcel): void;
  monotonicMs(): number;
  /** Whether a further stream may be opened on any worker. */
  mayStream(): boolean;
  askedBeside: ResponseLink['askedBeside'];
}

type Outgoing =
  | { readonly kind: 'response'; readonly number: number; readonly response: HttpResponse }
  | {
      readonly kind: 'kept';
      readonly number: number;
      readonly response: OfferedResponse;
      readonly terms: KeepTerms;
    }
  | { readonly kind: 'block'; readonly number: 0; readonly block: FlagBlock }
  | { readonly kind: 'stream'; readonly number: number; readonly head: StreamHead }
  | { readonly kind: 'piece'; readonly number: number; readonly bytes: Uint8Array }
  | { readonly kind: 'end'; readonly number: number; readonly isTooSlow: boolean };

export class WorkerLink implements ResponseLink {
  readonly #options: WorkerLinkOptions;
  readonly #exchanges = new Map<number, ForwardedExchange>();
  readonly #streams = new Map<number, ForwardedStream>();
  #outgoing: Outgoing[] = [];
  /** Of the blocks in it. */
  #blockBytes = 0;
  #isScheduled = false;
  #underWayBytes = 0;
  /** Of streams: what the worker has not taken in, since when there is some, and how many requests have come since. */
  #underWayPieces = 0;
  #busySinceMs = 0;
  #asked = 0;
  /** How long that was so before. */
  #sharedMs = 0;

  constructor(options: WorkerLinkOptions) {
    this.#options = options;
  }

  /** Requests without a response. */
  get openRequests(): number {
    return this.#exchanges.size;
  }

  get openStreams(): number {
    return this.#streams.size;
  }

  sharedMs(): number {
    return (
      this.#sharedMs +
      (this.#isShared && this.#underWayPieces > 0 ? this.#options.monotonicMs() - this.#busySinceMs : 0)
    );
  }

  get #isShared(): boolean {
    return this.#asked > ASKED_ALONE;
  }

  receive(parcel: RequestParcel): void {
    this.#underWayBytes -= parcel.receivedBytes;
    if (this.#underWayPieces > 0) this.#asked += parcel.requests.length / REQUEST_FIELDS;
    this.#takenIn(parcel.receivedPieces);
    for (const number of parcel.over) this.#over(number);
    const { taken, requests, refused } = parcel;
    for (let i = 0; i < taken.length; i += 2) this.#streams.get(taken[i]!)?.taken(taken[i + 1]!);
    for (let i = 0; i < requests.length; i += REQUEST_FIELDS) this.#handle(parcel, i);
    for (let i = 0; i < refused.length; i += REFUSED_FIELDS) this.#countRefused(refused, i);
    if (this.#outgoing.length > 0) this.#schedule();
  }

  respond(number: number, response: HttpResponse): void {
    this.#exchanges.delete(number);
    this.#put({ kind: 'response', number, response });
  }

  keep(number: number, response: OfferedResponse, terms: KeepTerms): void {
    this.#put({ kind: 'kept', number, response, terms });
  }

  askedBeside(path: string, neighbors: Neighbors): void {
    this.#options.askedBeside(path, neighbors);
  }

  /** Not while much is under way: it is nothing that anybody waits for. */
  publish(block: FlagBlock): void {
    const bytes = this.#underWayBytes + this.#blockBytes + block.bytes.byteLength;
    if (this.#outgoing.length >= PUBLISHED_BEHIND_MAX || bytes > UNDER_WAY_BYTES_MAX / 2) return;
    this.#blockBytes += block.bytes.byteLength;
    this.#put({ kind: 'block', number: 0, block });
  }

  openStream(number: number, head: StreamHead): ForwardedStream | null {
    if (!this.#options.mayStream()) return null;
    this.#exchanges.delete(number);
    const stream = new ForwardedStream(this, number);
    this.#streams.set(number, stream);
    this.#put({ kind: 'stream', number, head });
    return stream;
  }

  write(number: number, bytes: Uint8Array): void {
    if (this.#underWayPieces === 0) this.#busySinceMs = this.#options.monotonicMs();
    this.#underWayPieces += 1;
    this.#put({ kind: 'piece', number, bytes });
  }

  end(number: number, isTooSlow: boolean): void {
    this.#streams.delete(number);
    this.#put({ kind: 'end', number, isTooSlow });
  }

  /** The worker is gone, and its connections with it. */
  close(): void {
    for (const number of [...this.#exchanges.keys(), ...this.#streams.keys()]) this.#over(number);
  }

  #handle({ requests, bytes }: RequestParcel, at: number): void {
    const [number, wantsToKeep, method, path, query, headers, address, begin, end] = requests.slice(
      at,
      at + REQUEST_FIELDS,
    ) as [number, number, string, string, string, string, string, number, number];
    const request = new ForwardedRequest(
      { method, path, query, headers, address },
      bodyIn(bytes, begin, end),
    );
    const exchange = new ForwardedExchange(this, number, {
      isHead: method === 'HEAD',
      wantsToKeep: wantsToKeep === 1,
      besidePath: request.header('accept-encoding') === '' ? path.slice(0, path.lastIndexOf('/') + 1) : null,
    });
    this.#exchanges.set(number, exchange);
    try {
      this.#options.handle(request, exchange);
    } catch (error) {
      this.#options.log.error({ err: error, path }, 'A request handler failed.');
      exchange.send(refusalResponse(this.#options, HANDLER_FAILED, request));
    }
  }

  /** The worker has answered already: here it is counted and logged. */
  #countRefused(refused: RequestParcel['refused'], at: number): void {
    const [status, reason, id, method, path, query, headers, address] = refused.slice(
      at,
      at + REFUSED_FIELDS,
    ) as [number, string, string, string, string, string, string, string];
    const head = method === '' ? null : new ForwardedHead({ method, path, query, headers, address });
    this.#options.refuse(status, reason, head, id);
  }

  #takenIn(pieces: number): void {
    if (pieces === 0) return;
    this.#underWayPieces -= pieces;
    if (this.#underWayPieces > 0) return;
    if (this.#isShared) this.#sharedMs += this.#options.monotonicMs() - this.#busySinceMs;
    this.#asked = 0;
  }

  #over(number: number): void {
    const exchange = this.#exchanges.get(number);
    this.#exchanges.delete(number);
    exchange?.end();
    const stream = this.#streams.get(number);
    this.#streams.delete(number);
    stream?.abort();
  }

  #put(outgoing: Outgoing): void {
    this.#outgoing.push(outgoing);
    this.#schedule();
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => this.#flush());
  }

  #flush(): void {
    this.#isScheduled = false;
    const parcel = new OutgoingParcel();
    let at = 0;
    for (; at < this.#outgoing.length; at += 1) {
      if (this.#underWayBytes + parcel.byteLength > UNDER_WAY_BYTES_MAX) break;
      const outgoing = this.#outgoing[at]!;
      if (outgoing.kind === 'block') this.#blockBytes -= outgoing.block.bytes.byteLength;
      parcel.add(outgoing);
    }
    if (at === 0) return;
    this.#outgoing = this.#outgoing.slice(at);
    this.#underWayBytes += parcel.byteLength;
    this.#options.post(parcel.finish());
  }
}

class OutgoingParcel {
  readonly #bytes = new ParcelBytes();
  readonly #blocks: FlagBlock[] = [];
  #blockBytes = 0;
  readonly #kept: (string | number)[] = [];
  readonly #responses: (string | number)[] = [];
  readonly #streams: (string | number)[] = [];
  readonly #pieces: number[] = [];
  readonly #ended: number[] = [];

  get byteLength(): number {
    return this.#bytes.byteLength + this.#blockBytes;
  }

  add(one: Outgoing): void {
    const { number } = one;
    if (one.kind === 'response') {
      const { status, headers, body } = one.response;
      this.#responses.push(number, status, headers.lines);
      this.#bytes.add(body, this.#responses);
    } else if (one.kind === 'piece') {
      this.#pieces.push(number);
      this.#bytes.add(one.bytes, this.#pieces);
    } else if (one.kind === 'block') {
      this.#blocks.push(one.block);
      this.#blockBytes += one.block.bytes.byteLength;
    } else if (one.kind === 'kept') {
      this.#addKept(number, one);
    } else if (one.kind === 'stream') {
      this.#streams.push(number, one.head.status, one.head.headers.lines);
    } else {
      this.#ended.push(number, one.isTooSlow ? 1 : 0);
    }
  }

  finish(): ResponseParcel {
    return {
      kept: this.#kept,
      blocks: this.#blocks,
      responses: this.#responses,
      streams: this.#streams,
      pieces: this.#pieces,
      ended: this.#ended,
      bytes: this.#bytes.join(),
    };
  }

  #addKept(number: number, { response, terms }: Extract<Outgoing, { kind: 'kept' }>): void {
    this.#kept.push(number, response.etag ?? '', response.headers.lines);
    this.#bytes.add(response.body, this.#kept);
    this.#kept.push(terms.untilMs, terms.expiresAt, terms.readsAll ? 1 : 0);
  }
}
