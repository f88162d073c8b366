/** The stream of recorded events (docs/specification/events.md#stream). */

import type { Engine } from '../../actors/engine.ts';
import type { Notice } from '../../actors/journal-observer.ts';
import { callerName } from '../../actors/loop-accounts.ts';
import { FollowUp } from '../../actors/turn.ts';
import { invalid, isRefusal, type Refusal, refuse } from '../../domain/state/refusal.ts';
import type { World } from '../../domain/state/world.ts';
import type { Caller } from '../serving/access.ts';
import type { RequestContext, Route, StreamOpening, StreamRoute } from '../serving/route.ts';
import { EVENT_STREAM_HEADERS, KEEP_ALIVE } from '../serving/server-sent-events.ts';
import { worldSeenBy } from '../serving/visible-world.ts';
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
      return now === null ? 'nothing' : heardBy(engine.world, now);
    };
    return recordedStreams(engine).open({ callerName: callerName(caller.actor), rights, knownId, told });
  },
});

/** The events that the caller would find by a search. */
function heardBy(world: World, caller: Caller): IsHeard {
  const seen = worldSeenBy(world, caller);
  const mayHear = seesCredentials(world, caller) ? () => true : isForAllReaders;
  const sees = (project: string | null): boolean =>
    project === null || seen.projects.has(project) || !world.projects.has(project);
  return seen === world && seesCredentials(world, caller)
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

// All open streams that tell of recorded events: for the console, which reads again what they name. A change that becomes
// durable wakes one worker for all of them, which works in short turns. A stream is given no more than one piece that its
// client does not take: what is recorded meanwhile waits in the ring of the change feed, which all share, and a client that has
// missed too much is told so and reads everything again.
//
// A stream lasts as long as its caller may read: that is asked again whenever users, tokens, sessions or roles change, and every second,
// since tokens expire.

/** People look at pages; so many leave room for the streams of applications. */
export const STREAMS_MAX = 1_000;

/** Each visible tab has one. One caller must not take the room of all others. */
export const STREAMS_PER_CALLER_MAX = 100;

const TICK_MS = 1_000;

/** Every stream is written to within so many ticks; proxies often give up one that was silent for 60 s. */
const TICKS_TO_ALL = 20;

/** Streams between two looks at the clock. */
const STREAMS_A_STEP = 16;

export class RecordedStreams {
  readonly #engine: Engine;
  readonly #news: Readonly<Record<Told, RecordedNews>>;
  readonly #work: FollowUp;
  readonly #streams = new Set<RecordedStream>();
  #timer: NodeJS.Timeout | null = null;
  #accessRevision: number;
  #sessionsRevision: number;
  /** Rounds that are due. One begins when the last one of its kind is over, so that no stream waits for ever. */
  #hasNews = false;
  #mustCheck = false;
  /** Streams that are still to be told, to be asked whether they may go on, and to be shown alive. */
  #untold: RecordedStream[] = [];
  #unchecked: RecordedStream[] = [];
  #silent: RecordedStream[] = [];

  constructor(engine: Engine) {
    this.#engine = engine;
    const { feed } = engine;
    this.#news = { head: new RecordedNews(feed, 'head'), whole: new RecordedNews(feed, 'whole') };
    this.#accessRevision = engine.world.directory.accessRevision;
    this.#sessionsRevision = engine.world.directory.sessionsRevision;
    this.#work = new FollowUp({
      advance: () => this.#advance(),
      areOthersWaiting: () => engine.journal.pendingFrames > 0 || engine.queuedCount > 0,
    });
    engine.feed.subscribe(() => this.#hear());
  }

  get count(): number {
    return this.#streams.size;
  }

  open(request: RecordedStreamRequest): StreamOpening | Refusal {
    const refusal = this.#refuse(request);
    if (refusal !== null) return refusal;
    // It tells of nothing that is not durable, so it waits for nothing.
    return { revision: 0, headers: EVENT_STREAM_HEADERS, begin: (stream) => this.#begin(request, stream) };
  }

  #refuse({ callerName }: RecordedStreamRequest): Refusal | null {
    if (this.#streams.size >= STREAMS_MAX) return TOO_MANY;
    let count = 0;
    for (const stream of this.#streams) if (stream.callerName === callerName) count += 1;
    return count >= STREAMS_PER_CALLER_MAX ? TOO_MANY_OF_CALLER : null;
  }

  #begin(request: RecordedStreamRequest, response: ResponseStream): void {
    // The response to HEAD is over when it begins.
    if (!response.isOpen) return;
    // Since the request came, others may have taken the room, or the caller may have lost the right.
    const isHeard = request.rights();
    if (isHeard === 'nothing' || this.#refuse(request) !== null) return response.close();
    const stream = new RecordedStream(response, request, { news: this.#news[request.told], isHeard });
    response.onDrain(() => stream.advance());
    response.onAborted(() => this.#forget(stream));
    this.#streams.add(stream);
    this.#timer ??= setInterval(() => this.#tick(), TICK_MS).unref();
    stream.advance();
  }

  #forget(stream: RecordedStream): void {
    this.#streams.delete(stream);
    if (this.#streams.size > 0 || this.#timer === null) return;
    clearInterval(this.#timer);
    this.#timer = null;
  }

  /** Takes notes only: it is called between two batches of the journal. */
  #hear(): void {
    if (this.#streams.size === 0) return;
    this.#hasNews = true;
    const { accessRevision, sessionsRevision } = this.#engine.world.directory;
    this.#mustCheck ||=
      accessRevision !== this.#accessRevision || sessionsRevision !== this.#sessionsRevision;
    this.#accessRevision = accessRevision;
    this.#sessionsRevision = sessionsRevision;
    this.#work.want();
  }

  #tick(): void {
    this.#mustCheck = true;
    const { notice } = this.#engine;
    this.#silent = [...this.#streams].filter(
      (stream) => stream.isSilentFor(TICKS_TO_ALL) || stream.lacks(notice),
    );
    this.#work.want();
  }

  /** A little of the work; true when nothing is left. Those that lost the right are told nothing more. */
  #advance(): boolean {
    if (this.#unchecked.length > 0) {
      for (const stream of this.#unchecked.splice(-STREAMS_A_STEP)) this.#check(stream);
    } else if (this.#mustCheck) {
      this.#mustCheck = false;
      this.#unchecked = [...this.#streams];
    } else if (this.#untold.length > 0) {
      for (const stream of this.#untold.splice(-STREAMS_A_STEP)) stream.advance();
    } else if (this.#hasNews) {
      this.#hasNews = false;
      this.#untold = [...this.#streams];
    } else if (this.#silent.length > 0) {
      for (const stream of this.#silent.splice(-STREAMS_A_STEP)) stream.keepAlive(this.#engine.notice);
    } else return true;
    return false;
  }

  #check(stream: RecordedStream): void {
    const isHeard = stream.rights();
    if (isHeard === 'nothing') {
      this.#forget(stream);
      stream.end();
    } else stream.isHeard = isHeard;
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

// One open stream about recorded events, and how far its client is.

interface RecordedStreamRequest {
  /** The caller whose streams are counted together. */
  readonly callerName: string;
  /** The events that the caller may hear of now; 'nothing' when it may no longer read any. */
  rights(): IsHeard | 'nothing';
  /** The last event that the client knows of; null for none. */
  readonly knownId: number | null;
  readonly told: Told;
}

class RecordedStream {
  readonly callerName: string;
  readonly rights: RecordedStreamRequest['rights'];
  /** Asked for anew when anybody's rights have changed. */
  isHeard: IsHeard;
  readonly #response: ResponseStream;
  readonly #news: RecordedNews;
  /** The last event that the client was told of; null before the first message. */
  #toldId: number | null = null;
  readonly #knownId: number | null;
  readonly #told: Told;
  /** The last event of the notice that the client was sent. */
  #noticeId = 0;
  #silentTicks = 0;

  constructor(
    response: ResponseStream,
    { callerName, rights, knownId, told }: RecordedStreamRequest,
    { news, isHeard }: { readonly news: RecordedNews; readonly isHeard: IsHeard },
  ) {
    this.callerName = callerName;
    this.rights = rights;
    this.isHeard = isHeard;
    this.#response = response;
    this.#news = news;
    this.#knownId = knownId;
    this.#told = told;
  }

  /** Tells of what is durable and was not told, if the client has taken everything before. */
  advance(): void {
    if (this.#isWaiting) return;
    if (this.#toldId === null) {
      // One that knows of an event gets what it has missed in the next message.
      const { id, bytes } = this.#news.opening(this.#knownId);
      this.#toldId = id;
      if (!this.#write(bytes)) return;
    }
    const news = this.#news.after(this.#toldId, this.isHeard);
    if (news === null) return;
    this.#toldId = news.id;
    if (news.bytes !== null) this.#write(news.bytes);
  }

  /** Called once a tick: whether it was silent for so many. */
  isSilentFor(ticks: number): boolean {
    this.#silentTicks += 1;
    return this.#silentTicks >= ticks;
  }

  /** Whether its client copies the log, and has not got this notice. */
  lacks(notice: Notice | null): notice is Notice {
    return this.#told === 'whole' && notice !== null && notice.id !== this.#noticeId && this.#toldId !== null;
  }

  keepAlive(notice: Notice | null): void {
    if (this.#isWaiting) return;
    if (!this.lacks(notice)) return void this.#write(KEEP_ALIVE);
    this.#noticeId = notice.id;
    this.#write(message(notice.type, this.#toldId ?? 0, notice.data));
  }

  end(): void {
    this.#response.close();
  }

  #write(bytes: Uint8Array): boolean {
    this.#silentTicks = 0;
    return this.#response.write(bytes);
  }

  get #isWaiting(): boolean {
    return !this.#response.isOpen || this.#response.bufferedBytes > 0;
  }
}
