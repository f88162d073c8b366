/**
 * A queue for work that costs more than a response from memory: little runs at a time, and what waits takes turns by requester, so
 * that a caller with a thousand requests does not delay others. Work whose client has disconnected leaves the queue, or is stopped. A full
 * queue drops the last request of the requester with the most in it.
 */
import assert from 'node:assert/strict';
import { type Refusal, refuse } from '../domain/state/refusal.ts';
import type { Requester } from './turn.ts';

export interface FairQueueLimits {
  readonly runningMax: number;
  /** The most of one requester: fewer than `runningMax` leave room for others at any time. */
  readonly runningPerRequesterMax: number;
  /** The most that may wait: a number of requests, or a sum in the unit of their costs. */
  readonly waitingMax: number;
}

interface Waiting {
  readonly cost: number;
  start(): void;
  refuse(): void;
}

/** The requests of one requester. */
interface Line {
  readonly waiting: Waiting[];
  /** The sum of the costs of all that waits. */
  cost: number;
  running: number;
}

const BUSY: Refusal = refuse(
  'ServiceUnavailableError',
  'Too many reads that take long are waiting. Try again in a few seconds.',
);

export class FairQueue {
  readonly #limits: FairQueueLimits;
  /** By the name of the requester, in the order of their turns. Only those who have something waiting or running. */
  readonly #lines = new Map<string, Line>();
  #running = 0;
  #waiting = 0;
  #waitingCost = 0;

  constructor(limits: FairQueueLimits) {
    assert(
      limits.runningPerRequesterMax > 0 &&
        limits.runningPerRequesterMax <= limits.runningMax &&
        limits.waitingMax > 0,
      'somebody may run something, and nobody more than all together',
    );
    this.#limits = limits;
  }

  get runningCount(): number {
    return this.#running;
  }

  get waitingCount(): number {
    return this.#waiting;
  }

  /**
   * Calls `work` in its turn. The refusal is a 503: the queue is full. Rejects with the reason of the requester's signal once it is
   * aborted. `cost`: what the request counts for while it waits.
   */
  run<T>(work: () => Promise<T>, requester: Requester, cost = 1): Promise<T | Refusal> {
    assert(cost > 0, 'what waits counts for something');
    const { name, signal } = requester;
    if (isGone(requester)) return Promise.reject(signal?.reason);
    while (this.#waitingCost + cost > this.#limits.waitingMax)
      if (!this.#makeRoom(name, cost)) return Promise.resolve(BUSY);
    const line = this.#lineOf(name);
    // Then it would be chosen at once.
    if (this.#waiting === 0 && this.#mayRun(line)) return this.#start(requester, work);
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        this.#leave(name, entry);
        reject(signal?.reason);
      };
      const entry: Waiting = {
        cost,
        start: () => {
          signal?.removeEventListener('abort', leave);
          this.#start(requester, work).then(resolve, reject);
        },
        refuse: () => {
          signal?.removeEventListener('abort', leave);
          resolve(BUSY);
        },
      };
      signal?.addEventListener('abort', leave, { once: true });
      line.waiting.push(entry);
      this.#count(line, 1, cost);
      this.#startNext();
    });
  }

  #mayRun({ running }: Line): boolean {
    return this.#running < this.#limits.runningMax && running < this.#limits.runningPerRequesterMax;
  }

  /** Puts the line of the requester behind all others, and begins the work. */
  async #start<T>(requester: Requester, work: () => Promise<T>): Promise<T> {
    const { name, signal } = requester;
    const line = this.#lineOf(name);
    this.#lines.delete(name);
    this.#lines.set(name, line);
    line.running += 1;
    this.#running += 1;
    assert(
      this.#running <= this.#limits.runningMax && line.running <= this.#limits.runningPerRequesterMax,
      'no more runs at once than may',
    );
    try {
      const outcome = await work();
      if (isGone(requester)) throw signal?.reason;
      return outcome;
    } finally {
      line.running -= 1;
      this.#running -= 1;
      assert(this.#running >= 0 && line.running >= 0, 'work ends once');
      assert(this.#lines.get(name) === line, 'a line stays while something of it runs');
      this.#forgetIfIdle(name, line);
      this.#startNext();
    }
  }

  #startNext(): void {
    while (this.#running < this.#limits.runningMax) {
      const next = this.#nextLine();
      if (next === null) return;
      const entry = next.waiting.shift();
      assert(entry !== undefined, 'a line is chosen only when something waits in it');
      this.#count(next, -1, -entry.cost);
      entry.start();
    }
  }

  #nextLine(): Line | null {
    for (const line of this.#lines.values()) if (line.waiting.length > 0 && this.#mayRun(line)) return line;
    return null;
  }

  #count(line: Line, reads: number, cost: number): void {
    line.cost += cost;
    this.#waiting += reads;
    this.#waitingCost += cost;
    assert(
      this.#waiting >= 0 && line.cost >= 0 && this.#waitingCost <= this.#limits.waitingMax,
      'what waits costs no more than may, and starts or leaves once',
    );
  }

  /** Refuses the last read of the line that costs most, unless that is the newcomer's own. */
  #makeRoom(newcomer: string, cost: number): boolean {
    let [longest, most] = [newcomer, (this.#lines.get(newcomer)?.cost ?? 0) + cost];
    for (const [name, line] of this.#lines) {
      if (line.cost > most) [longest, most] = [name, line.cost];
    }
    if (longest === newcomer) return false;
    const last = this.#lines.get(longest)?.waiting.at(-1);
    assert(last !== undefined, 'the longest line is not empty');
    const before = this.#waitingCost;
    this.#leave(longest, last);
    assert(this.#waitingCost < before, 'who is refused makes room');
    last.refuse();
    return true;
  }

  #leave(name: string, entry: Waiting): void {
    const line = this.#lines.get(name);
    const place = line?.waiting.indexOf(entry) ?? -1;
    assert(line !== undefined && place >= 0, 'only what waits can leave');
    line.waiting.splice(place, 1);
    this.#count(line, -1, -entry.cost);
    this.#forgetIfIdle(name, line);
  }

  #lineOf(name: string): Line {
    const known = this.#lines.get(name);
    if (known !== undefined) return known;
    const line: Line = { waiting: [], cost: 0, running: 0 };
    this.#lines.set(name, line);
    return line;
  }

  #forgetIfIdle(name: string, { waiting, running, cost }: Line): void {
    assert((waiting.length === 0) === (cost === 0), 'a line costs what waits in it');
    if (waiting.length === 0 && running === 0) this.#lines.delete(name);
  }
}

const isGone = ({ isGone, signal }: Requester): boolean => isGone ?? signal?.aborted ?? false;
