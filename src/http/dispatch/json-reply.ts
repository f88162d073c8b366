/** Replies with and without a JSON body: the headers that every one of them carries. */
import { NO_HEADERS, ReplyHeaders } from '../transport/reply-headers.ts';
import type { Reply } from '../transport/transport.ts';

export const JSON_HEADERS = ReplyHeaders.of('content-type', 'application/json; charset=utf-8');

export function jsonReply(status: number, value: unknown): Reply {
  return { status, headers: JSON_HEADERS, body: JSON.stringify(value) };
}

/** A success with its ETag, which is in quotes: in the headers, and at hand for conditional requests. */
export class TaggedReply implements Reply {
  readonly status = 200;
  readonly headers: ReplyHeaders;
  readonly body: Reply['body'];
  readonly etag: string;
  #notModified: Reply | null = null;

  constructor(etag: string, body: Reply['body'], headers: ReplyHeaders) {
    this.etag = etag;
    this.body = body;
    this.headers = headers;
  }

  /** What a client gets that has this reply already. Made once: polling clients hardly ever get anything else. */
  get notModified(): Reply {
    this.#notModified ??= { status: 304, headers: this.headers.only(NOT_MODIFIED_HEADERS), body: null };
    return this.#notModified;
  }
}

/** RFC 9110 §15.4.5: what decides whether a cache may go on using what it has. */
const NOT_MODIFIED_HEADERS = ['etag', 'vary', 'cache-control'];

/** `extraHeaders`: name, value, name, value. */
export function taggedReply(
  etag: string,
  body: Reply['body'],
  extraHeaders: readonly string[] = [],
): TaggedReply {
  return new TaggedReply(etag, body, JSON_HEADERS.with('etag', etag, ...extraHeaders));
}

export function emptyReply(status: number): Reply {
  return { status, headers: NO_HEADERS, body: null };
}
