/** The stream of recorded events (docs/specification/events.md#stream). */

import type { Engine } from '../../actors/engine.ts';
import type { Notice } from '../../actors/journal-observer.ts';
import { callerName } from '../../actors/loop-accounts.ts';
import { invalid, isRefusal, type Refusal, refuse } from '../../domain/state/refusal.ts';
import type { Caller } from '../serving/access.ts';
import type { RequestContext, Route, StreamOpening, StreamRoute } from '../serving/route.ts';
import { EVENT_STREAM_HEADERS } from '../serving/server-sent-events.ts';
import { type Message, Subscribers } from '../serving/subscribers.ts';
import { seesAll, worldSeenBy } from '../serving/visible-world.ts';
import type { ResponseStream } from '../transport/transport.ts';
import {
  EMPTY_LINE,
  LINES_HEADERS,
  LINES_PARAMETERS,
  LINES_TYPE,
  type LinesQuery,
  LoggedLines,
  linesQueryOf,
} from './event-lines.ts';
import { isForAllReaders, projectOfSegment, seesCredentials } from './events.ts';
import { type IsHeard, message, RecordedNews, type Told } from './recorded-news.ts';

const ID_PATTERN = /^[0-9]{1,15}$/;

/** The last event that the client says it has seen. A browser that reconnects says so in the header. */
function knownIdIn(context: RequestContext<unknown>): number | null | Refusal {
  const header = context.header('last-event-id');
  if (ID_PATTERN.test(header)) return Number(header);
  const after = context.query('after');
  if (after === '') return null;
  if (ID_PATTERN.test(after)) return Number(after);
  return invalid(`The parameter after must be the id of an event, or 0, not "${after}".`, '/query/after');
}

type Own = Pick<StreamRoute, 'path' | 'operationId' | 'summary' | 'permission' | 'open'> &
  Pick<Partial<StreamRoute>, 'query' | 'refusals'> & { readonly success: StreamRoute['success'] };

const streamRoute = ({ query = {}, refusals = [], ...own }: Own): StreamRoute => ({
  ...own,
  kind: 'stream',
  method: 'GET',
  tag: 'Events',
  query: {
    after: {
      description:
        'The id of the last event that the client knows of; the header Last-Event-ID goes before it.',
      schema: { type: 'integer', minimum: 0 },
    },
    ...query,
  },
  refusals: ['ValidationError', 'ServiceUnavailableError', ...refusals],
});

/** The rights of a stream's caller at any time. */
const rightsOf =
  ({ engine }: RequestContext<unknown>, whoCalls: () => Caller | null) =>
  (): Rights => {
    const now = whoCalls();
    return now === null ? 'nothing' : heardBy(engine, now);
  };

const messageRoute = (told: 'head' | 'whole', own: Omit<Own, 'open' | 'success'>): StreamRoute =>
  streamRoute({
    ...own,
    success: { status: 200, schema: null },
    open: (context, whoCalls) => {
      const knownId = knownIdIn(context);
      if (isRefusal(knownId)) return knownId;
      const rights = rightsOf(context, whoCalls);
      return recordedStreams(context.engine).openMessages(context.caller, { rights, knownId, told });
    },
  });

/** The events that the caller would find by a search. */
function heardBy(engine: Engine, caller: Caller): IsHeard {
  const hearsAll = seesCredentials(engine.world, caller);
  const mayHear = hearsAll ? () => true : isForAllReaders;
  const sees = (project: string | null): boolean => {
    const { world } = engine;
    return (
      project === null || worldSeenBy(world, caller).projects.has(project) || !world.projects.has(project)
    );
  };
  return hearsAll && seesAll(caller)
    ? null
    : (event) => mayHear(event.type) && sees(event.project ?? projectOfSegment(event));
}

export const eventStreamRoutes: readonly Route[] = [
  messageRoute('head', {
    path: '/event-stream',
    operationId: 'streamEvents',
    summary: 'Hear of each event once it is recorded, as server-sent events.',
    permission: 'read',
  }),
  messageRoute('whole', {
    path: '/event-stream/full',
    operationId: 'streamWholeEvents',
    summary: 'Get each event once it is recorded, with its data, as server-sent events.',
    permission: 'admin',
  }),
  streamRoute({
    path: '/events.ndjson',
    operationId: 'streamEventLines',
    summary: 'Get all events after one, and then each once it is recorded, as lines of JSON.',
    permission: 'read',
    query: LINES_PARAMETERS,
    refusals: ['GoneError'],
    success: { status: 200, schema: null, text: LINES_TYPE },
    open: (context, whoCalls) => {
      const knownId = knownIdIn(context);
      if (isRefusal(knownId)) return knownId;
      const query = linesQueryOf(context);
      if (isRefusal(query)) return query;
      const rights = rightsOf(context, whoCalls);
      return recordedStreams(context.engine).openLines(context, { ...query, rights, knownId });
    },
  }),
];

// All open streams of recorded events: for the console, which reads again what they name, and for copies of the log. What is recorded while a
// client does not read waits in the ring of the change feed, and a client that has missed too much is told so and reads everything again,
// or gets lines from the log.

/** People look at pages; so many leave room for the streams of applications. */
export const STREAMS_MAX = 1_000;

/** Each visible tab has one. One caller must not take the room of all others. */
export const STREAMS_PER_CALLER_MAX = 100;

/** The events that a caller may hear of now; 'nothing' when it may no longer read any. */
type Rights = IsHeard | 'nothing';

interface Stream {
  rights(): Rights;
  /** The last event that the client knows of; null for none. */
  readonly knownId: number | null;
}

/** The part of a stream that depends on its form. */
interface Content {
  readonly source: RecordedNews;
  readonly first: readonly Uint8Array[];
  /** The event that the client has reached with that. */
  readonly sentId: number;
  readonly keepAlive?: Uint8Array;
  /** Null where the client has missed what it needs. */
  after(id: number, isHeard: IsHeard, end: () => void): Iterable<Message> | null;
  onEnd?(): void;
}

export class RecordedStreams {
  readonly #engine: Engine;
  readonly #news: Readonly<Record<Told, RecordedNews>>;
  readonly #subscribers: Subscribers<RecordedNews>;
  /** Open streams by the name of their caller. */
  readonly #counts = new Map<string, number>();
  #notice: Notice | null = null;
  /** Whether the log had no time to read for a stream. */
  #isBehind = false;

  constructor(engine: Engine) {
    this.#engine = engine;
    const news = (told: Told): RecordedNews => new RecordedNews(engine.feed, told);
    this.#news = { head: news('head'), whole: news('whole'), lines: news('lines') };
    this.#subscribers = new Subscribers(engine, { onTick: () => this.#lookForNotice() });
  }

  get count(): number {
    return this.#subscribers.count;
  }

  openMessages(
    { actor }: Caller,
    { rights, knownId, told }: Stream & { readonly told: 'head' | 'whole' },
  ): StreamOpening | Refusal {
    const source = this.#news[told];
    return this.#open(callerName(actor), {
      ...{ headers: EVENT_STREAM_HEADERS, rights },
      content: () => {
        const { id: sentId, bytes } = source.opening(knownId);
        const notices = told === 'whole' ? this.#noticesFor() : () => [];
        return {
          ...{ source, sentId, first: [bytes] },
          *after(id, isHeard) {
            const next = source.messageAfter(id, isHeard);
            if (next !== null) yield next;
            yield* notices(next?.id ?? id);
          },
        };
      },
    });
  }

  /** Reads the first lines before the response begins, so that what keeps the log from being read is its refusal. */
  async openLines(
    context: RequestContext<unknown>,
    { rights, knownId, isWanted, follows }: Stream & LinesQuery,
  ): Promise<StreamOpening | Refusal> {
    const { engine, caller } = context;
    const { durableId, eventLog } = engine;
    const lastId = follows ? Number.POSITIVE_INFINITY : durableId;
    const afterId = knownId ?? eventLog.oldestId(durableId) - 1;
    if (afterId > durableId)
      return invalid(`There is no event ${afterId} yet: the newest is ${durableId}.`, '/query/after');
    const name = callerName(caller.actor);
    const refusal = this.#refuse(name);
    if (refusal !== null) return refusal;
    const source = this.#news.lines;
    const logged = new LoggedLines({
      context,
      heard: () => {
        const now = rights();
        return now === 'nothing' ? () => false : both(isWanted, now);
      },
      onReady: (when) => {
        if (when === 'now') this.#subscribers.wake();
        else this.#isBehind = true;
      },
    });
    const unread = await logged.read(afterId);
    if (unread !== null) return unread;
    return this.#open(name, {
      ...{ headers: LINES_HEADERS, rights },
      content: () => {
        const { id: sentId, bytes } = logged.take(afterId) ?? { id: afterId, bytes: null };
        return {
          ...{ source, sentId, keepAlive: EMPTY_LINE, first: [bytes ?? EMPTY_LINE] },
          after: (id, isHeard, end) =>
            logged.isLost
              ? null
              : linesAfter(id, { source, logged, isHeard: both(isWanted, isHeard), lastId, end }),
          onEnd: () => logged.close(),
        };
      },
    });
  }

  #open(
    callerName: string,
    {
      headers,
      rights,
      content,
    }: Pick<StreamOpening, 'headers'> & Pick<Stream, 'rights'> & { content(): Content },
  ): StreamOpening | Refusal {
    const refusal = this.#refuse(callerName);
    if (refusal !== null) return refusal;
    // It tells of nothing that is not durable, so it waits for nothing.
    const begin = (response: ResponseStream): void => {
      // Since the request came, the response may have ended, as that to HEAD has, others may have taken the room, or the caller has lost the right.
      if (!response.isOpen || rights() === 'nothing' || this.#refuse(callerName) !== null)
        return response.close();
      this.#begin(response, callerName, rights, content());
    };
    return { revision: 0, headers, begin };
  }

  #refuse(callerName: string): Refusal | null {
    if (this.count >= STREAMS_MAX) return TOO_MANY;
    return (this.#counts.get(callerName) ?? 0) >= STREAMS_PER_CALLER_MAX ? TOO_MANY_OF_CALLER : null;
  }

  #begin(response: ResponseStream, callerName: string, rights: Stream['rights'], content: Content): void {
    const { first, after, onEnd, ...rest } = content;
    let isHeard = rights();
    this.#count(callerName, 1);
    const stream = this.#subscribers.add(response, first, {
      ...rest,
      isEntitled: () => {
        isHeard = rights();
        return isHeard !== 'nothing';
      },
      after: (id) => (isHeard === 'nothing' ? [] : after(id, isHeard, () => this.#subscribers.end(stream))),
      onEnd: () => {
        this.#count(callerName, -1);
        onEnd?.();
      },
    });
    this.#subscribers.start(stream);
  }

  #count(callerName: string, by: 1 | -1): void {
    const count = (this.#counts.get(callerName) ?? 0) + by;
    if (count === 0) this.#counts.delete(callerName);
    else this.#counts.set(callerName, count);
  }

  /** Gives each notice once, to a client that copies the log and has reached event `id`. */
  #noticesFor(): (id: number) => Iterable<Message> {
    const engine = this.#engine;
    let sentId = 0;
    return function* (id) {
      const { notice } = engine;
      if (notice === null || notice.id === sentId) return;
      sentId = notice.id;
      yield { id, bytes: message(notice.type, id, notice.data) };
    };
  }

  #lookForNotice(): void {
    if (this.#engine.notice === this.#notice && !this.#isBehind) return;
    this.#notice = this.#engine.notice;
    this.#isBehind = false;
    this.#subscribers.wake();
  }
}

const both = (isWanted: IsHeard, isHeard: IsHeard): IsHeard =>
  isWanted === null ? isHeard : (event) => isWanted(event) && isHeard?.(event) !== false;

interface Lines {
  readonly source: RecordedNews;
  readonly logged: LoggedLines;
  readonly isHeard: IsHeard;
  /** The event with which the stream is over; infinite where it follows. */
  readonly lastId: number;
  end(): void;
}

/** The lines after an event that are there, those from the log one page at a time. */
function* linesAfter(id: number, { source, logged, isHeard, lastId, end }: Lines): Generator<Message> {
  for (let at = id; at < lastId; ) {
    const news = source.after(at, isHeard);
    const next = news === 'missed' ? logged.take(at) : news;
    if (next === null) return;
    yield next;
    at = next.id;
  }
  end();
}

const TOO_MANY: Refusal = refuse(
  'ServiceUnavailableError',
  `${STREAMS_MAX} streams of events are open already; search the events from time to time.`,
);

const TOO_MANY_OF_CALLER: Refusal = refuse(
  'ServiceUnavailableError',
  `You have ${STREAMS_PER_CALLER_MAX} streams of events open already; close one, or search the events from time to time.`,
);

/** Keyed by the engine whose changes they tell of: they go with it. */
const streamsOf = new WeakMap<Engine, RecordedStreams>();

export function recordedStreams(engine: Engine): RecordedStreams {
  let known = streamsOf.get(engine);
  if (known === undefined) {
    known = new RecordedStreams(engine);
    streamsOf.set(engine, known);
  }
  return known;
}
