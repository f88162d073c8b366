/**
 * Requests of pages from other origins (the Fetch standard calls the protocol CORS). Every response says who may read it, errors
 * included, because a page that may not read an error cannot tell what went wrong.
 */
import { ANY_ORIGIN } from '../../domain/state/frontend-origins.ts';
import { ResponseHeaders } from '../transport/response-headers.ts';
import type { HttpResponse, TransportRequest, TransportRequestHead } from '../transport/transport.ts';

export interface CrossOrigin {
  /** The response to the question whether the request that follows may be made. */
  preflight(request: TransportRequest): HttpResponse;
  /** The response with the headers that let the page read it. */
  allow(request: TransportRequestHead, response: HttpResponse): HttpResponse;
}

/** How long a browser may remember the response to a preflight request. */
const PREFLIGHT_MAX_AGE_SECONDS = '86400';

/** Names of headers, which a preflight response repeats. */
const HEADER_NAMES_PATTERN = /^[A-Za-z0-9!#$%&'*+.^_`|~, -]{1,2000}$/;

/** `origins`: such as `https://shop.example`; `*` among them stands for every one. */
export function crossOriginOf(origins: readonly string[]): CrossOrigin {
  const allowAny = origins.includes(ANY_ORIGIN);
  const known = new Map(origins.map((origin) => [origin, headersFor(origin)]));
  const forAny = allowAny ? headersFor(ANY_ORIGIN) : null;
  return {
    preflight: (request) => ({ status: 204, headers: preflightHeaders(request), body: null }),
    allow: (request, { status, headers, body }) => ({
      status,
      headers: headers.and(forAny ?? known.get(request.header('origin')) ?? FOR_NOBODY),
      body,
    }),
  };
}

/** A cache must not give one origin what was meant for another. */
const FOR_NOBODY = ResponseHeaders.of('vary', 'Origin');

function headersFor(origin: string): ResponseHeaders {
  return FOR_NOBODY.with(
    ...['access-control-allow-origin', origin],
    ...['access-control-expose-headers', 'ETag, X-Request-Id'],
  );
}

function preflightHeaders(request: TransportRequest): ResponseHeaders {
  const asked = request.header('access-control-request-headers');
  return ResponseHeaders.of(
    ...['access-control-allow-methods', 'GET, HEAD, POST, OPTIONS'],
    ...(HEADER_NAMES_PATTERN.test(asked) ? ['access-control-allow-headers', asked] : []),
    ...['access-control-max-age', PREFLIGHT_MAX_AGE_SECONDS],
  );
}
