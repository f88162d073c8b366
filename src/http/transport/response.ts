/**
 * The headers and bodies of responses. Headers are checked when they are made, so that every existing object is valid. No engine is
 * trusted with that check: uWebSockets.js writes header values as they are, line breaks included, and whoever gets a
 * line break into a value can add headers.
 */
import assert from 'node:assert/strict';
import { STATUS_CODES } from 'node:http';

const NAME_PATTERN = /^[a-z0-9-]+$/;
/** Visible ASCII, space and tab: no CR, LF or NUL, and nothing that needs an encoding. */
const VALUE_PATTERN = /^[\t\x20-\x7e]*$/;

/** Written by the engine, which alone knows the framing. */
const ENGINE_HEADERS = new Set(['connection', 'content-length', 'transfer-encoding', 'date', 'keep-alive']);

/** `200 OK` and so on, for every status that has a name. */
const STATUS_LINES = new Map(
  Object.entries(STATUS_CODES).map(([code, name]) => [Number(code), `${code} ${name}`] as const),
);

/** How often `startOf` is asked for one response. */
const ASKED_FOR_ONE_RESPONSE = 2;

/** Never changes once it is made, so that one can be kept and sent with many responses. */
export class ResponseHeaders {
  /** Flat: name, value, name, value. */
  readonly pairs: readonly string[];
  /** The lines as they stand in a response, with a line's end before each. */
  readonly lines: string;
  /** The last start that was asked for, and its status. */
  #start: string | Buffer = '';
  #status = 0;
  /** How often it was asked for. */
  #asked = 0;
  /** The last others that came behind these, and all of them together: nearly always the same ones come. */
  #others: ResponseHeaders | null = null;
  #together: ResponseHeaders | null = null;

  /** Pairs that have been checked. */
  private constructor(pairs: readonly string[], lines: string) {
    this.pairs = pairs;
    this.lines = lines;
  }

  /** Takes name, value, name, value; throws where they must not be sent. */
  static of(...pairs: string[]): ResponseHeaders {
    return new ResponseHeaders(pairs, checkedLines(pairs));
  }

  /** These and further ones. */
  with(...pairs: string[]): ResponseHeaders {
    if (pairs.length === 0) return this;
    return new ResponseHeaders([...this.pairs, ...pairs], this.lines + checkedLines(pairs));
  }

  /** These, and then the others. */
  and(others: ResponseHeaders): ResponseHeaders {
    if (others === NO_HEADERS) return this;
    if (this.#together === null || others !== this.#others) {
      this.#together = new ResponseHeaders([...this.pairs, ...others.pairs], this.lines + others.lines);
      this.#others = others;
    }
    return this.#together;
  }

  only(names: readonly string[]): ResponseHeaders {
    const kept: string[] = [];
    for (let i = 0; i < this.pairs.length; i += 2) {
      if (names.includes(this.pairs[i]!)) kept.push(this.pairs[i]!, this.pairs[i + 1]!);
    }
    return ResponseHeaders.of(...kept);
  }

  without(name: string): ResponseHeaders {
    return this.only(this.pairs.filter((one, at) => at % 2 === 0 && one !== name));
  }

  /**
   * Status line and headers as they stand in an HTTP/1.1 response, from the status code to before the last line's end.
   * Handing them to an engine in one piece costs a third of handing them over one by one. Throws for a status that
   * no response can have.
   *
   * A response is asked twice, when it is checked and when it is written. The start becomes bytes, which an engine takes in half the time
   * of a string, when it is asked for again; that would be in vain for headers of one response.
   */
  startOf(status: number): string | Buffer {
    if (status !== this.#status) {
      assertFinalStatus(status);
      this.#start = statusLine(status) + this.lines;
      this.#status = status;
      this.#asked = 0;
    }
    this.#asked += 1;
    if (this.#asked === ASKED_FOR_ONE_RESPONSE + 1) this.#start = Buffer.from(this.#start);
    return this.#start;
  }
}

export const NO_HEADERS = ResponseHeaders.of();

/** Interim and unknown statuses are no response's. */
function assertFinalStatus(status: number): void {
  assert(STATUS_LINES.has(status) && status >= 200, `${status} is a final HTTP status`);
}

export function statusLine(status: number): string {
  return STATUS_LINES.get(status)!;
}

/** RFC 9110 §8.6: these statuses have no body, and so no Content-Length. */
export function isBodiless(status: number): boolean {
  return status === 204 || status === 304;
}

function checkedLines(pairs: readonly string[]): string {
  assert(pairs.length % 2 === 0, 'response headers are pairs of name and value');
  let lines = '';
  for (let i = 0; i < pairs.length; i += 2) {
    assertHeader(pairs[i]!, pairs[i + 1]!);
    lines += `\r\n${pairs[i]}: ${pairs[i + 1]}`;
  }
  return lines;
}

function assertHeader(name: string, value: string): void {
  assert(NAME_PATTERN.test(name), `the response header name ${JSON.stringify(name)} is a lower-case token`);
  assert(!ENGINE_HEADERS.has(name), `the engine alone writes the response header ${name}`);
  assert(VALUE_PATTERN.test(value), `the value of the response header ${name} is printable ASCII`);
}

// Bodies of responses: bytes, a text, or pieces that are joined only when they are sent.

/** Pieces that are as large on average are worth waiting for their readers one by one. */
const LARGE_PIECE_BYTES_MEAN = 4 * 1024;

export type ResponseBody = Uint8Array | string | BodyPieces | null;

/**
 * Bytes that many bodies share, in the order in which they follow each other in this one. Joining them is left to the engine, which
 * can do so in memory that it uses again, and need not at all where no body is sent.
 */
export class BodyPieces {
  readonly byteLength: number;
  readonly #pieces: readonly Uint8Array[];
  /** The offset of each piece; computed at its first use. */
  #begins: Float64Array | null = null;

  /** None of the pieces is changed afterwards. `byteLength` is that of all together. */
  constructor(pieces: readonly Uint8Array[], byteLength: number) {
    this.#pieces = pieces;
    this.byteLength = byteLength;
  }

  get count(): number {
    return this.#pieces.length;
  }

  /** Whether a reader who is slow should hold on to the pieces, and not to a copy. */
  get areLarge(): boolean {
    return this.byteLength >= this.count * LARGE_PIECE_BYTES_MEAN;
  }

  [Symbol.iterator](): Iterator<Uint8Array> {
    return this.#pieces[Symbol.iterator]();
  }

  /** Copies what stands at `offset` and behind it, as far as `target` has room. Returns how much that was. */
  copyFrom(offset: number, target: Uint8Array): number {
    let copied = 0;
    for (let at = this.#pieceAt(offset); at < this.count && copied < target.byteLength; at += 1) {
      const begin = offset + copied - this.#begins![at]!;
      const part = this.#pieces[at]!.subarray(begin, begin + target.byteLength - copied);
      target.set(part, copied);
      copied += part.byteLength;
    }
    return copied;
  }

  /** The piece in which the byte at `offset` stands. */
  #pieceAt(offset: number): number {
    this.#begins ??= beginsOf(this.#pieces);
    let [low, high] = [0, this.count];
    while (high - low > 1) {
      const middle = (low + high) >>> 1;
      if (this.#begins[middle]! <= offset) low = middle;
      else high = middle;
    }
    return low;
  }

  /** Into the beginning of `target`, which has room for them. */
  copyInto(target: Uint8Array): void {
    let at = 0;
    for (const piece of this.#pieces) {
      target.set(piece, at);
      at += piece.byteLength;
    }
  }

  join(): Uint8Array {
    const joined = Buffer.allocUnsafe(this.byteLength);
    this.copyInto(joined);
    return joined;
  }
}

function beginsOf(pieces: readonly Uint8Array[]): Float64Array {
  const begins = new Float64Array(pieces.length);
  let begin = 0;
  for (const [at, piece] of pieces.entries()) {
    begins[at] = begin;
    begin += piece.byteLength;
  }
  return begins;
}

export function byteLengthOf(body: ResponseBody): number {
  if (body === null) return 0;
  return typeof body === 'string' ? Buffer.byteLength(body) : body.byteLength;
}

/** The bytes of the body, in UTF-8. */
export function bytesOf(body: ResponseBody): Uint8Array {
  if (body instanceof Uint8Array) return body;
  return body instanceof BodyPieces ? body.join() : Buffer.from(body ?? '');
}
