/** Replies with and without a JSON body: the headers that every one of them carries. */
import { ReplyHeaders } from '../transport/reply-headers.ts';
import type { Reply } from '../transport/transport.ts';

/** Responses show state and secrets, so nobody on the way keeps them, and no browser takes them for something else. */
const UNCACHED = ['x-content-type-options', 'nosniff', 'cache-control', 'no-store'];

const JSON_TYPE = ['content-type', 'application/json; charset=utf-8'];

export const JSON_HEADERS = ReplyHeaders.of(...JSON_TYPE, ...UNCACHED);

/** Of a reply without a body. */
export const EMPTY_HEADERS = ReplyHeaders.of(...UNCACHED);

/** What has a tag may be kept by the client itself, and must be asked for again with that tag. */
const REVALIDATED = 'private, no-cache';

const TAGGED_HEADERS = ReplyHeaders.of(
  ...JSON_TYPE,
  'x-content-type-options',
  'nosniff',
  'cache-control',
  REVALIDATED,
);

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
  return new TaggedReply(etag, body, TAGGED_HEADERS.with('etag', etag, ...extraHeaders));
}

export function emptyReply(status: number): Reply {
  return { status, headers: EMPTY_HEADERS, body: null };
}
