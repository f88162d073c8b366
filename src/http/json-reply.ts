/** Replies with and without a JSON body: the headers that every one of them carries. */
import type { Reply } from './transport.ts';

export const JSON_HEADERS: readonly string[] = ['content-type', 'application/json; charset=utf-8'];

export function jsonReply(status: number, value: unknown): Reply {
  return { status, headers: JSON_HEADERS, body: JSON.stringify(value) };
}

export function emptyReply(status: number): Reply {
  return { status, headers: [], body: null };
}
