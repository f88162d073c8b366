/**
 * Accounts of callers that held the event loop for long. The first milliseconds of each piece of a request's work are free, so a caller of many small
 * requests owes nothing, however many they are. What a piece takes beyond them is charged to its caller, and forgiven with time.
 * Each turn of long work is a piece, and so is each group of events or block of a snapshot that is read back for a request. Time in
 * which the process had no core is charged to no caller: on a machine that is busy with something else, all of them would become debtors.
 *
 * Requests of a caller that owes too much run one at a time, such callers take turns, and after each request the loop belongs to the others
 * for four times as long as it took. So all of them together get a fifth of the time, however many they are.
 */
import assert from 'node:assert/strict';
import { setTimeout as delay, setImmediate as nextRound } from 'node:timers/promises';
import type { Actor } from '../domain/state/decision.ts';
import type { Refusal } from '../domain/state/refusal.ts';
import { FairQueue } from './fair-queue.ts';

/** Free in each piece of work: far above what a small request takes. */
export const FREE_MS = 1;

/**
 * Repaid with each small piece. A caller of very many small requests is charged for more garbage collections than others.
 */
const REPAID_MS = 0.01;

/** A caller that owes more has to wait. Room for a few large requests in a row, such as those of a deployment. */
export const OWED_MS_MAX = 50;

/** The share of the passing time that is forgiven, to all callers together, so that many of them get no more than one. */
export const FORGIVEN_SHARE = 0.05;

/** Callers that owe something; some 100 bytes each. Of more, the one that was charged longest ago owes nothing any more. */
export const DEBTORS_MAX = 10_000;

/** How old the last look at the processor time may be before a small piece looks again: a look takes as long as a small request. */
const LOOKED_MS_MAX = 2;

/** Milliseconds between two passes over all debts. */
const SETTLE_MS = 100;

/** Bytes that waiting requests may hold. Protects memory, and keeps waits shorter than the timeouts of clients. */
export const WAITING_BYTES_MAX = 16 * 2 ** 20;

/** About what a request without a body holds while it waits. */
const REQUEST_BYTES = 16 * 1024;

/** The share of the others after a request, as a multiple of the time that it took. */
const REST_FACTOR = 4;

/** Other callers do not need the loop after this long without a request from one. */
const OTHERS_MS = 1_000;

/** A request whose caller owes too much. */
interface LongRequest {
  /** The caller's. */
  readonly name: string;
  readonly signal: AbortSignal;
  readonly bodyBytes: number;
  run(): void;
}

/** Equal for all requests of one caller. */
export const callerName = ({ userId, name }: Actor): string => `${userId} ${name}`;

export class LoopAccounts {
  /** All that was ever charged. What is measured around other measured work leaves out what was charged meanwhile. */
  chargedMs = 0;
  /** Milliseconds, by caller; only of those who owe something. */
  readonly #owed = new Map<string, number>();
  readonly #now: () => number;
  readonly #coreUsedMs: (() => number) | null;
  #coreUsedBefore = 0;
  #lookedAt = Number.NEGATIVE_INFINITY;
  #settledAt: number;
  #overdrawnMs = 0;
  readonly #queue = new FairQueue({
    runningMax: 1,
    runningPerRequesterMax: 1,
    waitingMax: WAITING_BYTES_MAX,
  });
  #othersAt = Number.NEGATIVE_INFINITY;
  #waitedCount = 0;

  /** `now`: milliseconds, monotonic. `coreUsedMs`: of processor time of the event loop, so far; null where it cannot be measured. */
  constructor(now: () => number, coreUsedMs: (() => number) | null = null) {
    this.#now = now;
    this.#coreUsedMs = coreUsedMs;
    this.#settledAt = now();
  }

  /** Notes that a piece of work for `actor` held the event loop for so long. */
  charge(actor: Actor, heldMs: number): void {
    if (this.counts(heldMs)) this.chargeCaller(callerName(actor), heldMs);
  }

  /** Whether a piece of work that held the loop for so long is charged to anybody. */
  counts(heldMs: number): boolean {
    return heldMs > FREE_MS || !this.isEmpty;
  }

  chargeCaller(caller: string, passedMs: number): void {
    assert(passedMs >= 0, 'the monotonic clock does not go back');
    this.chargedMs += passedMs;
    this.add(caller, Math.min(passedMs, this.#usedSinceLast(passedMs)));
  }

  /** Notes a piece that held a core for so long. */
  add(caller: string, heldMs: number): void {
    const owedMs = this.#owed.get(caller);
    if (owedMs !== undefined && owedMs > OWED_MS_MAX) this.#overdrawnMs += heldMs;
    if (heldMs > FREE_MS) this.#raise(caller, (owedMs ?? 0) + heldMs - FREE_MS);
    else if (owedMs !== undefined) this.#lower(caller, owedMs - REPAID_MS);
  }

  /** Whether no caller owes anything, and so none has to wait. */
  get isEmpty(): boolean {
    return this.#owed.size === 0;
  }

  isOverdrawn(caller: string): boolean {
    this.#settle();
    return (this.#owed.get(caller) ?? 0) > OWED_MS_MAX;
  }

  /** Whether requests of the caller wait for their turn; notes that others are there otherwise. */
  mustWait(caller: string): boolean {
    const isOverdrawn = this.isOverdrawn(caller);
    if (!isOverdrawn) this.#othersAt = this.#now();
    return isOverdrawn;
  }

  /** Requests that wait for their turn. */
  get waitingCount(): number {
    return this.#queue.waitingCount;
  }

  /** Requests that had to wait since the start. */
  get waitedCount(): number {
    return this.#waitedCount;
  }

  /** Runs the request in its caller's turn, and charges the caller for it; a 503 when too much waits. Rejects when the signal is aborted before that. */
  async inTurn({ name, signal, bodyBytes, run }: LongRequest): Promise<Refusal | undefined> {
    this.#waitedCount += 1;
    let hasBegun = false;
    const turn = async (): Promise<undefined> => {
      assert(!hasBegun, 'a request runs once');
      hasBegun = true;
      const [begunAt, chargedMs] = [this.#now(), this.chargedMs];
      run();
      this.chargeCaller(name, Math.max(0, this.#now() - begunAt - (this.chargedMs - chargedMs)));
      // Until the command that the request became has run.
      await nextRound();
      await this.#rest();
    };
    try {
      return await this.#queue.run(turn, { name, signal }, REQUEST_BYTES + bodyBytes);
    } catch (error) {
      // The client disconnected in its turn: what was begun continues.
      if (hasBegun && signal.aborted && error === signal.reason) return undefined;
      throw error;
    }
  }

  async #rest(): Promise<void> {
    const heldMs = this.takeOverdrawnMs();
    const areOthersThere = this.#now() - this.#othersAt < OTHERS_MS;
    if (heldMs >= 1 && areOthersThere) await delay(REST_FACTOR * heldMs);
  }

  /** How long callers that had to wait have held the event loop since the last call. */
  takeOverdrawnMs(): number {
    const heldMs = this.#overdrawnMs;
    this.#overdrawnMs = 0;
    return heldMs;
  }

  /**
   * Processor time since the last look, which is at most LOOKED_MS_MAX before the piece while any caller owes something: no piece
   * used more. What a small piece used makes no difference.
   */
  #usedSinceLast(passedMs: number): number {
    if (this.#coreUsedMs === null) return Number.POSITIVE_INFINITY;
    const now = this.#now();
    if (passedMs <= FREE_MS && now - this.#lookedAt < LOOKED_MS_MAX) return passedMs;
    this.#lookedAt = now;
    const usedMs = this.#coreUsedMs();
    const sinceMs = usedMs - this.#coreUsedBefore;
    this.#coreUsedBefore = usedMs;
    return sinceMs;
  }

  /** Goes through all debts, to see that only who owes something has one; for the simulation. */
  audit(): void {
    for (const [caller, owedMs] of this.#owed) assert(owedMs > 0, `${caller} owes ${owedMs} ms`);
    assert(this.#owed.size <= DEBTORS_MAX, 'what is counted is bounded');
    assert(this.#overdrawnMs >= 0, 'what is overdrawn was held');
    assert(this.#queue.waitingCount <= this.#waitedCount, 'each request that waits is counted');
    assert(this.#queue.runningCount <= 1, 'callers who owe too much run one request at a time');
  }

  #settle(): void {
    const passedMs = this.#now() - this.#settledAt;
    assert(passedMs >= 0, 'the monotonic clock does not go back');
    if (passedMs < SETTLE_MS) return;
    this.#settledAt += passedMs;
    const forgivenMs = (passedMs * FORGIVEN_SHARE) / this.#owed.size;
    for (const [caller, owedMs] of this.#owed) this.#lower(caller, owedMs - forgivenMs);
  }

  /** Puts the caller behind all others. */
  #raise(caller: string, owedMs: number): void {
    this.#owed.delete(caller);
    this.#owed.set(caller, owedMs);
    const [first] = this.#owed.keys();
    if (this.#owed.size > DEBTORS_MAX && first !== undefined) this.#owed.delete(first);
  }

  #lower(caller: string, owedMs: number): void {
    if (owedMs > 0) this.#owed.set(caller, owedMs);
    else this.#owed.delete(caller);
  }
}
