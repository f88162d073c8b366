/**
 * A request that an HTTP worker received, and its response, as the main thread sees them: the same as one of an engine. The worker
 * has the connection, its deadlines and its limits; it says when nobody awaits the response any more.
 */
import { ENDED_STREAM } from '../transport/stream.ts';
import type {
  HttpResponse,
  KeepTerms,
  Neighbors,
  OfferedResponse,
  Responder,
  ResponseStream,
  StreamHead,
  TransportRequest,
  TransportRequestHead,
} from '../transport/transport.ts';
import type { ForwardedStream, StreamLink } from './forwarded-stream.ts';
import { splitHeaders } from './parcel.ts';

/** As the worker sends it: what it read of the request. */
export interface ForwardedHeadFields {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly headers: string;
  readonly address: string;
}

export class ForwardedHead implements TransportRequestHead {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly #address: string;
  /** Flat: name, value. */
  readonly #headers: readonly string[];

  constructor({ method, path, query, headers, address }: ForwardedHeadFields) {
    this.method = method;
    this.path = path;
    this.query = query;
    this.#address = address;
    this.#headers = splitHeaders(headers);
  }

  header(name: string): string {
    const headers = this.#headers;
    for (let i = 0; i < headers.length; i += 2) if (headers[i] === name) return headers[i + 1]!;
    return '';
  }

  /** As it was when the request came. */
  remoteAddress(): string {
    return this.#address;
  }
}

const NO_BYTES = new Uint8Array(0);

export class ForwardedRequest extends ForwardedHead implements TransportRequest {
  readonly body: Uint8Array;
  readonly hasBody: boolean;
  readonly bodyDropped = false;

  constructor(fields: ForwardedHeadFields, body: Uint8Array | null) {
    super(fields);
    this.body = body ?? NO_BYTES;
    this.hasBody = this.body.byteLength > 0;
  }
}

/** What a response is handed to. */
export interface ResponseLink extends StreamLink {
  respond(number: number, response: HttpResponse): void;
  /** Sends what may be kept, before the response. */
  keep(number: number, response: OfferedResponse, terms: KeepTerms): void;
  /** Told, once the response may be kept, of what may be kept beside it; `path` is what stands before their names. */
  askedBeside(path: string, neighbors: Neighbors): void;
  /** Null while no further stream can be opened. */
  openStream(number: number, head: StreamHead): ForwardedStream | null;
}

interface ExchangeTraits {
  readonly isHead: boolean;
  readonly wantsToKeep: boolean;
  /** Before the last part of the path; null where a neighbor would be encoded otherwise than this response. */
  readonly besidePath: string | null;
}

export class ForwardedExchange implements Responder {
  readonly #link: ResponseLink;
  readonly #number: number;
  readonly #isHead: boolean;
  readonly #wantsToKeep: boolean;
  readonly #besidePath: string | null;
  #hasResponded = false;
  #isOver = false;
  /** Made when it is first asked for, which few requests do. */
  #unwanted: AbortController | null = null;

  constructor(link: ResponseLink, number: number, { isHead, wantsToKeep, besidePath }: ExchangeTraits) {
    this.#link = link;
    this.#number = number;
    this.#isHead = isHead;
    this.#wantsToKeep = wantsToKeep;
    this.#besidePath = besidePath;
  }

  get aborted(): boolean {
    return this.#isOver;
  }

  get isWanted(): boolean {
    return !this.#hasResponded && !this.#isOver;
  }

  get isAwaited(): boolean {
    return this.isWanted;
  }

  get signal(): AbortSignal {
    this.#unwanted ??= new AbortController();
    if (!this.isAwaited) this.#unwanted.abort();
    return this.#unwanted.signal;
  }

  keep(response: OfferedResponse, terms: KeepTerms, neighbors: Neighbors | null): void {
    if (!this.#wantsToKeep || !this.isWanted) return;
    this.#link.keep(this.#number, response, terms);
    if (neighbors !== null && this.#besidePath !== null) this.#link.askedBeside(this.#besidePath, neighbors);
  }

  send(response: HttpResponse): void {
    if (!this.isWanted) return;
    this.#hasResponded = true;
    this.#link.respond(this.#number, response);
  }

  stream(head: StreamHead): ResponseStream | null {
    if (!this.isWanted) return null;
    // Throws here, where the handler that made it still can answer otherwise.
    head.headers.startOf(head.status);
    if (this.#isHead) {
      this.send({ ...head, body: null });
      return ENDED_STREAM;
    }
    const stream = this.#link.openStream(this.#number, head);
    if (stream !== null) this.#hasResponded = true;
    return stream;
  }

  /** The worker's word that nobody awaits the response: the client is gone, or was told at the deadline that the request failed. */
  end(): void {
    this.#isOver = true;
    this.#unwanted?.abort();
  }
}
