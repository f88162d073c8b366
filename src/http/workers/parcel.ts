/**
 * What the main thread and an HTTP worker send each other: parcels, one for all that came up in a turn of the event loop, because a
 * message costs ten times what a request or a response in it costs.
 *
 * A parcel has flat lists, which the structured clone is fast on, and the bytes of all bodies in one block that changes its owner
 * instead of being copied. A body is given as the places in that block where it begins and ends; -1 for none.
 */
import { BodyPieces, byteLengthOf, type ResponseBody } from '../transport/response-body.ts';

/** From a worker. */
export interface RequestParcel {
  /** By `REQUEST_FIELDS`. */
  readonly requests: readonly (string | number)[];
  /** Requests whose response nobody awaits any more, and streams that ended; by their numbers. */
  readonly over: readonly number[];
  /** Of streams: number, and how many bytes of it the client, or the kernel, has taken. */
  readonly taken: readonly number[];
  /** Requests that the transport refused, by `REFUSED_FIELDS`. */
  readonly refused: readonly (string | number)[];
  /** Of the main thread's parcels, what has been taken in since the last parcel. */
  readonly receivedBytes: number;
  /** The same, of pieces of streams. */
  readonly receivedPieces: number;
  readonly bytes: ArrayBuffer;
}

/** Flags that stand together, for all workers: their responses without a coding. */
export interface FlagBlock {
  /** What stands before the names in their paths. */
  readonly path: string;
  /** Of all flags, as it was when the responses were made. */
  readonly flagsMark: number;
  /** By `FLAG_FIELDS`. */
  readonly flags: readonly (string | number)[];
  /** The bodies: once, for all threads. */
  readonly bytes: SharedArrayBuffer;
}

/** Name, ETag, the flag's mark, until when, begin and end. */
export const FLAG_FIELDS = 6;

/** Number, 1 where the response may be kept, method, path, query, headers, address, begin and end of the body. */
export const REQUEST_FIELDS = 9;

/** Status, reason, the id in the response, method, path, query, headers, address. The method is empty where there was no head. */
export const REFUSED_FIELDS = 8;

/** From the main thread. */
export interface ResponseParcel {
  /** What may be kept of the responses that follow: number, ETag or nothing, headers, body, until when, when its caller's token expires, 1 if the caller may read all flags. */
  readonly kept: readonly (string | number)[];
  readonly blocks: readonly FlagBlock[];
  /** Number, status, headers, body. */
  readonly responses: readonly (string | number)[];
  /** Streams that begin: number, status, headers. */
  readonly streams: readonly (string | number)[];
  /** Of streams: number, begin and end. */
  readonly pieces: readonly number[];
  /** Streams that end: number, and 1 where the client is disconnected because it was too slow. */
  readonly ended: readonly number[];
  readonly bytes: ArrayBuffer;
}

export const KEPT_FIELDS = 8;
export const RESPONSE_FIELDS = 5;
export const STREAM_FIELDS = 3;
export const PIECE_FIELDS = 3;

/** Headers of a request as one text: none has a line's end in it. Those of a response are a text already. */
export function joinHeaders(pairs: readonly string[]): string {
  return pairs.join('\n');
}

export function splitHeaders(text: string): string[] {
  return text === '' ? [] : text.split('\n');
}

/** Gathers the bodies of a parcel. The same bytes are in it once, however often they are sent. */
export class ParcelBytes {
  #parts: NonNullable<ResponseBody>[] = [];
  #places = new Map<object, number>();
  #byteLength = 0;

  get byteLength(): number {
    return this.#byteLength;
  }

  /** Appends to `list` where the body will begin and end. */
  add(body: ResponseBody, list: number[] | (string | number)[]): void {
    if (body === null) {
      list.push(-1, -1);
      return;
    }
    const length = byteLengthOf(body);
    const known = typeof body === 'string' ? undefined : this.#places.get(body);
    const begin = known ?? this.#byteLength;
    list.push(begin, begin + length);
    if (known !== undefined) return;
    this.#parts.push(body);
    if (typeof body !== 'string') this.#places.set(body, begin);
    this.#byteLength += length;
  }

  /** All of them, joined. */
  join(): ArrayBuffer {
    const joined = Buffer.allocUnsafeSlow(this.#byteLength);
    let at = 0;
    for (const part of this.#parts) {
      if (typeof part === 'string') joined.write(part, at);
      else if (part instanceof BodyPieces) part.copyInto(joined.subarray(at));
      else joined.set(part, at);
      at += byteLengthOf(part);
    }
    return joined.buffer;
  }
}

/** What counts as under way. */
export function parcelBytes({ bytes, blocks }: Pick<ResponseParcel, 'bytes' | 'blocks'>): number {
  return blocks.reduce((sum, block) => sum + block.bytes.byteLength, bytes.byteLength);
}

/** Null where there is none. */
export function bodyIn(
  bytes: ArrayBuffer | SharedArrayBuffer,
  begin: number,
  end: number,
): Uint8Array | null {
  return begin === -1 ? null : new Uint8Array(bytes, begin, end - begin);
}
