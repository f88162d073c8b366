/**
 * Files of pages: read once at the start, served from memory, always as one and the same bytes, so that an ETag of
 * their content holds. A browser keeps them and asks each time whether they still hold, which costs it no body.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { extname } from 'node:path';
import { isNotModified } from '../dispatch/conditional.ts';
import type { PlainRoute } from '../dispatch/route.ts';
import { ResponseHeaders } from '../transport/response-headers.ts';
import type { HttpResponse } from '../transport/transport.ts';

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.json': 'application/json; charset=utf-8',
};

/** Of every response: nothing is guessed, nothing is told to other sites, no other window reaches in. */
const COMMON_HEADERS = [
  'x-content-type-options',
  'nosniff',
  'referrer-policy',
  'no-referrer',
  'cross-origin-opener-policy',
  'same-origin',
  'cache-control',
  'no-cache',
] as const;

export interface Page {
  readonly body: Uint8Array;
  readonly etag: string;
  readonly headers: ResponseHeaders;
}

/** `kind` is a file name extension; `policy` the page's Content-Security-Policy. */
export function makePage(body: Uint8Array, kind: string, policy: string): Page {
  const type = CONTENT_TYPES[kind];
  if (type === undefined) throw new Error(`no content type is known for ${kind} files`);
  const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`;
  const own = ['content-type', type, 'etag', etag, 'content-security-policy', policy];
  return { body, etag, headers: ResponseHeaders.of(...own, ...COMMON_HEADERS) };
}

export function readPage(file: string, policy: string): Page {
  return makePage(readFileSync(file), extname(file), policy);
}

/** `page` is asked for at the first request, and kept. */
export function pageRoute(path: string, page: () => Page): PlainRoute {
  let made: Page | null = null;
  return {
    kind: 'plain',
    method: 'GET',
    path,
    respond: (request): HttpResponse => {
      made ??= page();
      const { body, etag, headers } = made;
      if (isNotModified(request, etag)) return { status: 304, headers, body: null };
      return { status: 200, headers, body };
    },
  };
}
