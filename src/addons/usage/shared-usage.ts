/**
 * Reports of applications among the nodes of a cluster. Each node puts what is reported to it on a stream, and counts what the stream
 * gives back, its own reports too: so all nodes count the same, in the same order, and one that lost its disk counts everything again
 * from the beginning of the stream.
 *
 * A report counts once: a batch that was sent twice has the same id both times, and a node knows the position up to which it has
 * counted. While the stream cannot be reached, reports wait in memory, within a bound.
 */
import assert from 'node:assert/strict';
import type { Broadcast } from '../../host/addon.ts';
import type { ApplicationDetails } from './applications.ts';
import type { ApplicationReport, UsageReport } from './reports.ts';

/** One thing that was reported, as JSON on the stream. `atMs`: by the clock of the node that it was reported to. */
export type UsageNote =
  | { readonly kind: 'application'; readonly report: ApplicationReport; readonly atMs: number }
  | {
      readonly kind: 'details';
      readonly appName: string;
      readonly details: Partial<ApplicationDetails>;
      readonly atMs: number;
    }
  | { readonly kind: 'forgotten'; readonly appName: string }
  | { readonly kind: 'counts'; readonly report: SharedCounts; readonly atMs: number }
  | { readonly kind: 'tokens'; readonly used: readonly (readonly [digest: string, atMs: number])[] }
  | {
      readonly kind: 'sign-in';
      readonly userId: number;
      readonly succeeded: boolean;
      readonly atMs: number;
    };

/** Counts of flags that exist and that the application's token covers, and the names of others. */
export interface SharedCounts extends UsageReport {
  readonly unknownFlags: readonly string[];
}

/** Reports wait for so long for others, so that a busy node sends few batches. */
const BATCH_MS = 500;

/** Between two attempts while the stream does not respond or has nothing new. */
const RETRY_MS = 1_000;

/** Bytes of a batch of several reports. */
const BATCH_BYTES_MAX = 256 * 1024;

/** Bytes of one report: a server takes messages of 1 MiB, and one that it refused would be sent again for ever. */
export const REPORT_BYTES_MAX = 768 * 1024;

/** Bytes of reports that wait. Protects memory while the stream cannot be reached; newer reports are then not counted. */
export const REPORTS_WAITING_BYTES_MAX = 4 * 1024 * 1024;

export interface SharedUsageOptions {
  readonly stream: Broadcast;
  /** This start of this node, as the ids of batches begin. */
  readonly run: string;
  /** Calls back after so many milliseconds. Must not keep the process alive. */
  timer(delayMs: number, callback: () => void): void;
  /** Told why a report is not counted, or a batch cannot be read. */
  onFault(error: unknown): void;
}

/** The oldest reports that wait, as they are sent. */
interface Batch {
  readonly message: Buffer;
  readonly count: number;
  /** Bytes of the reports in it. */
  readonly bytes: number;
}

export class SharedUsage {
  readonly #options: SharedUsageOptions;
  readonly #abort = new AbortController();
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  #batches = 0;
  #batch: Batch | null = null;
  #sending: Promise<void> | null = null;
  #isScheduled = false;
  #isFull = false;
  #hasToldOfLargeOnes = false;
  #following: Promise<void> | null = null;
  /** Ends the wait for further batches. */
  #endWait: () => void = () => undefined;

  constructor(options: SharedUsageOptions) {
    this.#options = options;
  }

  send(note: UsageNote): void {
    const report = Buffer.from(JSON.stringify(note));
    if (report.length > REPORT_BYTES_MAX) return this.#tellOfLargeOne(report.length);
    if (this.#waitingBytes + report.length > REPORTS_WAITING_BYTES_MAX) {
      if (!this.#isFull)
        this.#options.onFault(
          new Error('reports cannot be shared with the other nodes, and are not counted'),
        );
      this.#isFull = true;
      return;
    }
    this.#isFull = false;
    this.#waiting.push(report);
    this.#waitingBytes += report.length;
    this.#schedule(BATCH_MS);
  }

  /** Once: any caller who may report could fill the log with it. */
  #tellOfLargeOne(bytes: number): void {
    if (this.#hasToldOfLargeOnes) return;
    this.#hasToldOfLargeOnes = true;
    this.#options.onFault(
      new Error(`a report of ${bytes} bytes, where nodes share ${REPORT_BYTES_MAX} at most, is not counted`),
    );
  }

  /** Gives `take` each batch behind a position, one after the other. */
  follow(behind: number, take: (position: number, notes: readonly UsageNote[]) => Promise<void>): void {
    assert(this.#following === null, 'each batch is given to one taker');
    this.#following = this.#follow(behind, take);
  }

  /** Sends what waits, unless the stream fails, and follows no further. */
  async close(): Promise<void> {
    await this.#sendAll().catch(() => undefined);
    this.#abort.abort();
    this.#endWait();
    await this.#following;
  }

  #schedule(delayMs: number): void {
    if (this.#isScheduled || this.#abort.signal.aborted) return;
    this.#isScheduled = true;
    this.#options.timer(delayMs, () => {
      this.#isScheduled = false;
      this.#sendAll().catch(() => this.#schedule(RETRY_MS));
    });
  }

  /** All that waits; one batch is under way at a time. */
  #sendAll(): Promise<void> {
    this.#sending ??= this.#sendEach().finally(() => {
      this.#sending = null;
    });
    return this.#sending;
  }

  async #sendEach(): Promise<void> {
    while (this.#waiting.length > 0) await this.#send();
  }

  /** The next batch. Until the stream has it for certain, it stays the same one. */
  async #send(): Promise<void> {
    this.#batch ??= this.#nextBatch();
    if (this.#batch === null) return;
    const { message, count, bytes } = this.#batch;
    await this.#options.stream.publish(message, `${this.#options.run}-${this.#batches}`);
    assert(this.#batch?.message === message, 'one batch is under way at a time');
    assert(count > 0 && count <= this.#waiting.length, 'what is sent waits until the stream has it');
    this.#batch = null;
    this.#batches += 1;
    this.#waiting.splice(0, count);
    this.#waitingBytes -= bytes;
    assert((this.#waiting.length === 0) === (this.#waitingBytes === 0), 'reports that wait have bytes');
  }

  #nextBatch(): Batch | null {
    let bytes = 0;
    let count = 0;
    for (const report of this.#waiting) {
      if (count > 0 && bytes + report.length > BATCH_BYTES_MAX) break;
      bytes += report.length;
      count += 1;
    }
    if (count === 0) return null;
    assert(count === 1 || bytes <= BATCH_BYTES_MAX, 'a batch of several reports is bounded');
    return { message: Buffer.from(`[${this.#waiting.slice(0, count).join(',')}]`), count, bytes };
  }

  async #follow(
    behind: number,
    take: (position: number, notes: readonly UsageNote[]) => Promise<void>,
  ): Promise<void> {
    const { stream, timer } = this.#options;
    const { signal } = this.#abort;
    for (let next = behind + 1; !signal.aborted; ) {
      // A stream that fails says for itself what ails it; it is asked again.
      const batch = await stream.read(next).catch(() => null);
      if (signal.aborted) return;
      if (batch === null) {
        await new Promise<void>((resolve) => {
          this.#endWait = resolve;
          timer(RETRY_MS, resolve);
        });
        continue;
      }
      await take(batch.position, this.#read(batch.bytes));
      next = batch.position + 1;
    }
  }

  #read(bytes: Buffer): readonly UsageNote[] {
    try {
      const notes: unknown = JSON.parse(bytes.toString());
      if (Array.isArray(notes)) return notes as readonly UsageNote[];
      throw new Error('a batch of reports is no list');
    } catch (error) {
      this.#options.onFault(error);
      return [];
    }
  }
}
