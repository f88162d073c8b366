/** Replies with and without a JSON body: the headers that every one of them carries. */
import type { Reply } from './transport.ts';

// Frozen lists are checked once by the transport, others at each reply.
export const JSON_HEADERS: readonly string[] = Object.freeze([
  'content-type',
  'application/json; charset=utf-8',
]);
const NO_HEADERS: readonly string[] = Object.freeze([]);

export function jsonReply(status: number, value: unknown): Reply {
  return { status, headers: JSON_HEADERS, body: JSON.stringify(value) };
}

/** With the ETag in its headers, for what is made anew each time. */
export function taggedReply(etag: string, value: unknown): Reply {
  return { status: 200, headers: [...JSON_HEADERS, 'etag', etag], body: JSON.stringify(value) };
}

export function emptyReply(status: number): Reply {
  return { status, headers: NO_HEADERS, body: null };
}

/** The headers of a JSON answer that can be cached under `etag`, which is in quotes. */
export function cacheableHeaders(etag: string): readonly string[] {
  return Object.freeze([...JSON_HEADERS, 'etag', etag]);
}
