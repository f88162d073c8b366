/**
 * Events as lines of JSON, from the log and then as they happen (docs/specification/events.md#lines). What has left the ring of the
 * change feed is read from the log, a page at a time, each once the client has taken the one before.
 */
import type { Engine } from '../../actors/engine.ts';
import type { LogReads } from '../../actors/log-reads.ts';
import { callerName } from '../../actors/loop-accounts.ts';
import type { RecordedEvent } from '../../domain/state/events.ts';
import { invalid, isRefusal, type Refusal } from '../../domain/state/refusal.ts';
import type { RequestContext } from '../serving/route.ts';
import type { Message } from '../serving/subscribers.ts';
import { ResponseHeaders } from '../transport/response.ts';
import { conditionParameter, conditionsOf } from './query-parameters.ts';
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

const ONE_OR_ANY = ['IS', 'IS_ANY_OF'] as const;

const CONDITIONS = {
  type: ONE_OR_ANY,
  project: ONE_OR_ANY,
  feature: ONE_OR_ANY,
  environment: ONE_OR_ANY,
} as const;

export const LINES_PARAMETERS = {
  follow: {
    description: 'Whether events follow as they happen; without false, they do.',
    schema: { type: 'boolean' },
  },
  type: conditionParameter('Type of the event', ONE_OR_ANY),
  project: conditionParameter('Id of the project', ONE_OR_ANY),
  feature: conditionParameter('Name of the flag', ONE_OR_ANY),
  environment: conditionParameter('Name of the environment', ONE_OR_ANY),
};

export interface LinesQuery {
  readonly follows: boolean;
  /** Null: every event is wanted. */
  readonly isWanted: IsHeard;
}

export function linesQueryOf(context: RequestContext<unknown>): LinesQuery | Refusal {
  const follow = context.query('follow');
  if (!['', 'true', 'false'].includes(follow))
    return invalid('The query parameter follow must be true or false.', '/query/follow');
  const conditions = conditionsOf(context, CONDITIONS);
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
  return { follows: follow !== 'false', isWanted: given.length === 0 ? null : isWanted };
}

interface LoggedLinesOptions {
  readonly context: Pick<RequestContext<unknown>, 'engine' | 'reads' | 'caller'>;
  /** The events that the caller may read now, of those that it wants. */
  isHeard(event: RecordedEvent): boolean;
  /** Called when there are further lines to take, or `soon` when the reads were too busy. */
  onReady(when: 'now' | 'soon'): void;
}

/** The lines that one client gets from the log. */
export class LoggedLines {
  readonly #engine: Engine;
  readonly #reads: LogReads;
  readonly #options: Omit<LoggedLinesOptions, 'context'>;
  readonly #requester: Parameters<LogReads['linesAfter']>[2];
  readonly #end = new AbortController();
  #isReading = false;
  /** The lines that were read last and are yet to be taken. */
  #ready: (Message & { readonly afterId: number }) | null = null;
  #isLost = false;

  constructor({ context: { engine, reads, caller }, ...options }: LoggedLinesOptions) {
    const { actor } = caller;
    this.#engine = engine;
    this.#reads = reads;
    this.#options = options;
    this.#requester = {
      name: callerName(actor),
      signal: this.#end.signal,
      charge: (heldMs) => engine.loopAccounts.charge(actor, heldMs),
    };
  }

  /** Whether the client cannot get the next lines: they are no longer kept, or cannot be read. */
  get isLost(): boolean {
    return this.#isLost;
  }

  close(): void {
    this.#end.abort();
  }

  /** The next lines after event `id`, and the event that the client has reached with them. */
  async read(id: number): Promise<Message | Refusal> {
    const { durableId } = this.#engine;
    const isWanted = (event: RecordedEvent): boolean => this.#options.isHeard(event);
    const lines = await this.#reads.linesAfter(id, { durableId, isWanted }, this.#requester);
    if (isRefusal(lines)) return lines;
    const { bytes, lastId } = lines;
    return { id: lastId, bytes: bytes.length === 0 ? null : bytes };
  }

  /** The lines after event `id`; null where they are yet to be read, which is begun. */
  take(id: number): Message | null {
    const ready = this.#ready;
    this.#ready = null;
    if (ready?.afterId === id) return ready;
    if (!this.#isReading) void this.#prepare(id);
    return null;
  }

  async #prepare(id: number): Promise<void> {
    this.#isReading = true;
    let when: 'now' | 'soon' = 'now';
    try {
      const { accessRevision } = this.#engine.world.directory;
      const read = await this.read(id);
      // What was read under other rights is read again.
      const isValid = this.#engine.world.directory.accessRevision === accessRevision;
      if (!isRefusal(read)) this.#ready = isValid ? { ...read, afterId: id } : null;
      else if (read.name === 'ServiceUnavailableError') when = 'soon';
      else this.#isLost = true;
    } catch {
      // The reads have reported it, or the client is gone.
      this.#isLost = true;
    }
    this.#isReading = false;
    this.#options.onReady(when);
  }
}
