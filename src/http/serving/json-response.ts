/** Responses with and without a JSON body: the headers that every one of them carries. */
import { ResponseHeaders } from '../transport/response.ts';
import type { HttpResponse } from '../transport/transport.ts';

/** Responses show state and secrets, so no proxy caches them, and no browser guesses another type. */
const UNCACHED = ['x-content-type-options', 'nosniff', 'cache-control', 'no-store'];

const JSON_TYPE = ['content-type', 'application/json; charset=utf-8'];

export const JSON_HEADERS = ResponseHeaders.of(...JSON_TYPE, ...UNCACHED);

/** Headers of a response without a body. */
export const EMPTY_HEADERS = ResponseHeaders.of(...UNCACHED);

/** Lets the client itself cache a tagged response, and makes it ask again with the tag each time. */
const REVALIDATED = 'private, no-cache';

const TAGGED_HEADERS = ResponseHeaders.of(
  ...JSON_TYPE,
  'x-content-type-options',
  'nosniff',
  'cache-control',
  REVALIDATED,
  'vary',
  'accept-encoding',
);

export function jsonResponse(status: number, value: unknown): HttpResponse {
  return { status, headers: JSON_HEADERS, body: JSON.stringify(value) };
}

/** A success with its ETag, which is in quotes: in the headers, and at hand for conditional requests. */
export class TaggedResponse implements HttpResponse {
  readonly status = 200;
  readonly headers: ResponseHeaders;
  readonly body: HttpResponse['body'];
  readonly etag: string;
  #notModified: HttpResponse | null = null;

  constructor(etag: string, body: HttpResponse['body'], headers: ResponseHeaders) {
    this.etag = etag;
    this.body = body;
    this.headers = headers;
  }

  /** The response to a client that already has this one. Made once: polling clients hardly ever get anything else. */
  get notModified(): HttpResponse {
    this.#notModified ??= { status: 304, headers: this.headers.only(NOT_MODIFIED_HEADERS), body: null };
    return this.#notModified;
  }
}

/** RFC 9110 §15.4.5: what decides whether a cache may go on using what it has. */
const NOT_MODIFIED_HEADERS = ['etag', 'vary', 'cache-control'];

/** A response with an ETag, in the coding that the client likes best. `extraHeaders`: name, value, name, value. */
export function taggedResponse(
  etag: string,
  body: HttpResponse['body'],
  extraHeaders: readonly string[] = [],
): TaggedResponse {
  return new TaggedResponse(etag, body, TAGGED_HEADERS.with('etag', etag, ...extraHeaders));
}

export function emptyResponse(status: number): HttpResponse {
  return { status, headers: EMPTY_HEADERS, body: null };
}
