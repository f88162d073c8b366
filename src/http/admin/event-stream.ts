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

type Own = Pick<StreamRoute, 'path' | 'operationId' | 'summary' | 'permission'>;

const streamRoute = (told: Told, own: Own): StreamRoute => ({
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
  },
  success: { status: 200, schema: null },
  refusals: ['ValidationError', 'ServiceUnavailableError'],
  open: (context, whoCalls) => {
    const knownId = knownIdIn(context);
    if (isRefusal(knownId)) return knownId;
    const { engine, caller } = context;
    const rights = (): IsHeard | 'nothing' => {
      const now = whoCalls();
      return now === null ? 'nothing' : heardBy(engine, now);
    };
    return recordedStreams(engine).open({ callerName: callerName(caller.actor), rights, knownId, told });
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
  streamRoute('head', {
    path: '/event-stream',
    operationId: 'streamEvents',
    summary: 'Hear of each event once it is recorded, as server-sent events.',
    permission: 'read',
  }),
  streamRoute('whole', {
    path: '/event-stream/full',
    operationId: 'streamWholeEvents',
    summary: 'Get each event once it is recorded, with its data, as server-sent events.',
    permission: 'admin',
  }),
];

// All open streams that tell of recorded events: for the console, which reads again what they name. What is recorded while a client does
// not read waits in the ring of the change feed, and a client that has missed too much is told so and reads everything again.

/** People look at pages; so many leave room for the streams of applications. */
export const STREAMS_MAX = 1_000;

/** Each visible tab has one. One caller must not take the room of all others. */
export const STREAMS_PER_CALLER_MAX = 100;

interface RecordedStreamRequest {
  /** The caller whose streams are counted together. */
  readonly callerName: string;
  /** The events that the caller may hear of now; 'nothing' when it may no longer read any. */
  rights(): IsHeard | 'nothing';
  /** The last event that the client knows of; null for none. */
  readonly knownId: number | null;
  readonly told: Told;
}

export class RecordedStreams {
  readonly #engine: Engine;
  readonly #news: Readonly<Record<Told, RecordedNews>>;
  readonly #subscribers: Subscribers<RecordedNews>;
  /** Open streams by the name of their caller. */
  readonly #counts = new Map<string, number>();
  #notice: Notice | null = null;

  constructor(engine: Engine) {
    this.#engine = engine;
    const { feed } = engine;
    this.#news = { head: new RecordedNews(feed, 'head'), whole: new RecordedNews(feed, 'whole') };
    this.#subscribers = new Subscribers(engine, { onTick: () => this.#lookForNotice() });
  }

  get count(): number {
    return this.#subscribers.count;
  }

  open(request: RecordedStreamRequest): StreamOpening | Refusal {
    const refusal = this.#refuse(request);
    if (refusal !== null) return refusal;
    // It tells of nothing that is not durable, so it waits for nothing.
    return { revision: 0, headers: EVENT_STREAM_HEADERS, begin: (stream) => this.#begin(request, stream) };
  }

  #refuse({ callerName }: RecordedStreamRequest): Refusal | null {
    if (this.count >= STREAMS_MAX) return TOO_MANY;
    return (this.#counts.get(callerName) ?? 0) >= STREAMS_PER_CALLER_MAX ? TOO_MANY_OF_CALLER : null;
  }

  #begin(request: RecordedStreamRequest, response: ResponseStream): void {
    const { callerName, rights, knownId, told } = request;
    const news = this.#news[told];
    let isHeard = rights();
    // Since the request came, the response may have ended, as that to HEAD has, others may have taken the room, or the caller has lost the right.
    if (!response.isOpen || isHeard === 'nothing' || this.#refuse(request) !== null) return response.close();
    const { id: sentId, bytes } = news.opening(knownId);
    const notices = told === 'whole' ? this.#noticesFor() : () => [];
    this.#count(callerName, 1);
    const stream = this.#subscribers.add(response, [bytes], {
      ...{ source: news, sentId },
      isEntitled: () => {
        isHeard = rights();
        return isHeard !== 'nothing';
      },
      *after(id) {
        const next = isHeard === 'nothing' ? null : news.after(id, isHeard);
        if (next !== null) yield next;
        yield* notices(next?.id ?? id);
      },
      onEnd: () => this.#count(callerName, -1),
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
    if (this.#engine.notice === this.#notice) return;
    this.#notice = this.#engine.notice;
    this.#subscribers.wake();
  }
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
