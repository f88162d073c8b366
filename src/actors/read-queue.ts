/**
 * A queue for reads that cost more than a response from memory: few run at a time, and those that wait take turns by caller, so
 * that whoever asks a thousand times waits for himself. A read whose caller has gone leaves the queue, or is told to
 * stop. When the queue is full, the last read of the caller who fills most of it makes room.
 */
import assert from 'node:assert/strict';
import { type Refusal, refuse } from '../domain/state/refusal.ts';

/** On whose behalf something is read. */
export interface Asker {
  /** Equal for all that one caller asks. */
  readonly name: string;
  /** Aborted once nobody waits for the outcome any more. */
  readonly signal: AbortSignal;
  /** To be told of each piece of work that held the event loop, in milliseconds. Absent where nobody is charged. */
  readonly charge?: (heldMs: number) => void;
}

export interface ReadQueueLimits {
  readonly runningMax: number;
  /** Of one caller: fewer than `runningMax` leave room for somebody else at any time. */
  readonly runningPerAskerMax: number;
  /** What may wait: reads, or whatever their costs are counted in. */
  readonly waitingMax: number;
}

interface Waiting {
  readonly cost: number;
  readonly start: () => void;
  readonly refuse: () => void;
}

interface Line {
  readonly waiting: Waiting[];
  /** Of all that waits. */
  cost: number;
  running: number;
}

const BUSY: Refusal = refuse(
  'ServiceUnavailableError',
  'Too many reads that take long are waiting. Try again in a few seconds.',
);

export class ReadQueue {
  readonly #limits: ReadQueueLimits;
  /** By the name of the asker, in the order of their turns. Only those who have something waiting or running. */
  readonly #lines = new Map<string, Line>();
  #running = 0;
  #waiting = 0;
  #waitingCost = 0;

  constructor(limits: ReadQueueLimits) {
    assert(
      limits.runningPerAskerMax > 0 &&
        limits.runningPerAskerMax <= limits.runningMax &&
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
   * The refusal is a 503: the queue is full. Rejects with the signal's reason once it is aborted. `cost`: what the read counts
   * for while it waits.
   */
  run<T>(read: () => Promise<T>, { name, signal }: Asker, cost = 1): Promise<T | Refusal> {
    assert(cost > 0, 'what waits counts for something');
    if (signal.aborted) return Promise.reject(signal.reason);
    while (this.#waitingCost + cost > this.#limits.waitingMax)
      if (!this.#makeRoom(name, cost)) return Promise.resolve(BUSY);
    return new Promise((resolve, reject) => {
      const line = this.#lineOf(name);
      const leave = (): void => {
        this.#leave(name, entry);
        reject(signal.reason);
      };
      const entry: Waiting = {
        cost,
        start: () => {
          signal.removeEventListener('abort', leave);
          this.#run(name, read).then((outcome) => {
            if (signal.aborted) reject(signal.reason);
            else resolve(outcome);
          }, reject);
        },
        refuse: () => {
          signal.removeEventListener('abort', leave);
          resolve(BUSY);
        },
      };
      signal.addEventListener('abort', leave, { once: true });
      line.waiting.push(entry);
      this.#count(line, 1, cost);
      this.#startNext();
    });
  }

  async #run<T>(name: string, read: () => Promise<T>): Promise<T> {
    const line = this.#lineOf(name);
    line.running += 1;
    this.#running += 1;
    assert(
      this.#running <= this.#limits.runningMax && line.running <= this.#limits.runningPerAskerMax,
      'no more reads run at once than may',
    );
    try {
      return await read();
    } finally {
      line.running -= 1;
      this.#running -= 1;
      assert(this.#running >= 0 && line.running >= 0, 'a read ends once');
      assert(this.#lines.get(name) === line, 'a line stays while something of it runs');
      this.#forgetIfIdle(name, line);
      this.#startNext();
    }
  }

  #startNext(): void {
    while (this.#running < this.#limits.runningMax) {
      const next = this.#nextLine();
      if (next === null) return;
      const [name, line] = next;
      const entry = line.waiting.shift();
      assert(entry !== undefined, 'a line is chosen only when something waits in it');
      this.#count(line, -1, -entry.cost);
      // To the end of the turns.
      this.#lines.delete(name);
      this.#lines.set(name, line);
      entry.start();
    }
  }

  #nextLine(): [string, Line] | null {
    for (const [name, line] of this.#lines) {
      if (line.waiting.length > 0 && line.running < this.#limits.runningPerAskerMax) return [name, line];
    }
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
