/** Replies with and without a JSON body: the headers that every one of them carries. */
import { NO_HEADERS, ReplyHeaders } from '../transport/reply-headers.ts';
import type { Reply } from '../transport/transport.ts';

export const JSON_HEADERS = ReplyHeaders.of('content-type', 'application/json; charset=utf-8');

export function jsonReply(status: number, value: unknown): Reply {
  return { status, headers: JSON_HEADERS, body: JSON.stringify(value) };
}

/** A success with its ETag, which is in quotes: in the headers, and at hand for conditional requests. */
export interface TaggedReply extends Reply {
  readonly etag: string;
}

export function taggedReply(etag: string, body: Reply['body']): TaggedReply {
  return { status: 200, headers: JSON_HEADERS.with('etag', etag), body, etag };
}

export function emptyReply(status: number): Reply {
  return { status, headers: NO_HEADERS, body: null };
}
