/**
 * A response that stays open: events are written as they happen, until the owner closes it, the client goes, or the
 * server stops. This is what is the same on both engines: order, back-pressure, deadlines and limits.
 *
 * - A stream never holds more than it must. What the engine does not take waits here by reference, so bytes that go to
 *   many streams are in memory once. A client that lets more than `streamBufferBytesMax` wait, or takes nothing for
 *   `streamStallMs`, is disconnected: it would never catch up, and it can connect again and ask anew.
 * - A stream has no other deadline. One that is idle costs a connection and this object.
 * - What a client sends behind the request of a stream is not run while the stream is open.
 */
import type { ByteBudget, ByteHolder } from './byte-budget.ts';
import type { DeadlineEntry, DeadlineQueue } from './deadlines.ts';
import type { ResponseStream, StreamHead, TransportOptions } from './transport.ts';
import type { TransportLimits } from './transport-limits.ts';

/** How an engine is to start a stream. */
export interface StreamStart extends StreamHead {
  /** Whether the connection ends with the stream. */
  readonly isLast: boolean;
}

/** The parts that all streams of a server share. */
export interface StreamServer extends Pick<TransportOptions, 'log'> {
  readonly limits: TransportLimits;
  /** Streams that are open or still being ended. */
  readonly streams: Set<OpenStream>;
  /** Streams whose client has not made room. */
  readonly stalledStreams: DeadlineQueue;
  readonly unread: ByteBudget;
  /** Streams that ended since the start while their clients did not take what was sent. */
  slowStreamCount: number;
}

/**
 * How much is handed to an engine at once. uWebSockets.js copies what the kernel does not take, so this bounds what a
 * slow client costs beyond what it shares with others.
 */
const PIECE_BYTES_MAX = 16 * 1024;

interface Waiting {
  readonly bytes: Uint8Array;
  /** How many of them the engine has. */
  offset: number;
}

const nothing = (): void => undefined;

export abstract class OpenStream implements DeadlineEntry, ResponseStream, ByteHolder {
  queue: DeadlineQueue | null = null;
  enteredAt = 0;
  #state: 'open' | 'closing' | 'over' = 'open';
  /** Writes that the engine has not been given; null while there are none, as for most streams most of the time. */
  #queue: Waiting[] | null = null;
  #queuedBytes = 0;
  /** Bytes of the piece that the engine has taken without having room for it; 0 while it has room. */
  #copiedBytes = 0;
  #whenDrained: () => void = nothing;
  #whenAborted: () => void = nothing;
  readonly #server: StreamServer;

  constructor(server: StreamServer) {
    this.#server = server;
    server.streams.add(this);
  }

  /** Hands a piece to the engine. Returns whether it has room for another one. */
  protected abstract offer(piece: Uint8Array): boolean;

  /** Ends the response. Nothing waits in the queue any more. */
  protected abstract finish(): void;

  /** Ends the connection at once. Must lead to `abort`, then or before. */
  protected abstract disconnect(): void;

  get isOpen(): boolean {
    return this.#state === 'open';
  }

  get bufferedBytes(): number {
    return this.#queuedBytes + this.#copiedBytes;
  }

  get copiedBytes(): number {
    return this.#copiedBytes;
  }

  *waitingBytes(): Iterable<Uint8Array> {
    for (const { bytes } of this.#queue ?? []) yield bytes;
  }

  onDrain(callback: () => void): void {
    this.#whenDrained = callback;
  }

  onAborted(callback: () => void): void {
    this.#whenAborted = callback;
  }

  write(bytes: Uint8Array): boolean {
    if (this.#state !== 'open') return false;
    if (bytes.byteLength === 0) return !this.#isStalled;
    if (this.bufferedBytes > this.#server.limits.streamBufferBytesMax) {
      this.evict();
      return false;
    }
    const offset = this.#isStalled ? 0 : this.#offerFrom(bytes, 0);
    if (offset < bytes.byteLength) this.#keep(bytes, offset);
    return this.#state === 'open' && !this.#isStalled;
  }

  close(): void {
    if (this.#state !== 'open') return;
    this.#state = 'closing';
    if (!this.#isStalled) this.#end();
  }

  /** The server stops: the stream ends as with `close`, and its owner is told. */
  stop(): void {
    if (this.#state !== 'open') return;
    this.close();
    this.#tellAborted();
  }

  /** The client is gone. */
  abort(): void {
    if (this.#state === 'over') return;
    const wasOpen = this.#state === 'open';
    // uWebSockets.js ends a connection whose client takes nothing by a clock of its own, which may be the first.
    if (this.#isStalled) this.#server.slowStreamCount += 1;
    this.#leave();
    if (wasOpen) this.#tellAborted();
  }

  /** The client has taken nothing until its deadline. */
  expire(): void {
    this.evict();
  }

  giveUp(): void {
    this.evict();
  }

  evict(): void {
    if (this.#state === 'over') return;
    // What is stalled is counted when it has ended.
    if (!this.#isStalled) this.#server.slowStreamCount += 1;
    this.disconnect();
  }

  /** The engine has room again, for all that it was given. */
  protected drained(): void {
    if (this.#state === 'over' || !this.#isStalled) return;
    this.#setCopied(0);
    while (this.#queue !== null && !this.#isStalled) this.#offerFirst(this.#queue);
    if (this.#isStalled) return;
    this.queue?.leave(this);
    this.#server.unread.leave(this);
    if (this.#state === 'closing') this.#end();
    else this.#whenDrained();
  }

  get #isStalled(): boolean {
    return this.#copiedBytes > 0;
  }

  /** Gives the engine what it has room for; returns how much of `bytes` it has now. */
  #offerFrom(bytes: Uint8Array, from: number): number {
    let offset = from;
    while (offset < bytes.byteLength && this.#state !== 'over' && !this.#isStalled) {
      const piece = bytes.subarray(offset, offset + PIECE_BYTES_MAX);
      offset += piece.byteLength;
      if (!this.offer(piece)) this.#setCopied(piece.byteLength);
    }
    return offset;
  }

  #offerFirst(queue: Waiting[]): void {
    const first = queue[0];
    if (first === undefined) {
      this.#queue = null;
      return;
    }
    const offset = this.#offerFrom(first.bytes, first.offset);
    this.#queuedBytes -= offset - first.offset;
    first.offset = offset;
    // Over by now: everything was given back at once.
    if (this.#state === 'over' || offset < first.bytes.byteLength) return;
    queue.shift();
    this.#server.unread.give(first.bytes);
  }

  #keep(bytes: Uint8Array, offset: number): void {
    if (this.#state === 'over') return;
    this.#queue ??= [];
    this.#queue.push({ bytes, offset });
    this.#queuedBytes += bytes.byteLength - offset;
    this.#server.unread.take(this, bytes);
  }

  /** Each time the engine takes a piece the client has moved, so its time starts anew. */
  #setCopied(bytes: number): void {
    const { unread, stalledStreams } = this.#server;
    unread.giveCopied(this.#copiedBytes);
    this.#copiedBytes = bytes;
    if (bytes === 0) return;
    stalledStreams.enter(this);
    unread.takeCopied(this, bytes);
  }

  #end(): void {
    this.#leave();
    this.finish();
  }

  #leave(): void {
    this.#state = 'over';
    this.queue?.leave(this);
    this.#server.streams.delete(this);
    this.#server.unread.leave(this);
    this.#queue = null;
    this.#queuedBytes = 0;
    this.#copiedBytes = 0;
  }

  #tellAborted(): void {
    const tell = this.#whenAborted;
    this.#whenAborted = nothing;
    this.#whenDrained = nothing;
    try {
      tell();
    } catch (error) {
      // Operators: report it with the log line
      this.#server.log.error({ err: error }, 'The owner of a stream failed to handle its end.');
    }
  }
}

/** The stream of a HEAD request: its head has been sent, and nothing follows. */
export const ENDED_STREAM: ResponseStream = {
  write: () => false,
  close: nothing,
  giveUp: nothing,
  isOpen: false,
  bufferedBytes: 0,
  onDrain: nothing,
  onAborted: nothing,
};

/** Streams ended in one turn of the event loop when the server stops. */
const STOPPED_AT_ONCE = 200;

/** Ends all streams, a few in each turn, so that the requests under way are still answered in time. */
export function stopStreams(streams: ReadonlySet<OpenStream>): void {
  const rest = [...streams];
  const stopSome = (): void => {
    for (const stream of rest.splice(-STOPPED_AT_ONCE)) stream.stop();
    if (rest.length > 0) setImmediate(stopSome);
  };
  stopSome();
}
