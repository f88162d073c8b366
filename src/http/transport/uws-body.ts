/**
 * Sends bodies on uWebSockets.js without copying them per connection: `tryEnd` takes what the reader has made room
 * for, and the rest is offered again, from the same buffer, when there is more.
 *
 * All functions are called while the response is open; `onWritable` is the library's call for the next part, and it
 * passes the offset in the body from which to go on.
 */
import type { HttpResponse as UwsResponse } from 'uWebSockets.js';
import type { BodyPieces } from './response.ts';

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

export interface BodySenderOptions {
  /** Whether the connection ends behind the body, which must have two bytes at least. */
  readonly closes: boolean;
  readonly isOpen: () => boolean;
  /** Called once the kernel has all of it, unless the connection ends. */
  readonly onSent: () => void;
}

/**
 * Sends a large body without joining it, at most a megabyte in each turn of the event loop. A reader that is as fast as the
 * server would otherwise hold it until the last byte.
 *
 * `tryEnd` cannot be told to close, and once a response is over its socket is out of reach. So a body behind which the connection
 * ends goes out under a length that is one too large: the response is whole for the client, who was told the right length with the
 * first part, yet never over for the library, which therefore lets us close. A further request on the connection
 * meets a response that is not over, and is not run.
 */
export class BodySender {
  readonly #res: UwsResponse;
  readonly #body: Uint8Array | BodyPieces;
  readonly #options: BodySenderOptions;
  #offset = 0;

  constructor(res: UwsResponse, body: Uint8Array | BodyPieces, options: BodySenderOptions) {
    this.#res = res;
    this.#body = body;
    this.#options = options;
  }

  /** To be called within a callback of the library. */
  send(): void {
    if (this.#options.closes) this.#res.writeHeader('connection', 'close');
    this.awaitRoom();
    this.#offer(true);
  }

  /** Goes on with a body that a first `tryEnd` did not send whole. */
  awaitRoom(): void {
    this.#res.onWritable((offset) => {
      this.#offset = offset;
      return this.#offer();
    });
  }

  /** Whether everything was taken that was offered. */
  #offer(isFirst = false): boolean {
    const { byteLength } = this.#body;
    const { closes, onSent } = this.#options;
    const end = this.#offset + OFFERED_BYTES_MAX;
    let begins = isFirst;
    // Without a part of its body a response does not begin, and without an empty one it does not end.
    let isDue = isFirst || this.#offset === byteLength;
    while (this.#offset < end && (isDue || !isRoundFull())) {
      const part = partAt(this.#body, this.#offset);
      const bytes = closes && begins ? part.subarray(0, byteLength - 1) : part;
      countOffered(bytes.byteLength);
      const [isAccepted, isSent] = this.#res.tryEnd(bytes, closes && !begins ? byteLength + 1 : byteLength);
      if (isSent) {
        onSent();
        return true;
      }
      if (!isAccepted) return false;
      this.#offset += bytes.byteLength;
      if (this.#offset === byteLength) break;
      begins = false;
      isDue = false;
    }
    setImmediate(() => this.#goOn());
    return true;
  }

  /**
   * Offers some of what is left. Accepted means corked, not sent: only when the turn after that has nothing
   * left to offer, and finds nothing waiting in front of it either, may the connection be closed.
   */
  #goOn(): void {
    if (!this.#options.isOpen()) return;
    const isOffered = this.#offset === this.#body.byteLength;
    let isAccepted = false;
    this.#res.cork(() => {
      isAccepted = this.#offer();
    });
    if (isOffered && isAccepted) this.#res.close();
  }
}

/** The head alone, with the length that the body would have; then ends the connection. */
export function sendClosingHead(res: UwsResponse, byteLength: number, isOpen: () => boolean): void {
  res.writeHeader('connection', 'close').tryEnd('', byteLength);
  setImmediate(() => isOpen() && res.close());
}
