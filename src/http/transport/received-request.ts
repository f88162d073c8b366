/**
 * A request as an engine receives it: the head first, the body later, and a verdict on its framing.
 *
 * When two parties read the length of a message differently, an attacker can make one of them run what the other took
 * for a body. So everything ambiguous about framing or identity is refused and never interpreted: a second
 * Content-Length, Host or Authorization, a length that is not plain digits, any Transfer-Encoding other than
 * `chunked`. Both engines use this class, because the parser of uWebSockets.js accepts such requests.
 */
import { METHODS } from 'node:http';
import type { TransportRequest } from './transport.ts';
import { HEADER_BLOCK_BYTES_MAX, HEADERS_MAX } from './transport-limits.ts';

/** Why a request is refused before any handler sees it. */
export interface RequestRefusal {
  readonly status: number;
  readonly reason: string;
}

const refusal = (status: number, reason: string): RequestRefusal => ({ status, reason });

export const NO_HOST = refusal(400, 'The request has no Host header.');
const TWO_HOSTS = refusal(400, 'The request has more than one Host header.');
const TWO_AUTHORIZATIONS = refusal(400, 'The request has more than one Authorization header.');
const TWO_LENGTHS = refusal(400, 'The request has more than one Content-Length header.');
const TWO_ENCODINGS = refusal(400, 'The request has more than one Transfer-Encoding header.');
const LENGTH_AND_ENCODING = refusal(
  400,
  'The request has both a Content-Length and a Transfer-Encoding header.',
);
const BAD_LENGTH = refusal(400, 'The Content-Length header is not a whole number.');
const UNKNOWN_ENCODING = refusal(501, 'The only Transfer-Encoding that the server supports is "chunked".');
const TOO_MANY_HEADERS = refusal(431, `The request has more than ${HEADERS_MAX} headers.`);
export const UNKNOWN_VERSION = refusal(505, 'The server supports only HTTP 1.0 and 1.1.');
export const MALFORMED = refusal(400, 'The request is not well-formed HTTP/1.1.');
/** Whole MiB and KiB as such, and other sizes in bytes. */
function sizeText(bytes: number): string {
  if (bytes % 2 ** 20 === 0) return `${bytes / 2 ** 20} MiB`;
  return bytes % 1024 === 0 ? `${bytes / 1024} KiB` : `${bytes} bytes`;
}

export const HEAD_TOO_LARGE = refusal(
  431,
  `The request line and headers are larger than ${sizeText(HEADER_BLOCK_BYTES_MAX)}.`,
);
const targetTooLong = (bytesMax: number): RequestRefusal =>
  refusal(414, `The path and query are longer than ${sizeText(bytesMax)}.`);
export const bodyTooLarge = (bytesMax: number): RequestRefusal =>
  refusal(413, `The request body is larger than ${sizeText(bytesMax)}.`);
export const BODIES_TOO_MANY = refusal(503, 'The server is receiving too many request bodies at once.');
export const REQUESTS_TOO_MANY = refusal(503, 'Too many requests have come at once.');
export const WAITED_IN_VAIN = refusal(
  503,
  'The client closed its side of the connection while the request waited for its turn; nothing was done.',
);
export const TOO_SLOW = refusal(408, 'The request took too long to arrive.');
export const NO_RESPONSE = refusal(503, 'The request took too long to answer.');
export const HANDLER_FAILED = refusal(500, 'The request failed because of an error inside the server.');

/** Fifteen digits stay exact in a double, and no limit here comes near them. */
const LENGTH_PATTERN = /^[0-9]{1,15}$/;

/** `close` as one of the options of a Connection header. */
const CLOSE_PATTERN = /(^|,)[ \t]*close[ \t]*(,|$)/i;

/** Methods that the parser of Node knows; uWebSockets.js takes any bytes for a method, and none at all. */
const METHODS_KNOWN = new Set(METHODS);

/** Visible ASCII, which is all that a request line may hold (RFC 9112 §3.2). */
const TARGET_PATTERN = /^[\x21-\x7e]*$/;

/** DEL, and what uWebSockets.js makes of bytes that are no UTF-8. To look for each takes half the time of a pattern for both. */
const [DELETE, NO_UTF_8] = ['\x7f', '\ufffd'] as const;

/** Bytes of a request without its texts, with the exchange and what waits for it; and of a text without its characters. */
const REQUEST_BYTES = 1_024;
const TEXT_BYTES = 24;

export const NO_BYTES = new Uint8Array(0);

export class ReceivedRequest implements TransportRequest {
  /** The newest, whose head is being read. */
  static receiving: ReceivedRequest;
  readonly method: string;
  readonly path: string;
  readonly query: string;
  /** Set once, by the engine, when the last byte has arrived. */
  body: Uint8Array = NO_BYTES;
  bodyDropped = false;
  /** The announced length; -1 when none was. */
  contentLength = -1;
  chunked = false;
  /** Whether the client asked for the connection to end after the response. */
  wantsClose = false;
  refusal: RequestRefusal | null = null;
  /** Set by the engine: knows the client, on demand. */
  connection: Pick<TransportRequest, 'remoteAddress' | 'host'> | null = null;
  /** Requests carry a handful of headers, so a scan beats building a map. */
  readonly #headers: string[] = [];
  #hasHost = false;
  #hasAuthorization = false;

  constructor(method: string, path: string, query: string) {
    this.method = method;
    this.path = path;
    this.query = query;
    ReceivedRequest.receiving = this;
  }

  /** Flat: name, value. */
  get headers(): readonly string[] {
    return this.#headers;
  }

  /** Bytes that it takes in memory, or some more. */
  get bytes(): number {
    let bytes = REQUEST_BYTES + this.path.length + this.query.length + this.body.byteLength;
    for (const text of this.#headers) bytes += TEXT_BYTES + text.length;
    return bytes;
  }

  get hasBody(): boolean {
    return this.body.byteLength > 0;
  }

  /** Whether bytes follow the head, as far as the head says. */
  get expectsBody(): boolean {
    return this.chunked || this.contentLength > 0;
  }

  /**
   * Whether the request is taken to end where its head says: its length is announced, or it is a read, which has no body in practice
   * (RFC 9110 §9.3.1). False with chunks, behind which trailers can stand.
   */
  get isDelimited(): boolean {
    return !this.chunked && (this.contentLength >= 0 || this.method === 'GET' || this.method === 'HEAD');
  }

  header(name: string): string {
    const headers = this.#headers;
    for (let i = 0; i < headers.length; i += 2) if (headers[i] === name) return headers[i + 1]!;
    return '';
  }

  remoteAddress(): string {
    return this.connection?.remoteAddress() ?? '';
  }

  host(): string {
    return this.connection?.host() ?? this.header('host');
  }

  /**
   * Adds headers one by one, each with its name in lower case, and records what is wrong with them. One function for all requests, which adds
   * to `receiving`: a new one for each would be looked up again before each of its first calls.
   */
  static readonly addHeader = (name: string, value: string): void => {
    const request = ReceivedRequest.receiving;
    request.#headers.push(name, value);
    if (value.includes(DELETE) || value.includes(NO_UTF_8)) request.refusal ??= MALFORMED;
    if (name === 'host') {
      if (request.#hasHost) request.refusal ??= TWO_HOSTS;
      request.#hasHost = true;
    } else if (name === 'authorization') {
      if (request.#hasAuthorization) request.refusal ??= TWO_AUTHORIZATIONS;
      request.#hasAuthorization = true;
    } else if (name === 'content-length') {
      request.#addLength(value);
    } else if (name === 'transfer-encoding') {
      request.#addEncoding(value);
    } else if (name === 'connection' && value !== 'keep-alive') {
      request.wantsClose ||= CLOSE_PATTERN.test(value);
    }
  };

  /** The verdict, once all headers have been added. */
  judge(targetBytesMax: number): RequestRefusal | null {
    if (
      !METHODS_KNOWN.has(this.method) ||
      !TARGET_PATTERN.test(this.path) ||
      (this.query !== '' && !TARGET_PATTERN.test(this.query))
    )
      return MALFORMED;
    if (!this.#hasHost) this.refusal ??= NO_HOST;
    if (this.#headers.length > 2 * HEADERS_MAX) this.refusal ??= TOO_MANY_HEADERS;
    if (this.chunked && this.contentLength >= 0) this.refusal ??= LENGTH_AND_ENCODING;
    if (this.path.length + this.query.length > targetBytesMax) this.refusal ??= targetTooLong(targetBytesMax);
    return this.refusal;
  }

  #addLength(value: string): void {
    if (this.contentLength >= 0) this.refusal ??= TWO_LENGTHS;
    else if (!LENGTH_PATTERN.test(value)) this.refusal ??= BAD_LENGTH;
    else this.contentLength = Number(value);
  }

  #addEncoding(value: string): void {
    if (this.chunked) this.refusal ??= TWO_ENCODINGS;
    else if (value !== 'chunked') this.refusal ??= UNKNOWN_ENCODING;
    else this.chunked = true;
  }
}
