/**
 * Counts HTTP/1.1 responses on a connection without keeping their bodies. Knows what the servers under load send: a
 * status line, headers, and a body of a stated length; anything else is an error.
 */
const HEAD_END = Buffer.from('\r\n\r\n');

/** Protects the client from a peer that never ends its head. */
const HEAD_BYTES_MAX = 64 * 1024;

export class ResponseReader {
  readonly #onResponse: (status: number) => void;
  #head: Buffer = Buffer.alloc(0);
  #status = 0;
  #bodyBytesLeft = 0;

  constructor(onResponse: (status: number) => void) {
    this.#onResponse = onResponse;
  }

  push(chunk: Buffer): void {
    let rest = chunk;
    while (rest.length > 0) rest = this.#status === 0 ? this.#readHead(rest) : this.#readBody(rest);
  }

  #readHead(chunk: Buffer): Buffer {
    const bytes = this.#head.length === 0 ? chunk : Buffer.concat([this.#head, chunk]);
    const end = bytes.indexOf(HEAD_END);
    if (end === -1) {
      if (bytes.length > HEAD_BYTES_MAX) throw new Error('a response whose head does not end');
      this.#head = bytes;
      return Buffer.alloc(0);
    }
    const head = bytes.toString('latin1', 0, end);
    this.#head = Buffer.alloc(0);
    this.#status = Number(head.slice(9, 12));
    this.#bodyBytesLeft = bodyLength(head, this.#status);
    this.#endIfWhole();
    return bytes.subarray(end + HEAD_END.length);
  }

  #readBody(bytes: Buffer): Buffer {
    const taken = Math.min(bytes.length, this.#bodyBytesLeft);
    this.#bodyBytesLeft -= taken;
    this.#endIfWhole();
    return bytes.subarray(taken);
  }

  #endIfWhole(): void {
    if (this.#bodyBytesLeft > 0) return;
    const status = this.#status;
    this.#status = 0;
    this.#onResponse(status);
  }
}

function bodyLength(head: string, status: number): number {
  if (status === 204 || status === 304) return 0;
  const stated = /\r\ncontent-length: *([0-9]+)/i.exec(head);
  if (stated === null) throw new Error(`a response without Content-Length:\n${head}`);
  return Number(stated[1]);
}
