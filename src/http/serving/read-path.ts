/** Takes a checked request to its response or stream, which is sent when everything that it shows is durable (invariant 4). */

import { crc32 } from 'node:zlib';
import { type Cache, type CachePart, cacheOf } from '../../actors/cache.ts';
import type { ServedState } from '../../actors/served-state.ts';
import { isRefusal, type Refusal, refuse } from '../../domain/state/refusal.ts';
import { joinedChecksum, shiftPast } from '../../persistence/codec/joined-checksum.ts';
import { BodyPieces, byteLengthOf, bytesOf } from '../transport/response.ts';
import type { HttpResponse } from '../transport/transport.ts';
import { UNREAD_BYTES_MAX } from '../transport/transport-limits.ts';
import type { Call } from './call.ts';
import { type Coding, Compressor, preferredCoding, takesPiecesCompressed } from './compressor.ts';
import { namesTag, tagOfCoding } from './etag.ts';
import { TaggedResponse } from './json-response.ts';
import type { ResponseSender } from './response-sender.ts';
import type { ReadResponse, ReadRoute, RequestContext, StreamRoute } from './route.ts';

export class ReadPath {
  readonly #state: ServedState;
  readonly #sender: ResponseSender;
  readonly #coder: ResponseCoder;

  constructor(state: ServedState, sender: ResponseSender) {
    this.#state = state;
    this.#sender = sender;
    this.#coder = new ResponseCoder(cacheOf(state));
  }

  read(call: Call, route: ReadRoute, located: unknown): void {
    const response = route.read(call, located);
    if (!(response instanceof Promise)) return this.#respond(call, response);
    this.#sender.later(call, response, (late) => this.#respond(call, late));
  }

  #respond(call: Call, read: ReadResponse | Refusal): void {
    if (isRefusal(read)) return this.#sender.refuseSettled(call, read);
    if (read.revision <= this.#state.durableId) this.#send(call, read);
    else this.#state.whenDurable(read.revision, () => this.#send(call, read));
  }

  #send(call: Call, { response }: ReadResponse): void {
    const { request, surface } = call;
    const coding =
      surface?.compresses === true ? codingOf(response, request.header('accept-encoding')) : 'identity';
    const ifNoneMatch = request.header('if-none-match');
    // A search is a POST. Its response has a tag, but 304 is only for what can be cached.
    if (ifNoneMatch !== '' && request.method !== 'POST' && response instanceof TaggedResponse) {
      const notModified = this.#coder.notModified(response, coding, ifNoneMatch);
      if (notModified !== null) return this.#sender.send(call, notModified);
    }
    const coded = coding === 'identity' ? response : this.#coder.coded(response, coding);
    if (!(coded instanceof Promise)) return this.#sendAs(call, coded);
    this.#sender.later(call, coded, (late) => this.#sendAs(call, late));
  }

  #sendAs(call: Call, response: HttpResponse): void {
    const refusal = refuseTooLong(response);
    if (refusal === null) this.#sender.send(call, response);
    else this.#sender.refuse(call, refusal);
  }

  stream(call: Call, opened: ReturnType<StreamRoute['open']>): void {
    if (isRefusal(opened)) return this.#sender.refuseSettled(call, opened);
    if (opened instanceof Promise) return this.#sender.later(call, opened, (late) => this.stream(call, late));
    this.#state.whenDurable(opened.revision, () => {
      if (call.responder.isWanted) this.#sender.sendStream(call, opened);
    });
  }
}

// Refuses a response that could not arrive: what its client has not read yet would be more than all clients together may leave
// unread, so the connection would be closed in its middle. A refusal before the first byte names a request that works.

/** Bytes of one response, as it is sent. */
export const RESPONSE_BYTES_MAX = UNREAD_BYTES_MAX;

export function refuseTooLong({ body }: Pick<HttpResponse, 'body'>): Refusal | null {
  // A character takes three bytes at most, and most texts are short.
  if (body === null || (typeof body === 'string' && body.length * 3 <= RESPONSE_BYTES_MAX)) return null;
  const bytes = typeof body === 'string' ? Buffer.byteLength(body) : body.byteLength;
  return bytes <= RESPONSE_BYTES_MAX ? null : tooLong(`has ${mebibytes(bytes)} MiB`, RESPONSE_BYTES_MAX);
}

/**
 * Bytes of the pieces of which a response may be made for the client: what may be sent, or as much as the cache holds where they are
 * compressed before they are sent.
 */
export function piecesBytesMax(context: Pick<RequestContext<unknown>, 'state' | 'header'>): number {
  const isCompressed = takesPiecesCompressed(context.header('accept-encoding'));
  return isCompressed ? Math.max(RESPONSE_BYTES_MAX, cacheOf(context.state).bytesMax) : RESPONSE_BYTES_MAX;
}

/** Refuses a response of more bytes before it is made; `bytes` is how many there are at least. */
export function refuseTooManyPieces(bytes: number, bytesMax: number): Refusal | null {
  return bytes <= bytesMax ? null : tooLong(`would have more than ${mebibytes(bytesMax)} MiB`, bytesMax);
}

function tooLong(what: string, bytesMax: number): Refusal {
  const most = `at most ${mebibytes(bytesMax)} MiB are sent at once`;
  return refuse(
    'PayloadTooLargeError',
    `The response ${what}; ${most}. Send Accept-Encoding: gzip, or ask for less: /api/admin/search/features lists flags in pages (offset and limit), and documents for SDKs are narrowed by project, namePrefix and tag.`,
  );
}

const mebibytes = (bytes: number): number => Math.ceil(bytes / 2 ** 20);

// Responses in the coding that their clients like best, compressed off the main thread. What is cached as bytes for many readers is
// compressed once for all of them; anything else for each request.

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

class ResponseCoder {
  readonly #compressor = new Compressor();
  /** With what they were compressed from. */
  readonly #cache: CachePart<TaggedResponse, Compressed>;
  /** Compressions under way, which all requests for the response share. */
  readonly #pending: Readonly<Record<Coding, Map<TaggedResponse, Promise<HttpResponse>>>> = {
    gzip: new Map(),
    br: new Map(),
  };
  /** Responses in pieces, which take little, and go with the responses that they were made of. */
  readonly #inPieces = new WeakMap<TaggedResponse, TaggedResponse>();

  constructor(cache: Cache) {
    this.#cache = cache.part({
      bytesOf: ({ gzip, br }, { body }) =>
        BYTES_EACH + byteLengthOf(body) + byteLengthOf(gzip?.body ?? null) + byteLengthOf(br?.body ?? null),
    });
  }

  /** The response as it is where too much waits for being compressed already. */
  coded(response: HttpResponse, coding: Coding): HttpResponse | Promise<HttpResponse> {
    if (!(response instanceof TaggedResponse)) return this.#compressed(response, coding);
    return this.#cachedAs(response, coding) ?? this.#made(response, coding);
  }

  /**
   * The response to a client that already has this one, in this coding or uncompressed; null for any other client.
   * Compresses nothing.
   */
  notModified(
    response: TaggedResponse,
    coding: Coding | 'identity',
    ifNoneMatch: string,
  ): HttpResponse | null {
    if (namesTag(ifNoneMatch, response.etag)) return response.notModified;
    if (coding === 'identity') return null;
    const etag = tagOfCoding(response.etag, coding);
    if (!namesTag(ifNoneMatch, etag)) return null;
    const made = this.#cachedAs(response, coding) ?? taggedAs(response, coding, null);
    return made.notModified;
  }

  #cachedAs(response: TaggedResponse, coding: Coding): TaggedResponse | null {
    const inPieces = coding === 'gzip' ? this.#inPieces.get(response) : undefined;
    return inPieces ?? this.#cache.get(response)?.[coding] ?? null;
  }

  #made(response: TaggedResponse, coding: Coding): Promise<HttpResponse> {
    const pending = this.#pending[coding];
    const underWay = pending.get(response);
    if (underWay !== undefined) return underWay;
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
      const { gzip, br } = this.#cache.get(response) ?? { gzip: null, br: null };
      this.#cache.set(response, coding === 'gzip' ? { gzip: made, br } : { gzip, br: made });
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

/** The coding for a client that sent `acceptEncoding`. */
function codingOf({ status, body }: HttpResponse, acceptEncoding: string): Coding | 'identity' {
  if (acceptEncoding === '' || status !== 200 || body === null) return 'identity';
  const bytes = byteLengthOf(body);
  if (bytes < COMPRESSED_BYTES_MIN) return 'identity';
  if (body instanceof BodyPieces) return takesPiecesCompressed(acceptEncoding) ? 'gzip' : 'identity';
  return bytes > WHOLE_BYTES_MAX ? 'identity' : preferredCoding(acceptEncoding);
}

function taggedAs(
  { etag, headers }: TaggedResponse,
  coding: Coding,
  body: HttpResponse['body'],
): TaggedResponse {
  const tag = tagOfCoding(etag, coding);
  return new TaggedResponse(tag, body, headers.without('etag').with('etag', tag, 'content-encoding', coding));
}

// Large bodies of cached pieces as gzip, of which each piece is compressed once: after a change only the pieces with something new are
// compressed again.
//
// RFC 1951 and 1952. A piece is compressed without looking back at others, and ends with an empty stored block, which ends at a
// whole byte; so the blocks of several pieces can follow each other. All of them are one member, since browsers ignore a second one:
//
//   header (10 bytes) · blocks of each piece · the last block, empty (2 bytes) · CRC-32 of the body · its length modulo 2^32
//
// The CRC-32 of the body is joined from those of its pieces.

/** ID1, ID2, deflate, no flags, no time, no hint, unknown system. */
const HEADER = Uint8Array.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff);

/** A final block of fixed codes that holds nothing but its end. */
const LAST_BLOCK = [0x03, 0x00] as const;

/** Smaller pieces, such as the commas between others, are stored. */
const PIECE_BYTES_MIN = 128;

/** Bytes of the header of a stored block: its kind, its length, and the length again with all bits turned. */
const STORED_HEADER_BYTES = 5;

interface CompressedPiece {
  readonly blocks: Uint8Array;
  readonly crc: number;
  /** Moves a checksum past the piece. */
  readonly shift: number;
}

/** Cached as long as the pieces; null for one that could not be compressed, which is tried again. */
const compressedPieces = new WeakMap<Uint8Array, Promise<CompressedPiece | null>>();

/** Null where too much waits for being compressed already. */
export async function gzipPieces(body: BodyPieces, compressor: Compressor): Promise<BodyPieces | null> {
  const pieces: Uint8Array[] = [HEADER];
  let bytes = HEADER.byteLength;
  let crc = 0;
  for (const piece of body) {
    const compressed =
      piece.byteLength < PIECE_BYTES_MIN ? storedPiece(piece) : await compressedPiece(piece, compressor);
    if (compressed === null) return null;
    pieces.push(compressed.blocks);
    bytes += compressed.blocks.byteLength;
    crc = joinedChecksum(crc, compressed.crc, compressed.shift);
  }
  const trailer = trailerOf(crc, body.byteLength);
  pieces.push(trailer);
  return new BodyPieces(pieces, bytes + trailer.byteLength);
}

function trailerOf(crc: number, byteLength: number): Uint8Array {
  const trailer = Buffer.alloc(LAST_BLOCK.length + 8);
  trailer.set(LAST_BLOCK);
  trailer.writeUInt32LE(crc, LAST_BLOCK.length);
  trailer.writeUInt32LE(byteLength % 2 ** 32, LAST_BLOCK.length + 4);
  return trailer;
}

function compressedPiece(piece: Uint8Array, compressor: Compressor): Promise<CompressedPiece | null> {
  const cached = compressedPieces.get(piece);
  if (cached !== undefined) return cached;
  const made = compressor
    .compress({ body: piece, coding: 'part', effort: 'fast', isWanted: () => true })
    .then((blocks) => {
      if (blocks !== null) return { blocks, ...checksumOf(piece) };
      compressedPieces.delete(piece);
      return null;
    });
  compressedPieces.set(piece, made);
  return made;
}

function storedPiece(piece: Uint8Array): CompressedPiece {
  const blocks = Buffer.alloc(STORED_HEADER_BYTES + piece.byteLength);
  blocks.writeUInt16LE(piece.byteLength, 1);
  blocks.writeUInt16LE(0xffff - piece.byteLength, 3);
  blocks.set(piece, STORED_HEADER_BYTES);
  return { blocks, ...checksumOf(piece) };
}

function checksumOf(piece: Uint8Array): Pick<CompressedPiece, 'crc' | 'shift'> {
  return { crc: crc32(piece), shift: shiftPast(piece.byteLength) };
}
