/**
 * Responses in the coding that their clients like best, compressed off the main thread. What is kept as bytes for many readers is
 * compressed once for all of them; anything else for each request.
 */

import { BodyPieces, byteLengthOf, bytesOf } from '../transport/response-body.ts';
import type { HttpResponse, TransportRequest } from '../transport/transport.ts';
import type { Cache, CachePart } from './cache.ts';
import { type Coding, Compressor } from './compressor.ts';
import { isNotModified } from './conditional.ts';
import { tagOfCoding } from './etag.ts';
import { gzipPieces } from './gzip-pieces.ts';
import { TaggedResponse } from './json-response.ts';
import { preferredCoding, takesGzip } from './preferred-coding.ts';

/** Smaller bodies fit into one packet as they are. */
const COMPRESSED_BYTES_MIN = 1_024;

/** Larger bodies are sent as they are, unless they are in pieces: compressing this much takes some 10 ms, for which others wait. */
const WHOLE_BYTES_MAX = 1024 * 1024;

/** A response takes some memory however small it is. */
const BYTES_EACH = 1_024;

interface Compressed {
  gzip: TaggedResponse | null;
  br: TaggedResponse | null;
}

export class ResponseCoder {
  readonly #compressor = new Compressor();
  /** With what they were compressed from. */
  readonly #kept: CachePart<TaggedResponse, Compressed>;
  /** What is being compressed, for all who ask meanwhile. */
  readonly #pending: Readonly<Record<Coding, Map<TaggedResponse, Promise<HttpResponse>>>> = {
    gzip: new Map(),
    br: new Map(),
  };
  /** Responses in pieces, which take little, and go with the responses that they were made of. */
  readonly #inPieces = new WeakMap<TaggedResponse, TaggedResponse>();

  constructor(cache: Cache) {
    this.#kept = cache.part({
      bytesOf: ({ gzip, br }, { body }) =>
        BYTES_EACH + byteLengthOf(body) + byteLengthOf(gzip?.body ?? null) + byteLengthOf(br?.body ?? null),
    });
  }

  /** What a client that sent `acceptEncoding` gets. */
  codingOf({ status, body }: HttpResponse, acceptEncoding: string): Coding | 'identity' {
    if (acceptEncoding === '' || status !== 200 || body === null) return 'identity';
    const bytes = byteLengthOf(body);
    if (bytes < COMPRESSED_BYTES_MIN) return 'identity';
    const coding = preferredCoding(acceptEncoding);
    if (body instanceof BodyPieces)
      return coding !== 'identity' && takesGzip(acceptEncoding) ? 'gzip' : 'identity';
    return bytes > WHOLE_BYTES_MAX ? 'identity' : coding;
  }

  /** The response as it is where too much waits for being compressed already. */
  coded(response: HttpResponse, coding: Coding): HttpResponse | Promise<HttpResponse> {
    if (!(response instanceof TaggedResponse)) return this.#compressed(response, coding);
    return this.#keptAs(response, coding) ?? this.#made(response, coding);
  }

  /** What a client gets that has the response in this coding or as it is, and null for any other. Nothing is compressed for it. */
  notModified(response: TaggedResponse, coding: Coding, request: TransportRequest): HttpResponse | null {
    if (isNotModified(request, response.etag)) return response.notModified;
    const etag = tagOfCoding(response.etag, coding);
    if (!isNotModified(request, etag)) return null;
    const made = this.#keptAs(response, coding) ?? taggedAs(response, coding, null);
    return made.notModified;
  }

  #keptAs(response: TaggedResponse, coding: Coding): TaggedResponse | null {
    const inPieces = coding === 'gzip' ? this.#inPieces.get(response) : undefined;
    return inPieces ?? this.#kept.get(response)?.[coding] ?? null;
  }

  #made(response: TaggedResponse, coding: Coding): Promise<HttpResponse> {
    const pending = this.#pending[coding];
    const known = pending.get(response);
    if (known !== undefined) return known;
    const made = this.#make(response, coding).finally(() => pending.delete(response));
    pending.set(response, made);
    return made;
  }

  async #make(response: TaggedResponse, coding: Coding): Promise<HttpResponse> {
    const body = await this.#bodyOf(response, coding);
    if (body === null) return response;
    const made = taggedAs(response, coding, body);
    if (body instanceof BodyPieces) this.#inPieces.set(response, made);
    else {
      const { gzip, br } = this.#kept.get(response) ?? { gzip: null, br: null };
      this.#kept.set(response, coding === 'gzip' ? { gzip: made, br } : { gzip, br: made });
    }
    return made;
  }

  async #compressed(response: HttpResponse, coding: Coding): Promise<HttpResponse> {
    const body = await this.#bodyOf(response, coding);
    if (body === null) return response;
    const headers = response.headers.with('content-encoding', coding, 'vary', 'accept-encoding');
    return { status: response.status, headers, body };
  }

  async #bodyOf({ body }: HttpResponse, coding: Coding): Promise<Uint8Array | BodyPieces | null> {
    if (body instanceof BodyPieces) return gzipPieces(body, this.#compressor);
    return this.#compressor.compress({ body: bytesOf(body), coding, effort: 'fast', isWanted: () => true });
  }
}

function taggedAs(
  { etag, headers }: TaggedResponse,
  coding: Coding,
  body: HttpResponse['body'],
): TaggedResponse {
  const tag = tagOfCoding(etag, coding);
  return new TaggedResponse(tag, body, headers.without('etag').with('etag', tag, 'content-encoding', coding));
}
