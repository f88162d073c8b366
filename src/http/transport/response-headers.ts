/**
 * The headers of responses, which are checked when they are made, so that every existing object is valid. No engine is
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
  #start = '';
  #status = 0;
  /** How often it was asked for. */
  #asked = 0;

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
    return new ResponseHeaders([...this.pairs, ...others.pairs], this.lines + others.lines);
  }

  /** The headers of these names. */
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
   * A response is asked twice, when it is checked and when it is written. The start is put together as one piece of memory when it is
   * asked for again, which would be in vain for headers of one response.
   */
  startOf(status: number): string {
    if (status !== this.#status) {
      assertFinalStatus(status);
      this.#start = statusLine(status) + this.lines;
      this.#status = status;
      this.#asked = 0;
    }
    this.#asked += 1;
    if (this.#asked === ASKED_FOR_ONE_RESPONSE + 1) this.#start = flat(this.#start);
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

/** The same string as one piece of memory instead of a tree of pieces, which each use would have to walk. */
function flat(text: string): string {
  return Buffer.from(text, 'latin1').toString('latin1');
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
