/**
 * A TCP connection that sends exactly the bytes it is given and takes answers apart, for requests that no HTTP
 * client would send.
 */
import assert from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import type { TestContext } from 'node:test';

export interface ReceivedResponse {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

export interface RequestOptions {
  readonly method?: string;
  /** Lines without their ends, after `Host`. */
  readonly headers?: readonly string[];
  readonly body?: string;
}

/** The bytes of a request. No header is added but Host: bodies need theirs given. */
export function request(
  target: string,
  { method = 'GET', headers = [], body = '' }: RequestOptions = {},
): string {
  return [`${method} ${target} HTTP/1.1`, 'Host: test', ...headers, '', body].join('\r\n');
}

/** A POST with its right Content-Length. */
export function post(target: string, body: string, headers: readonly string[] = []): string {
  const length = `Content-Length: ${Buffer.byteLength(body)}`;
  return request(target, { method: 'POST', headers: [length, ...headers], body });
}

export class RawConnection {
  readonly #socket: Socket;
  #pieces: Buffer[] = [];
  #receivedBytes = 0;
  #isClosed = false;
  #wake: () => void = () => undefined;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (piece) => {
      this.#pieces.push(piece);
      this.#receivedBytes += piece.length;
      this.#wake();
    });
    // A reset is one of the ways in which a server may end a connection; `closed` reports both.
    socket.on('error', () => undefined);
    socket.once('close', () => {
      this.#isClosed = true;
      this.#wake();
    });
  }

  static async open(t: TestContext, port: number): Promise<RawConnection> {
    const socket = connect({ host: '127.0.0.1', port, noDelay: true });
    t.after(() => socket.destroy());
    const connection = new RawConnection(socket);
    await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject));
    return connection;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  get received(): string {
    return this.#joined().toString('latin1');
  }

  /** Without joining what was received before, of which there may be much. */
  endsWith(text: string): boolean {
    let end = '';
    for (let index = this.#pieces.length - 1; index >= 0 && end.length < text.length; index -= 1) {
      end = `${this.#pieces[index]?.subarray(-text.length).toString('latin1')}${end}`;
    }
    return end.endsWith(text);
  }

  write(data: string | Uint8Array): void {
    this.#socket.write(typeof data === 'string' ? Buffer.from(data, 'latin1') : data);
  }

  /** Stops taking bytes from the kernel, as a reader does that never reads. */
  stopReading(): void {
    this.#socket.pause();
  }

  /** Takes bytes again. */
  goOnReading(): void {
    this.#socket.resume();
  }

  /** Resets the connection as when the process of a client dies with bytes unread: the other end is told that nobody reads any more. */
  reset(): void {
    this.#socket.resetAndDestroy();
  }

  destroy(): void {
    this.#socket.destroy();
  }

  /** The next answer; fails when the connection ends before it is whole. */
  async nextResponse({ toHead = false } = {}): Promise<ReceivedResponse> {
    for (;;) {
      const taken = takeResponse(this.#joined(), toHead);
      if (taken !== null) {
        this.#pieces = [taken.rest];
        return taken.response;
      }
      assert(!this.#isClosed, `connection closed after ${JSON.stringify(this.received.slice(0, 300))}`);
      await this.#change();
    }
  }

  /** Waits until so many bytes have come, and joins none of them; false where the connection ends before that. */
  async receives(bytes: number): Promise<boolean> {
    while (this.#receivedBytes < bytes && !this.#isClosed) await this.#change();
    return this.#receivedBytes >= bytes;
  }

  /** Waits for the server to end the connection. */
  async closed(): Promise<void> {
    while (!this.#isClosed) await this.#change();
  }

  #joined(): Buffer {
    const [first] = this.#pieces;
    const joined = this.#pieces.length === 1 && first !== undefined ? first : Buffer.concat(this.#pieces);
    this.#pieces = [joined];
    return joined;
  }

  #change(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }
}

/** The parts of a chunked response: its head, and what its body has been so far. */
export interface ChunkedResponse {
  readonly head: string;
  readonly body: string;
  /** Whether the last chunk has come. */
  readonly isWhole: boolean;
}

/** Takes a chunked response apart as far as it has arrived. */
export function readChunked(received: string): ChunkedResponse {
  const end = received.indexOf('\r\n\r\n');
  const head = end === -1 ? '' : received.slice(0, end);
  const pieces: string[] = [];
  let at = end + 4;
  while (end !== -1) {
    const lineEnd = received.indexOf('\r\n', at);
    if (lineEnd === -1) break;
    const line = received.slice(at, lineEnd);
    assert.match(line, /^[0-9A-Fa-f]+$/, `${JSON.stringify(line)} is no chunk size`);
    const size = Number.parseInt(line, 16);
    const dataEnd = lineEnd + 2 + size;
    if (received.length < dataEnd) break;
    if (size === 0) return { head, body: pieces.join(''), isWhole: received.startsWith('\r\n', dataEnd) };
    pieces.push(received.slice(lineEnd + 2, dataEnd));
    // uWebSockets.js ends a chunk only when the next begins.
    if (received.length < dataEnd + 2) break;
    assert.equal(received.slice(dataEnd, dataEnd + 2), '\r\n', 'a chunk is as long as its size says');
    at = dataEnd + 2;
  }
  return { head, body: pieces.join(''), isWhole: false };
}

/** One request on a connection of its own. */
export async function fetchRaw(t: TestContext, port: number, bytes: string): Promise<ReceivedResponse> {
  const connection = await RawConnection.open(t, port);
  connection.write(bytes);
  const response = await connection.nextResponse();
  connection.destroy();
  return response;
}

function takeResponse(
  received: Buffer,
  toHead: boolean,
): { response: ReceivedResponse; rest: Buffer } | null {
  const end = received.indexOf('\r\n\r\n');
  if (end === -1) return null;
  const [statusLine = '', ...lines] = received.toString('latin1', 0, end).split('\r\n');
  const headers = new Map<string, string>();
  for (const line of lines) {
    const colon = line.indexOf(':');
    const name = line.slice(0, colon).toLowerCase();
    assert(!headers.has(name), `answer has ${name} twice`);
    headers.set(name, line.slice(colon + 1).trim());
  }
  const length = toHead ? 0 : Number(headers.get('content-length') ?? 0);
  const bodyEnd = end + 4 + length;
  if (received.byteLength < bodyEnd) return null;
  const response = {
    status: Number(statusLine.split(' ')[1]),
    headers,
    body: received.toString('utf8', end + 4, bodyEnd),
  };
  return { response, rest: received.subarray(bodyEnd) };
}
