/**
 * Sends bodies on uWebSockets.js without copying them per connection: `tryEnd` takes what the reader has made room
 * for, and the rest is offered again, from the same buffer, when there is more.
 *
 * All functions are called while the response is open; `onWritable` is the library's call for the next part, and it
 * passes the offset in the body from which to go on.
 */
import type { HttpResponse as UwsResponse } from 'uWebSockets.js';
import type { BodyPieces } from './response.ts';

/** Goes on with a body that a first `tryEnd` did not send whole. Calls `onSent` once the kernel has all of it. */
export function sendRest(res: UwsResponse, bytes: Uint8Array, onSent: () => void): void {
  res.onWritable((offset) => {
    const [isAccepted, isSent] = res.tryEnd(bytes.subarray(offset), bytes.byteLength);
    if (isSent) onSent();
    return isAccepted;
  });
}

/** Pieces are joined in it, to be offered; used only within one call. */
export const scratch = Buffer.allocUnsafeSlow(256 * 1024);

/** Bytes of a body offered in one turn of the event loop: taking them costs the kernel about half a millisecond. */
export const OFFERED_BYTES_MAX = 1024 * 1024;

/** Bytes of all large bodies offered in one turn: a hundred readers may have waited for the same document. */
export const OFFERED_EACH_ROUND_BYTES = 4 * OFFERED_BYTES_MAX;

let offeredInRoundBytes = 0;

const isRoundFull = (): boolean => offeredInRoundBytes >= OFFERED_EACH_ROUND_BYTES;

function countOffered(bytes: number): void {
  if (offeredInRoundBytes === 0)
    setImmediate(() => {
      offeredInRoundBytes = 0;
    });
  offeredInRoundBytes += bytes;
}

/** Some of the body, from `offset` on; good until it is asked for again. */
function partAt(body: Uint8Array | BodyPieces, offset: number): Uint8Array {
  if (body instanceof Uint8Array) return body.subarray(offset, offset + scratch.byteLength);
  return scratch.subarray(0, body.copyFrom(offset, scratch));
}

/**
 * Sends a large body without joining it, at most a megabyte in each turn of the event loop. A reader that is as fast as the
 * server would otherwise hold it until the last byte.
 */
export class BodySender {
  readonly #res: UwsResponse;
  readonly #body: Uint8Array | BodyPieces;
  readonly #isOpen: () => boolean;
  readonly #onSent: () => void;
  #offset = 0;

  constructor(
    res: UwsResponse,
    body: Uint8Array | BodyPieces,
    { isOpen, onSent }: { readonly isOpen: () => boolean; readonly onSent: () => void },
  ) {
    this.#res = res;
    this.#body = body;
    this.#isOpen = isOpen;
    this.#onSent = onSent;
  }

  /** To be called within a callback of the library. */
  send(): void {
    this.#res.onWritable((offset) => {
      this.#offset = offset;
      return this.#offer();
    });
    this.#offer(true);
  }

  /** Whether everything was taken that was offered. */
  #offer(isFirst = false): boolean {
    const end = this.#offset + OFFERED_BYTES_MAX;
    // Without a part of its body a response does not begin.
    for (let isDue = isFirst; this.#offset < end && (isDue || !isRoundFull()); isDue = false) {
      const bytes = partAt(this.#body, this.#offset);
      countOffered(bytes.byteLength);
      const [isAccepted, isSent] = this.#res.tryEnd(bytes, this.#body.byteLength);
      if (isSent) {
        this.#onSent();
        return true;
      }
      if (!isAccepted) return false;
      this.#offset += bytes.byteLength;
    }
    setImmediate(() => {
      if (this.#isOpen()) this.#res.cork(() => this.#offer());
    });
    return true;
  }
}

/**
 * Sends the head with `connection: close`, then the body if there is to be one, then ends the connection.
 *
 * `tryEnd` cannot be told to close, and once a response is over its socket is out of reach. So the last byte goes out
 * under a length that is one too large: the response is whole for the client, who was told the right length with the
 * first part, yet never over for the library, which therefore lets us close. A further request on the connection
 * meets a response that is not over, and is not run.
 */
export class ClosingBody {
  readonly #res: UwsResponse;
  readonly #bytes: Uint8Array;
  readonly #isOpen: () => boolean;

  constructor(res: UwsResponse, bytes: Uint8Array, isOpen: () => boolean) {
    this.#res = res;
    this.#bytes = bytes;
    this.#isOpen = isOpen;
  }

  send(): void {
    const { byteLength } = this.#bytes;
    const firstMax = isRoundFull() ? scratch.byteLength : OFFERED_BYTES_MAX;
    const first = this.#bytes.subarray(0, Math.min(byteLength - 1, firstMax));
    countOffered(first.byteLength);
    this.#res.writeHeader('connection', 'close');
    const [isAccepted] = this.#res.tryEnd(first, byteLength);
    this.#res.onWritable((offset) => {
      const end = this.#endOfPart(offset);
      const isTaken = this.#offer(offset, end);
      if (isTaken) setImmediate(() => this.#goOn(end));
      return isTaken;
    });
    if (isAccepted) setImmediate(() => this.#goOn(first.byteLength));
  }

  /**
   * Offers some of what is left from `offset`. Accepted means corked, not sent: only when the turn after that has nothing
   * left to offer, and finds nothing waiting in front of it either, may the connection be closed.
   */
  #goOn(offset: number): void {
    if (!this.#isOpen()) return;
    if (isRoundFull()) return void setImmediate(() => this.#goOn(offset));
    const end = this.#endOfPart(offset);
    let isAccepted = false;
    this.#res.cork(() => {
      isAccepted = this.#offer(offset, end);
    });
    if (!isAccepted) return;
    if (offset === this.#bytes.byteLength) this.#res.close();
    else setImmediate(() => this.#goOn(end));
  }

  #endOfPart(offset: number): number {
    return Math.min(this.#bytes.byteLength, offset + OFFERED_BYTES_MAX);
  }

  #offer(offset: number, end: number): boolean {
    countOffered(end - offset);
    const [isAccepted] = this.#res.tryEnd(this.#bytes.subarray(offset, end), this.#bytes.byteLength + 1);
    return isAccepted;
  }
}

/** The head alone, with the length that the body would have; then ends the connection. */
export function sendClosingHead(res: UwsResponse, byteLength: number, isOpen: () => boolean): void {
  res.writeHeader('connection', 'close').tryEnd('', byteLength);
  setImmediate(() => isOpen() && res.close());
}
