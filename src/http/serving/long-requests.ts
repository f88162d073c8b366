/**
 * Keeps callers whose requests hold the event loop for long from holding it all the time (src/actors/loop-accounts.ts). Requests
 * of a caller that owes too much run one at a time, such callers take turns, and after each request the loop belongs to the others
 * for four times as long as it took. So all of them together get a fifth of the time, however many they are and whatever they send.
 */
import { setTimeout as delay, setImmediate as nextRound } from 'node:timers/promises';
import { callerName, FREE_MS, type LoopAccounts } from '../../actors/loop-accounts.ts';
import { type Asker, ReadQueue } from '../../actors/read-queue.ts';
import { networkOf } from '../../domain/flags/address.ts';
import type { Refusal } from '../../domain/state/refusal.ts';
import type { TransportRequest } from '../transport/transport.ts';
import type { Caller } from './access.ts';
import type { Surface } from './surface.ts';

/** Bytes that waiting requests may hold. Protects memory, and keeps waits shorter than the timeouts of clients. */
export const WAITING_BYTES_MAX = 32 * 2 ** 20;

/** About what a request without a body holds while it waits. */
const REQUEST_BYTES = 16 * 1024;

/** The share of the others after a request, as a multiple of the time that it took. */
const REST_FACTOR = 4;

/** Nobody else wants the loop when there was no request of another caller for so long. */
const OTHERS_MS = 1_000;

/** Bytes that a visitor's context takes. Evaluating for it costs about the same for everybody. */
const SPARED_BODY_BYTES_MAX = 4 * 1024;

/**
 * The pages of an application have one token for all of their visitors, and one of them must not make the others wait. So each
 * address counts alone there, and small requests count nothing.
 */
export function isSpared(request: TransportRequest, { isForPages }: Surface): boolean {
  return isForPages === true && request.body.byteLength <= SPARED_BODY_BYTES_MAX;
}

/** The name under which the time that a request takes is charged. */
export function chargedName(request: TransportRequest, { isForPages }: Surface, { actor }: Caller): string {
  const name = callerName(actor);
  return isForPages === true ? `${name} ${networkOf(request.remoteAddress())}` : name;
}

export class LongRequests {
  readonly #accounts: LoopAccounts;
  readonly #now: () => number;
  readonly #queue = new ReadQueue({
    runningMax: 1,
    runningPerAskerMax: 1,
    waitingMax: WAITING_BYTES_MAX,
  });
  #othersAt = Number.NEGATIVE_INFINITY;
  #waitedCount = 0;

  /** `now`: milliseconds, monotonic. */
  constructor(accounts: LoopAccounts, now: () => number) {
    this.#accounts = accounts;
    this.#now = now;
  }

  /** Requests that wait for their turn. */
  get waitingCount(): number {
    return this.#queue.waitingCount;
  }

  /** Requests that had to wait since the start. */
  get waitedCount(): number {
    return this.#waitedCount;
  }

  /** Whether anybody may have to wait. */
  get hasDebtors(): boolean {
    return !this.#accounts.isEmpty;
  }

  mustWait(caller: string): boolean {
    const isOverdrawn = this.#accounts.isOverdrawn(caller);
    if (!isOverdrawn) this.#othersAt = this.#now();
    return isOverdrawn;
  }

  /** Whether a piece of work that held the loop for so long is charged to anybody. */
  counts(heldMs: number): boolean {
    return heldMs > FREE_MS || this.hasDebtors;
  }

  charge(caller: string, heldMs: number): void {
    this.#accounts.chargeCaller(caller, heldMs);
  }

  /** Milliseconds of slices and other pieces too, which are charged where they run. */
  get chargedMs(): number {
    return this.#accounts.chargedMs;
  }

  /** Calls `run` when the caller's turn has come, and charges the caller for it; a 503 when too much waits. Rejects when the signal is aborted before that. */
  async inTurn(
    asker: Pick<Asker, 'name' | 'signal'>,
    bodyBytes: number,
    run: () => void,
  ): Promise<Refusal | undefined> {
    this.#waitedCount += 1;
    let hasBegun = false;
    const turn = async (): Promise<undefined> => {
      hasBegun = true;
      const [begunAt, chargedMs] = [this.#now(), this.chargedMs];
      run();
      this.charge(asker.name, Math.max(0, this.#now() - begunAt - (this.chargedMs - chargedMs)));
      // Until the command that the request became has run.
      await nextRound();
      await this.#rest();
    };
    try {
      return await this.#queue.run(turn, asker, REQUEST_BYTES + bodyBytes);
    } catch (error) {
      // The client left after its turn had come: what was begun goes on.
      if (hasBegun && asker.signal.aborted && error === asker.signal.reason) return undefined;
      throw error;
    }
  }

  async #rest(): Promise<void> {
    const heldMs = this.#accounts.takeOverdrawnMs();
    const areOthersThere = this.#now() - this.#othersAt < OTHERS_MS;
    if (heldMs >= 1 && areOthersThere) await delay(REST_FACTOR * heldMs);
  }
}
