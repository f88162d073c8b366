/** A stream on node:http, which chunks what is written, and keeps by reference what the kernel does not take. */
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { StreamServer, StreamStart } from '../stream.ts';
import { OpenStream } from '../stream.ts';

export interface NodeStreamOptions {
  readonly socket: Socket;
  readonly res: ServerResponse;
  readonly start: StreamStart;
  /** Called when the response is ended, of which some may still wait for the client. */
  readonly whenEnded: () => void;
}

export class NodeStream extends OpenStream {
  readonly #socket: Socket;
  readonly #res: ServerResponse;
  /** Not sent yet, as on the other engine: it leaves with the first bytes. */
  #start: StreamStart | null;
  readonly #whenEnded: () => void;

  constructor(server: StreamServer, { socket, res, start, whenEnded }: NodeStreamOptions) {
    super(server);
    this.#socket = socket;
    this.#res = res;
    this.#start = start;
    this.#whenEnded = whenEnded;
    res.on('drain', () => this.drained());
  }

  protected offer(piece: Uint8Array): boolean {
    if (this.#start !== null) this.#writeHead(this.#start, []);
    return this.#res.write(piece);
  }

  protected finish(): void {
    if (this.#start !== null) this.#writeHead(this.#start, ['content-length', '0']);
    this.#whenEnded();
    this.#res.end();
  }

  protected disconnect(): void {
    this.#socket.destroy();
    // The connection's own event comes in a later turn, and until then nothing may be written.
    this.abort();
  }

  #writeHead({ headers, status, isLast }: StreamStart, framing: readonly string[]): void {
    this.#start = null;
    this.#res.writeHead(status, [...headers.pairs, ...framing, ...(isLast ? ['connection', 'close'] : [])]);
  }
}
