/**
 * A stream whose connection a worker has. The worker says how much of it has been taken; while much has not, its owner is told to wait,
 * as by any engine. The worker ends a stream whose client is too slow.
 */
import type { ResponseStream, StreamCarrier } from '../transport/transport.ts';

/** What a stream is handed to. */
export interface StreamLink extends StreamCarrier {
  write(number: number, bytes: Uint8Array): void;
  end(number: number, isTooSlow: boolean): void;
}

/** Bytes on their way to the client before the owner has to wait; the worker tells of what was taken far more often. */
const UNDER_WAY_BYTES_MAX = 64 * 1024;

const nothing = (): void => undefined;

export class ForwardedStream implements ResponseStream {
  readonly #link: StreamLink;
  readonly #number: number;
  #isOpen = true;
  /** Whether the owner was told to wait. */
  #isStalled = false;
  #underWayBytes = 0;
  #whenDrained: () => void = nothing;
  #whenAborted: () => void = nothing;

  constructor(link: StreamLink, number: number) {
    this.#link = link;
    this.#number = number;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  get carrier(): StreamCarrier {
    return this.#link;
  }

  /** What is merely on its way does not count as waiting. */
  get bufferedBytes(): number {
    return this.#isStalled ? this.#underWayBytes : 0;
  }

  write(bytes: Uint8Array): boolean {
    if (!this.#isOpen) return false;
    if (bytes.byteLength === 0) return !this.#isStalled;
    this.#link.write(this.#number, bytes);
    this.#underWayBytes += bytes.byteLength;
    this.#isStalled ||= this.#underWayBytes > UNDER_WAY_BYTES_MAX;
    return !this.#isStalled;
  }

  close(): void {
    this.#close(false);
  }

  giveUp(): void {
    this.#close(true);
  }

  onDrain(callback: () => void): void {
    this.#whenDrained = callback;
  }

  onAborted(callback: () => void): void {
    this.#whenAborted = callback;
  }

  /** The worker's word that the client has taken so much more. */
  taken(bytes: number): void {
    this.#underWayBytes -= bytes;
    if (!this.#isOpen || !this.#isStalled || this.#underWayBytes > UNDER_WAY_BYTES_MAX / 2) return;
    this.#isStalled = false;
    this.#whenDrained();
  }

  /** The worker's word that the stream is over. */
  abort(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#whenAborted();
  }

  #close(isTooSlow: boolean): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#link.end(this.#number, isTooSlow);
  }
}
