/**
 * The replicated log in memory, for tests. Each node reaches it over a link of its own, on which a test decides what
 * becomes of every message: it arrives after a while, so that a later one may overtake it, or is lost. The log itself
 * can be paused, and can lose its tail, which no real one may.
 */
import assert from 'node:assert/strict';
import { encodeRecord } from '../../../src/addons/replication/record-format.ts';
import {
  type AppendOutcome,
  type LogExtent,
  LogGoneError,
  type LogRecord,
  RECORD_BYTES_MAX,
  type ReplicatedLog,
} from '../../../src/addons/replication/replicated-log.ts';
import { FencedError } from '../../../src/persistence/journal/commit-log.ts';

/** Calls `run` later, once; returns what cancels it. */
export type Timer = (delayMs: number, run: () => void) => () => void;

export type MessageKind = 'request' | 'reply' | 'record' | 'announcement';

/** Milliseconds that a message takes, or that it is lost. */
export type Fate = (kind: MessageKind) => number | 'lost';

/** After this a node gives up on an answer. */
const ANSWER_TIMEOUT_MS = 2_000;

export class MemoryLog {
  /** All that were ever taken; no link shows those that were purged. */
  records: Buffer[] = [];
  /** Positions before it were purged. */
  first = 1;
  readonly timer: Timer;
  readonly #links = new Set<MemoryLink>();
  /** How often it was made. */
  made = 1;
  isGone = false;
  #paused: (() => void)[] | null = null;

  constructor(timer: Timer) {
    this.timer = timer;
  }

  get last(): number {
    return this.records.length;
  }

  /** Begins a history, as `flagstaff cluster init` does. */
  begin(cluster: string, history: string | null = HISTORY): this {
    const by = { node: 'init', run: 'ffffffff', address: '' };
    const place = { epoch: 1, previousId: 0, previousChain: 0 };
    this.records.push(encodeRecord({ kind: 'take-over', cluster, history, by, ...place }));
    return this;
  }

  /** It is deleted, with all that it held. */
  lose(): void {
    this.records = [];
    this.first = 1;
    this.isGone = true;
  }

  /** It is made anew, and empty. */
  makeAnew(): void {
    this.lose();
    this.isGone = false;
    this.made += 1;
  }

  /** A link for one node. */
  connect(fate: Fate = () => 0): MemoryLink {
    const link = new MemoryLink(this, fate);
    this.#links.add(link);
    return link;
  }

  disconnect(link: MemoryLink): void {
    this.#links.delete(link);
  }

  /** While it is paused, requests wait. */
  pause(): void {
    this.#paused ??= [];
  }

  resume(): void {
    const waiting = this.#paused ?? [];
    this.#paused = null;
    for (const run of waiting) run();
  }

  serve(run: () => void): void {
    if (this.#paused === null) run();
    else this.#paused.push(run);
  }

  append(expectedLast: number, record: Buffer): AppendOutcome {
    if (expectedLast !== this.last) return { kind: 'conflict' };
    this.records.push(record);
    for (const link of this.#links) link.wake();
    return { kind: 'accepted' };
  }

  /** Forgets the newest records, as only a faulty log does. */
  loseTail(count: number): void {
    this.records.splice(this.records.length - count, count);
  }

  /** Told of the newest record that is forgotten. */
  onPurge: ((newest: Buffer) => void) | null = null;

  purgeBefore(position: number): void {
    if (position <= this.first) return;
    this.first = position;
    this.onPurge?.(this.records[position - 2]!);
  }

  announce(message: Buffer): void {
    for (const link of this.#links) link.hear(message);
  }
}

/** Unless a test wants another one. */
export const HISTORY = 'c'.repeat(32);

const LOST = new Error('no answer from the log');

export class MemoryLink implements ReplicatedLog {
  readonly #log: MemoryLog;
  readonly #made: number;
  readonly #fate: Fate;
  readonly #listeners = new Set<(message: Buffer) => void>();
  #wakers: (() => void)[] = [];
  /** While it is cut, nothing passes in either direction. */
  isCut = false;
  #isClosed = false;

  constructor(log: MemoryLog, fate: Fate) {
    this.#log = log;
    this.#made = log.made;
    this.#fate = fate;
  }

  extent(): Promise<LogExtent> {
    return this.#ask(() => {
      if (this.#made !== this.#log.made) throw new FencedError('the log was made anew');
      return { first: this.#log.first, last: this.#log.last };
    });
  }

  async append(expectedLast: number, record: Uint8Array): Promise<AppendOutcome> {
    assert(record.length <= RECORD_BYTES_MAX, 'a record that a server would refuse');
    const bytes = Buffer.from(record);
    try {
      return await this.#ask(() => this.#log.append(expectedLast, bytes));
    } catch (cause) {
      return { kind: 'unknown', cause };
    }
  }

  read(position: number): Promise<Buffer | null> {
    return this.#ask(() => {
      const record = position < this.#log.first ? undefined : this.#log.records[position - 1];
      return record === undefined ? null : Buffer.from(record);
    });
  }

  purge(before: number): Promise<void> {
    return this.#ask(() => this.#log.purgeBefore(before));
  }

  async *tail(from: number, signal: AbortSignal): AsyncGenerator<LogRecord> {
    const wake = (): void => this.wake();
    signal.addEventListener('abort', wake);
    try {
      for (let position = from; !signal.aborted; ) {
        position = Math.max(position, this.#log.first);
        const record = this.#log.records[position - 1];
        if (record === undefined) {
          await new Promise<void>((resolve) => this.#wakers.push(resolve));
          continue;
        }
        if (!(await this.#passes('record'))) throw LOST;
        yield { position, bytes: Buffer.from(record) };
        position += 1;
      }
    } finally {
      signal.removeEventListener('abort', wake);
    }
  }

  announce(message: Uint8Array): void {
    const bytes = Buffer.from(message);
    this.#carry('announcement', () => this.#log.announce(bytes));
  }

  onAnnouncement(listener: (message: Buffer) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#log.disconnect(this);
    this.wake();
  }

  /** There may be something for a tail. */
  wake(): void {
    const wakers = this.#wakers;
    this.#wakers = [];
    for (const resume of wakers) resume();
  }

  hear(message: Buffer): void {
    this.#carry('announcement', () => {
      for (const listener of this.#listeners) listener(Buffer.from(message));
    });
  }

  /** Has the log do something; rejects when no answer comes in time, whether or not it was done. */
  #ask<T>(run: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      const cancel = this.#log.timer(ANSWER_TIMEOUT_MS, () => reject(LOST));
      this.#carry('request', () =>
        this.#log.serve(() => {
          const answer = answerOf(() => {
            if (this.#log.isGone) throw new LogGoneError('There is no log.');
            return run();
          });
          this.#carry('reply', () => {
            cancel();
            answer.then(resolve, reject);
          });
        }),
      );
    });
  }

  async #passes(kind: MessageKind): Promise<boolean> {
    const fate = this.isCut || this.#isClosed ? 'lost' : this.#fate(kind);
    if (fate === 'lost') return false;
    if (fate > 0) await new Promise<void>((resolve) => this.#log.timer(fate, resolve));
    return !this.isCut && !this.#isClosed;
  }

  #carry(kind: MessageKind, arrive: () => void): void {
    void this.#passes(kind).then((passes) => {
      if (passes) arrive();
    });
  }
}

/** Handled already, because the answer may be lost on its way. */
function answerOf<T>(run: () => T): Promise<T> {
  const answer = (async () => run())();
  answer.catch(() => undefined);
  return answer;
}
