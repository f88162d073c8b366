/**
 * All reads of the event log that requests ask for, and all walks over the whole state, in one place: each waits for its turn, so that neither the event
 * loop, nor memory, nor file descriptors depend on how many ask. Text searches have a queue of their own, because one can take
 * a second, in a thread, and must not delay lists and the past of a flag.
 */
import assert from 'node:assert/strict';
import type { RecordedEvent } from '../domain/state/events.ts';
import { type Refusal, refuse } from '../domain/state/refusal.ts';
import type { EventQuery } from '../persistence/event-log/event-filter.ts';
import type { EventLines, EventLog } from '../persistence/event-log/event-log.ts';
import type { EventPage } from '../persistence/event-log/event-page.ts';
import { FairQueue, type FairQueueLimits } from './fair-queue.ts';
import type { FlagHistory, PastFlag, PastFlagQuery, PastFlags, PastFlagsQuery } from './flag-history.ts';
import type { Requester } from './turn.ts';

const UNREAD: Refusal = refuse(
  'ServiceUnavailableError',
  'The server has started, and still reads its history: events can be searched and read in some seconds.',
);

/** A read has one segment or snapshot open at a time, and a megabyte or two in memory; what a walk over all flags found may take megabytes. */
export const READS: FairQueueLimits = { runningMax: 4, runningPerRequesterMax: 2, waitingMax: 64 };

/** They share one thread. At a second a search on a large log, the last in the queue waits 16 s. */
export const TEXT_SEARCHES: FairQueueLimits = { runningMax: 1, runningPerRequesterMax: 1, waitingMax: 16 };

export interface LogReadsOptions {
  readonly eventLog: EventLog;
  readonly history: FlagHistory;
  /** Told of each read that fails. */
  onFault(error: unknown): void;
}

/** Each method gives a 503 when its queue is full, and those that read events until all of the journal has been read after a start, and rejects with the reason of the requester's signal once it is aborted. */
export class LogReads {
  readonly #options: LogReadsOptions;
  readonly #reads = new FairQueue(READS);
  readonly #textSearches = new FairQueue(TEXT_SEARCHES);

  constructor(options: LogReadsOptions) {
    this.#options = options;
  }

  get runningCount(): number {
    return this.#reads.runningCount + this.#textSearches.runningCount;
  }

  get waitingCount(): number {
    return this.#reads.waitingCount + this.#textSearches.waitingCount;
  }

  /** Nothing newer than `durableId` is shown (invariant 4). */
  search(query: EventQuery, durableId: number, requester: Requester): Promise<EventPage | Refusal> {
    assert(this.#has(durableId), 'each event that may be shown is in the log');
    const queue = query.query ? this.#textSearches : this.#reads;
    return this.#read(queue, () => this.#options.eventLog.search(query, durableId, requester), requester);
  }

  /** The next lines after event `id`, as `EventLog` makes them; a 410 where events after it are no longer kept. */
  async linesAfter(
    id: number,
    query: { readonly durableId: number; isWanted(event: RecordedEvent): boolean },
    requester: Requester,
  ): Promise<EventLines | Refusal> {
    const { eventLog } = this.#options;
    const lines = await this.#read(this.#reads, () => eventLog.linesAfter(id, query, requester), requester);
    return (
      lines ??
      refuse(
        'GoneError',
        `The events before ${eventLog.oldestId(query.durableId)} are no longer kept: ` +
          `what came after event ${id} is lost in part. Leave the parameter after away to begin with the oldest event.`,
      )
    );
  }

  /** Runs `walk` over the state in its turn. It must work in turns, and stop with the requester's signal. */
  walk<T>(walk: () => Promise<T>, requester: Requester): Promise<T | Refusal> {
    return this.#reads.run(walk, requester);
  }

  /** Both also refuse with a 404, as `FlagHistory` does. */
  flagsAt(query: PastFlagsQuery, requester: Requester): Promise<PastFlags | Refusal> {
    return this.#past(query, requester, (whole) => this.#options.history.flagsAt(whole));
  }

  flagAt(query: PastFlagQuery, requester: Requester): Promise<PastFlag | Refusal> {
    return this.#past(query, requester, (whole) => this.#options.history.flagAt(whole));
  }

  #past<Query extends PastFlagQuery | PastFlagsQuery, T>(
    query: Query,
    requester: Requester,
    read: (query: Query) => Promise<T>,
  ): Promise<T | Refusal> {
    const { signal, charge } = requester;
    assert(this.#has(query.durableId), 'each event that may be shown is in the log');
    return this.#read(this.#reads, () => read({ ...query, signal, charge }), requester);
  }

  /** A server that started from a snapshot alone has a log without events. */
  #has(eventId: number): boolean {
    const { firstId, lastId } = this.#options.eventLog;
    return firstId === 0 || eventId <= lastId;
  }

  async #read<T>(queue: FairQueue, read: () => Promise<T>, requester: Requester): Promise<T | Refusal> {
    if (!this.#options.eventLog.isWhole) return UNREAD;
    try {
      return await queue.run(read, requester);
    } catch (error) {
      this.#options.onFault(error);
      throw error;
    }
  }
}
