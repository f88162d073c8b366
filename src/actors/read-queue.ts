/**
 * A queue for reads that cost more than a response from memory: few run at a time, and those that wait take turns by caller, so
 * that a caller of a thousand reads delays only itself. A read whose caller has gone leaves the queue, or is told to
 * stop. When the queue is full, the last read of the caller who fills most of it makes room.
 */
import assert from 'node:assert/strict';
import { type Refusal, refuse } from '../domain/state/refusal.ts';

/** The caller that a read is made for. */
export interface Asker {
  /** Equal for all that one caller asks. */
  readonly name: string;
  /** Aborted once nobody waits for the outcome any more. */
  readonly signal: AbortSignal;
  /** Whether the signal is aborted. Absent where only the signal knows: making one takes almost as long as a read from memory. */
  readonly isGone?: boolean;
  /** To be told of each piece of work that held the event loop, in milliseconds. Absent where nobody is charged. */
  readonly charge?: (heldMs: number) => void;
}

export interface ReadQueueLimits {
  readonly runningMax: number;
  /** The most of one caller: fewer than `runningMax` leave room for somebody else at any time. */
  readonly runningPerAskerMax: number;
  /** The most that may wait: a number of reads, or a sum in the unit of their costs. */
  readonly waitingMax: number;
}

interface Waiting {
  readonly cost: number;
  start(): void;
  refuse(): void;
}

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
  run<T>(read: () => Promise<T>, asker: Asker, cost = 1): Promise<T | Refusal> {
    assert(cost > 0, 'what waits counts for something');
    const { name } = asker;
    if (isGone(asker)) return Promise.reject(asker.signal.reason);
    while (this.#waitingCost + cost > this.#limits.waitingMax)
      if (!this.#makeRoom(name, cost)) return Promise.resolve(BUSY);
    const line = this.#lineOf(name);
    // Then it would be chosen at once.
    if (this.#waiting === 0 && this.#mayRun(line)) return this.#start(asker, read);
    return new Promise((resolve, reject) => {
      const entry = new WaitingRead<T>({
        cost,
        signal: asker.signal,
        resolve,
        reject,
        begin: () => this.#start(asker, read),
        leave: () => this.#leave(name, entry),
      });
      line.waiting.push(entry);
      this.#count(line, 1, cost);
      this.#startNext();
    });
  }

  #mayRun({ running }: Line): boolean {
    return this.#running < this.#limits.runningMax && running < this.#limits.runningPerAskerMax;
  }

  /** Puts the line of the asker behind all others, and reads. */
  async #start<T>(asker: Asker, read: () => Promise<T>): Promise<T> {
    const line = this.#lineOf(asker.name);
    this.#lines.delete(asker.name);
    this.#lines.set(asker.name, line);
    const outcome = await this.#run(asker.name, read);
    if (isGone(asker)) throw asker.signal.reason;
    return outcome;
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

const isGone = (asker: Asker): boolean => asker.isGone ?? asker.signal.aborted;

interface WaitingReadOptions<T> {
  readonly cost: number;
  readonly signal: AbortSignal;
  resolve(outcome: T | Refusal): void;
  reject(error: unknown): void;
  /** Its turn has come. */
  begin(): Promise<T>;
  /** Its asker has gone. */
  leave(): void;
}

class WaitingRead<T> implements Waiting {
  readonly cost: number;
  readonly #options: WaitingReadOptions<T>;

  constructor(options: WaitingReadOptions<T>) {
    this.cost = options.cost;
    this.#options = options;
    options.signal.addEventListener('abort', this, { once: true });
  }

  start(): void {
    const { signal, begin, resolve, reject } = this.#options;
    signal.removeEventListener('abort', this);
    begin().then(resolve, reject);
  }

  refuse(): void {
    this.#options.signal.removeEventListener('abort', this);
    this.#options.resolve(BUSY);
  }

  handleEvent(): void {
    const { leave, reject, signal } = this.#options;
    leave();
    reject(signal.reason);
  }
}
