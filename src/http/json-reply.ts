/** Replies with and without a JSON body: the headers that every one of them carries. */
import { NO_HEADERS, ReplyHeaders } from './reply-headers.ts';
import type { Reply } from './transport.ts';

export const JSON_HEADERS = ReplyHeaders.of('content-type', 'application/json; charset=utf-8');

export function jsonReply(status: number, value: unknown): Reply {
  return { status, headers: JSON_HEADERS, body: JSON.stringify(value) };
}

/** A success with its ETag, which is in quotes, in the headers. */
export function taggedReply(etag: string, body: Reply['body']): Reply {
  return { status: 200, headers: JSON_HEADERS.with('etag', etag), body };
}

export function emptyReply(status: number): Reply {
  return { status, headers: NO_HEADERS, body: null };
}
