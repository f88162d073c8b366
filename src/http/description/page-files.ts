/**
 * Files of pages: read once at the start, served from memory, always as one and the same bytes, so that an ETag of
 * their content holds. A browser keeps them and asks each time whether they still hold, which costs it no body. Each is
 * compressed once, when the first browser asks for it so.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { extname } from 'node:path';
import { type Coding, Compressor } from '../serving/compressor.ts';
import { isNotModified } from '../serving/conditional.ts';
import { tagOfCoding } from '../serving/etag.ts';
import { preferredCoding } from '../serving/preferred-coding.ts';
import type { PlainRoute } from '../serving/route.ts';
import { ResponseHeaders } from '../transport/response-headers.ts';
import type { HttpResponse, TransportRequest } from '../transport/transport.ts';

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.json': 'application/json; charset=utf-8',
};

/** Headers of every response: nothing is guessed, nothing is told to other sites, no other window reaches in. */
const COMMON_HEADERS = [
  'x-content-type-options',
  'nosniff',
  'referrer-policy',
  'no-referrer',
  'cross-origin-opener-policy',
  'same-origin',
  'cache-control',
  'no-cache',
  'vary',
  'accept-encoding',
] as const;

/** Smaller files fit into one packet as they are. */
const COMPRESSED_BYTES_MIN = 1_024;

export interface Page {
  readonly body: Uint8Array;
  readonly etag: string;
  readonly headers: ResponseHeaders;
  /** The page compressed, by coding, once it was asked for, or what makes it; null where it is sent as it is. */
  readonly codings: Map<Coding, Page | Promise<Page | null>>;
}

const compressor = new Compressor();

/** `kind` is a file name extension; `policy` the page's Content-Security-Policy. */
export function makePage(body: Uint8Array, kind: string, policy: string): Page {
  const type = CONTENT_TYPES[kind];
  if (type === undefined) throw new Error(`no content type is known for ${kind} files`);
  const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`;
  const own = ['content-type', type, 'etag', etag, 'content-security-policy', policy];
  return { body, etag, headers: ResponseHeaders.of(...own, ...COMMON_HEADERS), codings: new Map() };
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
    isLarge: true,
    respond: (request) => {
      made ??= page();
      const coding = preferredCoding(request.header('accept-encoding'));
      if (coding === 'identity' || made.body.byteLength < COMPRESSED_BYTES_MIN)
        return responseOf(made, request);
      return codedResponse(made, coding, request);
    },
  };
}

/** At once where it was compressed before. */
function codedResponse(
  page: Page,
  coding: Coding,
  request: TransportRequest,
): HttpResponse | Promise<HttpResponse> {
  const coded = page.codings.get(coding) ?? compressed(page, coding);
  if (!(coded instanceof Promise)) return responseOf(coded, request);
  page.codings.set(coding, coded);
  return coded.then((made) => responseOf(made ?? page, request));
}

/** Null where too many wait for being compressed, who ask again then. */
async function compressed(page: Page, coding: Coding): Promise<Page | null> {
  const body = await compressor.compress({
    ...{ body: page.body, coding, effort: 'thorough' },
    isWanted: () => true,
  });
  if (body === null) {
    page.codings.delete(coding);
    return null;
  }
  const etag = tagOfCoding(page.etag, coding);
  const headers = page.headers.without('etag').with('etag', etag, 'content-encoding', coding);
  const made = { ...page, body, etag, headers };
  page.codings.set(coding, made);
  return made;
}

function responseOf({ body, etag, headers }: Page, request: TransportRequest): HttpResponse {
  if (isNotModified(request, etag)) return { status: 304, headers, body: null };
  return { status: 200, headers, body };
}
