/**
 * A stream on uWebSockets.js.
 *
 * Each piece leaves as a chunk. The library copies what the kernel does not take of it, and does not send that on by
 * itself while somebody listens for room; so whenever there is room, its copy goes first. A copy that the client does
 * not take for 10 s ends the connection, by the library's own clock.
 *
 * The library cannot close the connection behind a chunked response (told to, it writes a header into the body). It
 * does so by itself where the request said `Connection: close`; otherwise the client was told, and ends it, or the
 * library does after 10 s.
 */
import type { HttpResponse as UwsResponse } from 'uWebSockets.js';
import type { StreamServer, StreamStart } from '../stream.ts';
import { OpenStream } from '../stream.ts';

export class UwsStream extends OpenStream {
  readonly #res: UwsResponse;
  /** Not sent yet: the library ends the head itself, with the first chunk. */
  #start: StreamStart | null;

  constructor(server: StreamServer, res: UwsResponse, start: StreamStart) {
    super(server);
    this.#res = res;
    this.#start = start;
    // In the place of the exchange's handler, so that nothing of the request stays in memory for an open stream.
    res.onAborted(() => this.abort());
    res.onWritable(() => {
      // Leaving the cork sends what the library has copied, and then what was written in it.
      res.cork(() => this.drained());
      return true;
    });
  }

  protected offer(piece: Uint8Array): boolean {
    let hasRoom = true;
    this.#res.cork(() => {
      this.#writeHead();
      hasRoom = this.#res.write(piece);
    });
    return hasRoom;
  }

  protected finish(): void {
    this.#res.cork(() => {
      this.#writeHead();
      this.#res.end();
    });
  }

  protected disconnect(): void {
    this.#res.close();
  }

  #writeHead(): void {
    if (this.#start === null) return;
    const { headers, status, isLast } = this.#start;
    this.#start = null;
    this.#res.writeStatus(headers.startOf(status));
    if (isLast) this.#res.writeHeader('connection', 'close');
  }
}
