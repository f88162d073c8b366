/**
 * Takes requests and late responses in rounds, so that a thousand that come at once do not hold the event loop until the last of them is
 * done: after some milliseconds of work the others wait, and the loop goes on before they are taken. Responses go before requests,
 * because they free memory, and each kind keeps its order.
 *
 * The first few of a round are taken without a look at the clock, which few rounds pass: a cached read takes a hundred times as long as
 * the count of it.
 */
import { performance } from 'node:perf_hooks';

/** So many are taken in a round before it is timed. */
export const UNTIMED_MAX = 8;

interface WaitingRequest {
  readonly bytes: number;
  readonly begin: () => void;
}

export class RequestRounds {
  readonly #roundMs: number;
  readonly #bytesMax: number;
  readonly #responses: (() => void)[] = [];
  readonly #requests: WaitingRequest[] = [];
  /** Bytes of the requests that wait. */
  #bytes = 0;
  #taken = 0;
  #isTimed = false;
  #endsAtMs = 0;

  /** `roundMs`: milliseconds of work in a round. `bytesMax`: bytes of requests that wait. */
  constructor(roundMs: number, bytesMax: number) {
    this.#roundMs = roundMs;
    this.#bytesMax = bytesMax;
  }

  /** Counts a request or a late response in, which is then to be taken at once; false when it has to wait. */
  hasRoom(): boolean {
    if (this.#responses.length > 0 || this.#requests.length > 0) return false;
    this.#taken += 1;
    return this.#taken < UNTIMED_MAX || this.#isInTime();
  }

  /** Calls back in a later round. False when too much waits already. */
  awaitRequest(bytes: number, begin: () => void): boolean {
    if (this.#bytes + bytes > this.#bytesMax) return false;
    this.#bytes += bytes;
    this.#requests.push({ bytes, begin });
    return true;
  }

  /** Calls back in a later round, before the requests that wait. */
  awaitResponse(send: () => void): void {
    this.#responses.push(send);
  }

  #isInTime(): boolean {
    const nowMs = performance.now();
    if (this.#isTimed) return nowMs < this.#endsAtMs;
    this.#beginAt(nowMs);
    return true;
  }

  #beginAt(nowMs: number): void {
    this.#isTimed = true;
    this.#endsAtMs = nowMs + this.#roundMs;
    setImmediate(this.#next);
  }

  readonly #next = (): void => {
    this.#taken = 0;
    this.#isTimed = false;
    if (this.#responses.length === 0 && this.#requests.length === 0) return;
    this.#beginAt(performance.now());
    this.#take();
  };

  /** One in each microtask: what one leaves to later microtasks is done, and timed, before the next one but a few. */
  readonly #take = (): void => {
    const send = this.#responses.shift();
    if (send !== undefined) send();
    else {
      const request = this.#requests.shift();
      if (request === undefined) return;
      this.#bytes -= request.bytes;
      request.begin();
    }
    if (performance.now() < this.#endsAtMs) queueMicrotask(this.#take);
  };
}
