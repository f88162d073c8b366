/**
 * The one place that decides whether a reply may go out: neither engine is trusted with it, because uWebSockets.js
 * writes header values as they come, CR and LF included, and whoever gets a line break into a value writes headers
 * of his own.
 */
import assert from 'node:assert/strict';
import { STATUS_CODES } from 'node:http';
import type { Reply } from './transport.ts';

const NAME_PATTERN = /^[a-z0-9-]+$/;
/** Visible ASCII, space and tab: no CR, LF or NUL, and nothing that needs an encoding. */
const VALUE_PATTERN = /^[\t\x20-\x7e]*$/;

/** Written by the engine, which alone knows the framing. */
const ENGINE_HEADERS = new Set(['connection', 'content-length', 'transfer-encoding', 'date', 'keep-alive']);

/** `200 OK` and so on, for every status that has a name. */
const STATUS_LINES = new Map(
  Object.entries(STATUS_CODES).map(([code, name]) => [Number(code), `${code} ${name}`] as const),
);

/**
 * Frozen header lists that were found good, by identity. Handlers send the same few again and again, and to look
 * them up takes 20 ns where checking them takes 180, two per cent of a cached read.
 */
const passed = new WeakSet<readonly string[]>();

/** Throws when the reply must not be sent. */
export function assertSendable(reply: Reply): void {
  assert(
    STATUS_LINES.has(reply.status) && reply.status >= 200,
    `status ${reply.status} is no final HTTP status`,
  );
  if (passed.has(reply.headers)) return;
  assert(reply.headers.length % 2 === 0, 'reply headers must be pairs of name and value');
  for (let i = 0; i < reply.headers.length; i += 2) assertHeader(reply.headers[i]!, reply.headers[i + 1]!);
  if (Object.isFrozen(reply.headers)) passed.add(reply.headers);
}

export function statusLine(status: number): string {
  return STATUS_LINES.get(status)!;
}

/** RFC 9110 §8.6: these statuses have no body, and so no Content-Length. */
export function isBodiless(status: number): boolean {
  return status === 204 || status === 304;
}

export function bytesOf(body: Reply['body']): Uint8Array {
  return body instanceof Uint8Array ? body : Buffer.from(body ?? '');
}

function assertHeader(name: string, value: string): void {
  assert(NAME_PATTERN.test(name), `reply header name ${JSON.stringify(name)} is not a lower-case token`);
  assert(!ENGINE_HEADERS.has(name), `reply header ${name} is the engine's to write`);
  assert(VALUE_PATTERN.test(value), `reply header ${name} has a value with bytes outside printable ASCII`);
}
