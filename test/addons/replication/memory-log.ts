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

export type MessageKind = 'request' | 'reply' | 'appended' | 'announcement';

/** Milliseconds that a message takes, or that it is lost, or arrives twice. */
export type Fate = (kind: MessageKind) => number | 'lost' | 'twice';

/** After this the same message arrives for the second time. */
const REPEATED_AFTER_MS = 20;

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
  /** So many of the next records are said to be stored, and are not. */
  lies = 0;
  /** Told of each record that is appended. */
  onAppend: ((record: Buffer) => void) | null = null;
  #paused: (() => void)[] | null = null;

  constructor(timer: Timer) {
    this.timer = timer;
  }

  get last(): number {
    return this.records.length;
  }

  /** Begins a history, as `flagstaff cluster init` does. */
  begin(
    cluster: string,
    history: string | null = HISTORY,
    { previousId = 0, previousChain = 0, epoch = 1 } = {},
  ): this {
    const by = { node: 'init', run: 'ffffffff', address: '' };
    const place = { epoch, previousId, previousChain };
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
    if (this.lies > 0) {
      this.lies -= 1;
      return { kind: 'accepted' };
    }
    this.records.push(record);
    this.onAppend?.(record);
    for (const link of this.#links) link.onAppendedAt(this.last, record);
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
    for (const link of this.#links) link.deliver(message);
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
  readonly #onAppended = new Set<(record: LogRecord) => void>();
  /** While it is cut, nothing passes in either direction. */
  isCut = false;
  /**
   * While it is a number, the link leads to a server that was cut off when the log had so many records: it knows nothing of later
   * ones, and it does not say where the log ends.
   */
  endsAt: number | null = null;
  /** Runs what a message brings to the node, or keeps it while the process stands still. */
  admit: (run: () => void) => void = (run) => run();
  /** Throws where the node cannot read a record. */
  refuse: (record: Buffer) => void = () => undefined;
  #isClosed = false;

  constructor(log: MemoryLog, fate: Fate) {
    this.#log = log;
    this.#made = log.made;
    this.#fate = fate;
  }

  extent(): Promise<LogExtent> {
    return this.#ask(() => {
      if (this.#made !== this.#log.made) throw new FencedError('the log was recreated');
      if (this.endsAt !== null) throw new Error('the server has not reached a majority');
      return { first: this.#log.first, last: this.#log.last };
    });
  }

  async append(expectedLast: number, record: Uint8Array): Promise<AppendOutcome> {
    assert(record.length <= RECORD_BYTES_MAX, 'a record that a server would refuse');
    const bytes = Buffer.from(record);
    try {
      return await this.#ask(() =>
        this.endsAt === null ? this.#log.append(expectedLast, bytes) : { kind: 'conflict' },
      );
    } catch (cause) {
      return { kind: 'unknown', cause };
    }
  }

  read(position: number): Promise<Buffer | null> {
    return this.#ask(() => {
      const isThere = position >= this.#log.first && position <= this.#end;
      const record = isThere ? this.#log.records[position - 1] : undefined;
      if (record === undefined) return null;
      this.refuse(record);
      return Buffer.from(record);
    });
  }

  get #end(): number {
    return this.endsAt ?? this.#log.last;
  }

  purge(before: number): Promise<void> {
    return this.#ask(() => this.#log.purgeBefore(before));
  }

  onAppended(listener: (record: LogRecord) => void): () => void {
    this.#onAppended.add(listener);
    return () => this.#onAppended.delete(listener);
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
  }

  onAppendedAt(position: number, record: Buffer): void {
    this.#carry('appended', () =>
      this.admit(() => {
        // A node that cannot read it learns so when it asks for it.
        if (!this.#reads(record)) return;
        for (const listener of this.#onAppended) listener({ position, bytes: Buffer.from(record) });
      }),
    );
  }

  #reads(record: Buffer): boolean {
    try {
      this.refuse(record);
      return true;
    } catch {
      return false;
    }
  }

  deliver(message: Buffer): void {
    this.#carry('announcement', () =>
      this.admit(() => {
        for (const listener of this.#listeners) listener(Buffer.from(message));
      }),
    );
  }

  /** Has the log do something; rejects when no answer comes in time, whether or not it was done. */
  #ask<T>(run: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      const cancel = this.#log.timer(ANSWER_TIMEOUT_MS, () => this.admit(() => reject(LOST)));
      this.#carry('request', () =>
        this.#log.serve(() => {
          const answer = answerOf(() => {
            if (this.#log.isGone) throw new LogGoneError('There is no log.');
            return run();
          });
          this.#carry('reply', () =>
            this.admit(() => {
              cancel();
              answer.then(resolve, reject);
            }),
          );
        }),
      );
    });
  }

  /** How often a message arrives, once the time that it takes is over. */
  async #times(kind: MessageKind): Promise<number> {
    const fate = this.isCut || this.#isClosed ? 'lost' : this.#fate(kind);
    if (fate === 'lost') return 0;
    if (fate !== 'twice' && fate > 0) await new Promise<void>((resolve) => this.#log.timer(fate, resolve));
    if (this.isCut || this.#isClosed) return 0;
    return fate === 'twice' ? 2 : 1;
  }

  #carry(kind: MessageKind, arrive: () => void): void {
    void this.#times(kind).then((times) => {
      if (times > 0) arrive();
      if (times > 1) this.#log.timer(REPEATED_AFTER_MS, arrive);
    });
  }
}

/** Handled already, because the answer may be lost on its way. */
function answerOf<T>(run: () => T): Promise<T> {
  const answer = (async () => run())();
  answer.catch(() => undefined);
  return answer;
}
