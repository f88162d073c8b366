/**
 * Sends bodies on uWebSockets.js without copying them per connection: `tryEnd` takes what the reader has made room
 * for, and the rest is offered again, from the same buffer, when there is more.
 *
 * All functions are called while the response is open; `onWritable` is the library's call for the next part, and it
 * passes the offset in the body from which to go on.
 */
import type { HttpResponse as UwsResponse } from 'uWebSockets.js';

/** Goes on with a body that a first `tryEnd` did not send whole. Calls `onSent` once the kernel has all of it. */
export function sendRest(res: UwsResponse, bytes: Uint8Array, onSent: () => void): void {
  res.onWritable((offset) => {
    const [isAccepted, isSent] = res.tryEnd(bytes.subarray(offset), bytes.byteLength);
    if (isSent) onSent();
    return isAccepted;
  });
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
    this.#res.writeHeader('connection', 'close');
    const [isAccepted] = this.#res.tryEnd(this.#bytes.subarray(0, -1), byteLength);
    this.#res.onWritable((offset) => {
      const isTaken = this.#offer(offset);
      if (isTaken) setImmediate(() => this.#goOn(byteLength));
      return isTaken;
    });
    if (isAccepted) setImmediate(() => this.#goOn(byteLength - 1));
  }

  sendHeadOnly(): void {
    this.#res.writeHeader('connection', 'close').tryEnd('', this.#bytes.byteLength);
    setImmediate(() => this.#isOpen() && this.#res.close());
  }

  /**
   * Offers what is left from `offset`. Accepted means corked, not sent: only when the turn after that has nothing
   * left to offer, and finds nothing waiting in front of it either, may the connection be closed.
   */
  #goOn(offset: number): void {
    if (!this.#isOpen()) return;
    let isAccepted = false;
    this.#res.cork(() => {
      isAccepted = this.#offer(offset);
    });
    if (!isAccepted) return;
    if (offset === this.#bytes.byteLength) this.#res.close();
    else setImmediate(() => this.#goOn(this.#bytes.byteLength));
  }

  #offer(offset: number): boolean {
    const [isAccepted] = this.#res.tryEnd(this.#bytes.subarray(offset), this.#bytes.byteLength + 1);
    return isAccepted;
  }
}
