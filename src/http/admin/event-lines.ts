/**
 * Events as lines of JSON, from the log and then as they happen (docs/specification/events.md#lines). What has left the ring of the
 * change feed is read from the log, a page at a time, each once the client has taken the one before.
 */
import type { Engine } from '../../actors/engine.ts';
import type { LogReads } from '../../actors/log-reads.ts';
import type { Requester } from '../../actors/turn.ts';
import type { RecordedEvent } from '../../domain/state/events.ts';
import { isRefusal, type Refusal } from '../../domain/state/refusal.ts';
import type { RequestContext } from '../serving/route.ts';
import type { Message } from '../serving/subscribers.ts';
import { ResponseHeaders } from '../transport/response.ts';
import { EVENT_OPERATORS, EVENT_PARAMETERS } from './event-search.ts';
import { choiceIn, conditionsOf, TRUE_OR_FALSE } from './query-parameters.ts';
import type { IsHeard } from './recorded-news.ts';

export const LINES_TYPE = 'application/x-ndjson';

export const LINES_HEADERS = ResponseHeaders.of(
  ...['content-type', LINES_TYPE],
  ...['cache-control', 'no-cache'],
  ...['x-content-type-options', 'nosniff'],
  ...['x-accel-buffering', 'no'],
);

/** An empty line, which shows that the connection is alive. */
export const EMPTY_LINE = Buffer.from('\n');

export const LINES_PARAMETERS = {
  follow: {
    description: 'Whether events follow as they happen; without false, they do.',
    schema: { type: 'boolean' },
  },
  ...EVENT_PARAMETERS,
};

export interface LinesQuery {
  readonly follows: boolean;
  /** Null: every event is wanted. */
  readonly isWanted: IsHeard;
}

export function linesQueryOf(context: RequestContext<unknown>): LinesQuery | Refusal {
  const follow = choiceIn(context, 'follow', TRUE_OR_FALSE, 'true');
  if (isRefusal(follow)) return follow;
  const conditions = conditionsOf(context, EVENT_OPERATORS);
  if (isRefusal(conditions)) return conditions;
  const { type, project, feature, environment } = conditions;
  const all = [
    { field: 'type', condition: type },
    { field: 'project', condition: project },
    { field: 'featureName', condition: feature },
    { field: 'environment', condition: environment },
  ] as const;
  const given = all.flatMap(({ field, condition }) =>
    condition === null ? [] : [{ field, values: new Set<string | null>(condition.values) }],
  );
  const isWanted = (event: RecordedEvent): boolean =>
    given.every(({ field, values }) => values.has(event[field]));
  return { follows: follow === 'true', isWanted: given.length === 0 ? null : isWanted };
}

interface LoggedLinesOptions {
  readonly context: Pick<RequestContext<unknown>, 'engine' | 'reads' | 'requester'>;
  /** The events that the caller may read now, of those that it wants. */
  heard(): IsHeard;
  /** Called when there are further lines to take, or `soon` when the reads were too busy. */
  onReady(when: 'now' | 'soon'): void;
}

/** The lines that one client gets from the log. */
export class LoggedLines {
  readonly #engine: Engine;
  readonly #reads: LogReads;
  readonly #options: Omit<LoggedLinesOptions, 'context'>;
  readonly #requester: Requester;
  readonly #end = new AbortController();
  #isReading = false;
  /** The lines that were read last and are yet to be taken. Under other rights they are read again. */
  #ready: (Message & { readonly afterId: number; readonly accessRevision: number }) | null = null;
  #isLost = false;

  constructor({ context: { engine, reads, requester }, ...options }: LoggedLinesOptions) {
    this.#engine = engine;
    this.#reads = reads;
    this.#options = options;
    this.#requester = { name: requester.name, signal: this.#end.signal, charge: requester.charge };
  }

  /** Whether the client cannot get the next lines: they are no longer kept, or cannot be read. */
  get isLost(): boolean {
    return this.#isLost;
  }

  get #accessRevision(): number {
    return this.#engine.world.directory.accessRevision;
  }

  close(): void {
    this.#end.abort();
  }

  /** Reads the lines after event `id`, which `take` gives. */
  async read(afterId: number): Promise<Refusal | null> {
    const accessRevision = this.#accessRevision;
    const isHeard = this.#options.heard();
    const isWanted = (event: RecordedEvent): boolean => isHeard?.(event) !== false;
    const { durableId } = this.#engine;
    const lines = await this.#reads.linesAfter(afterId, { durableId, isWanted }, this.#requester);
    if (isRefusal(lines)) return lines;
    const { bytes, lastId } = lines;
    this.#ready = { id: lastId, bytes: bytes.length === 0 ? null : bytes, afterId, accessRevision };
    return null;
  }

  /** The lines after event `id`; null where they are yet to be read, which is begun. */
  take(id: number): Message | null {
    const ready = this.#ready;
    this.#ready = null;
    if (ready?.afterId === id && ready.accessRevision === this.#accessRevision) return ready;
    if (!this.#isReading) void this.#prepare(id);
    return null;
  }

  async #prepare(id: number): Promise<void> {
    this.#isReading = true;
    let when: 'now' | 'soon' = 'now';
    try {
      const refusal = await this.read(id);
      if (refusal?.name === 'ServiceUnavailableError') when = 'soon';
      else this.#isLost = refusal !== null;
    } catch {
      // The reads have reported it, or the client is gone.
      this.#isLost = true;
    }
    this.#isReading = false;
    this.#options.onReady(when);
  }
}
