/**
 * All open streams about flags. A change that becomes durable wakes one worker for all of them, which brings each watch up to
 * date, and then writes the same bytes to all of its streams. It works in short turns, and watches alternate, so that writes
 * go on beside it, and many streams of one query do not hold up those of another. Changes that come while it works are
 * told together in its next round.
 */
import type { Change } from '../../actors/change-feed.ts';
import type { ServedState } from '../../actors/served-state.ts';
import { FollowUp, inTurns, ownTurn, type Requester, until } from '../../actors/turn.ts';
import { type Refusal, refuse } from '../../domain/state/refusal.ts';
import type { ApiToken } from '../../domain/state/world.ts';
import type { StreamOpening } from '../../http/serving/route.ts';
import { EVENT_STREAM_HEADERS } from '../../http/serving/server-sent-events.ts';
import type { ResponseStream } from '../../http/transport/transport.ts';
import type { ClientQuery } from './client-query.ts';
import { FlagStream, type FlagStreamOptions } from './flag-stream.ts';
import type { QueryWatch } from './query-watch.ts';
import { NARROWED_STREAMED_MAX, NARROWED_STREAMED_PER_TOKEN_MAX, QueryWatches } from './query-watches.ts';
import type { Hydration, StreamFormat } from './stream-format.ts';

/** Anybody can open pages, so these leave room for the streams of server-side SDKs. */
export const PAGE_STREAMS_MAX = 5_000;

const TICK_MS = 1_000;

/**
 * Every stream is written to within so many ticks. SDKs give up a stream that was silent for 60 s, Unleash Edge after 90 s,
 * and proxies often after 60 s.
 */
const TICKS_TO_ALL = 20;

/** Ticks until a stream must have taken what it begins with, which holds on to the flags as they were. */
export const BEGINNING_TICKS_MAX = 120;

/**
 * Moments that streams are beginning with although a later stream of their query began with a newer one. Each holds on to flags as they
 * were; the streams of the oldest are disconnected.
 */
export const PAST_HYDRATIONS_MAX = 16;

/** A stream may begin with a moment that others are reading, and what has changed since, as long as that is less. */
const MISSED_CHARACTERS_MAX = 256 * 1024;

/** Streams between two looks at the clock. */
const STREAMS_A_STEP = 16;

export interface StreamRequest {
  readonly query: ClientQuery;
  readonly format: StreamFormat;
  readonly token: ApiToken | null;
  /** The header Last-Event-ID; empty for none. */
  readonly lastEventId: string;
  /** Charged for what is made for this stream. */
  readonly payer?: Requester | undefined;
}

/** A watch whose streams get changes; `rest` is null before it was brought up to date. */
interface Delivery {
  readonly watch: QueryWatch;
  readonly streams: ReadonlySet<FlagStream>;
  rest: Iterator<FlagStream> | null;
}

interface Prepared extends Pick<FlagStreamOptions, 'first' | 'hydration' | 'sentId'> {
  readonly watch: QueryWatch;
}

export class FlagStreams {
  readonly watches: QueryWatches;
  readonly #engine: ServedState;
  readonly #now: () => number;
  readonly #streams = new Set<FlagStream>();
  #pageStreamCount = 0;
  /** By the moment that they begin with: streams whose clients have not taken all of it, with the tick in which each was opened. */
  readonly #beginning = new Map<Hydration, Map<FlagStream, number>>();
  /** Hydrations that are not the newest of their query, the oldest first. */
  #past: Hydration[] = [];
  #ticks = 0;
  readonly #byWatch = new Map<QueryWatch, Set<FlagStream>>();
  readonly #work: FollowUp;
  #timer: NodeJS.Timeout | null = null;
  /** Whether some streams may lack the newest changes. */
  #hasNews = false;
  #haveTokensChanged = false;
  #round: Delivery[] = [];
  /** Streams that are about to be ended. */
  #ending: FlagStream[] = [];
  /** Streams that are to be shown alive, counted on from where the last ones were. Few streams have a part of one in each tick. */
  #silentCount = 1;
  #silent: Iterator<FlagStream> = this.#streams.values();

  /** `now`: milliseconds since 1970. */
  constructor(engine: ServedState, now: () => number = Date.now) {
    this.#engine = engine;
    this.#now = now;
    this.watches = new QueryWatches(engine);
    this.#work = new FollowUp({
      advance: () => this.#advance(),
      areOthersWaiting: () => engine.journal.pendingFrames > 0 || engine.queuedCount > 0,
    });
    engine.feed.subscribe((changes) => this.#hear(changes));
  }

  get count(): number {
    return this.#streams.size;
  }

  /** Makes what a new stream begins with. */
  async open(request: StreamRequest): Promise<StreamOpening | Refusal> {
    const refusal = this.#refuse(request);
    if (refusal !== null) return refusal;
    const prepared = await this.#prepare(request);
    // Those that waited for the same flags are ready at the same moment; each is to see the streams before it.
    await ownTurn();
    // Others may have taken the room meanwhile, and what the query takes is known by now.
    const late = this.#refuse(request, prepared.watch);
    if (late !== null) return late;
    return {
      revision: prepared.sentId,
      headers: EVENT_STREAM_HEADERS,
      begin: (stream) => this.#begin(request, prepared, stream),
    };
  }

  #refuse({ query, format, token }: StreamRequest, watch?: QueryWatch): Refusal | null {
    if (!this.watches.hasRoomFor(query, token, watch?.bytes)) return TOO_MANY_FILTERS;
    return format.isForPages && this.#pageStreamCount >= PAGE_STREAMS_MAX ? TOO_MANY_PAGES : null;
  }

  #prepare({ query, format, lastEventId, payer }: StreamRequest): Prepared | Promise<Prepared> {
    return this.watches.read(
      query,
      (watch): Prepared => {
        const sentId = watch.log.newestId;
        const resumed = watch.log.since(eventIdOf(lastEventId));
        if (resumed !== null) return { watch, sentId, first: format.resume(resumed), hydration: null };
        const { hydration, missed } = this.#hydrationFor(watch);
        const first = format.start(sentId, this.watches.partsOf(hydration), missed);
        return { watch, sentId, first, hydration };
      },
      payer,
    );
  }

  /** A moment that other streams of the watch are reading, where little has changed since; else this one. */
  #hydrationFor(watch: QueryWatch) {
    const last = this.watches.lastHydrationOf(watch);
    if (last !== null && this.#beginning.has(last)) {
      const missed = watch.log.since(last.id);
      const characters = missed?.reduce((sum, { changes }) => sum + changes.length, 0);
      if (missed !== null && characters! <= MISSED_CHARACTERS_MAX) return { hydration: last, missed };
      this.#past.push(last);
      if (this.#past.length > PAST_HYDRATIONS_MAX) this.#giveUp(this.#past.shift()!);
    }
    return { hydration: this.watches.hydrationOf(watch), missed: [] };
  }

  #giveUp(hydration: Hydration): void {
    for (const stream of this.#beginning.get(hydration)?.keys() ?? []) stream.giveUp();
  }

  #begin(request: StreamRequest, prepared: Prepared, response: ResponseStream): void {
    const { format, token, payer } = request;
    // The response to HEAD is over when it begins.
    if (!response.isOpen) return;
    const stream = new FlagStream({ response, format, token, ...prepared });
    // Since the request came, the token may have gone, or others have taken the room.
    const isEntitled = stream.isEntitled(this.#engine.world, this.#now());
    if (!isEntitled || this.#refuse(request, prepared.watch) !== null) return stream.end();
    response.onDrain(() => this.#goOn(stream, payer));
    response.onAborted(() => this.#forget(stream));
    this.#add(stream);
    this.#goOn(stream, payer);
  }

  /** Writes what the client has room for: first what the stream begins with, in turns, and then what has changed since. */
  #goOn(stream: FlagStream, payer: Requester | undefined): void {
    if (stream.hasBegun) return stream.advance(this.#engine.durableId);
    inTurns(
      until(() => stream.begin()),
      payer,
    ).then(
      () => {
        if (!stream.hasBegun) return;
        this.#endBeginning(stream);
        stream.advance(this.#engine.durableId);
      },
      (error: unknown) => {
        this.#engine.feed.report(error);
        stream.giveUp();
      },
    );
  }

  #startBeginning(stream: FlagStream): void {
    const { hydration } = stream;
    if (hydration === null) return;
    const streams = this.#beginning.get(hydration);
    if (streams === undefined) this.#beginning.set(hydration, new Map([[stream, this.#ticks]]));
    else streams.set(stream, this.#ticks);
  }

  #endBeginning(stream: FlagStream): void {
    const { hydration } = stream;
    if (hydration === null) return;
    stream.forgetHydration();
    const streams = this.#beginning.get(hydration);
    streams?.delete(stream);
    if (streams?.size !== 0) return;
    this.#beginning.delete(hydration);
    this.#past = this.#past.filter((one) => one !== hydration);
  }

  #add(stream: FlagStream): void {
    this.#streams.add(stream);
    this.#startBeginning(stream);
    if (stream.format.isForPages) this.#pageStreamCount += 1;
    let streams = this.#byWatch.get(stream.watch);
    if (streams === undefined) {
      streams = new Set();
      this.#byWatch.set(stream.watch, streams);
      this.watches.hold(stream.watch, stream.token);
    }
    streams.add(stream);
    this.#timer ??= setInterval(() => this.#tick(), TICK_MS).unref();
  }

  #forget(stream: FlagStream): void {
    if (!this.#streams.delete(stream)) return;
    this.#endBeginning(stream);
    if (stream.format.isForPages) this.#pageStreamCount -= 1;
    const streams = this.#byWatch.get(stream.watch);
    streams?.delete(stream);
    if (streams?.size === 0) {
      this.#byWatch.delete(stream.watch);
      this.watches.release(stream.watch);
    }
    if (this.#streams.size > 0 || this.#timer === null) return;
    clearInterval(this.#timer);
    this.#timer = null;
  }

  /** Takes notes only: it is called between two batches of the journal. */
  #hear(changes: readonly Change[]): void {
    if (this.#streams.size === 0) return;
    this.#hasNews = true;
    this.#haveTokensChanged ||= changes.some(({ events }) =>
      events.some(({ type }) => TOKEN_EVENTS.has(type)),
    );
    this.#work.want();
  }

  #tick(): void {
    this.#ticks += 1;
    for (const streams of this.#beginning.values())
      for (const [stream, openedAt] of streams)
        if (this.#ticks - openedAt > BEGINNING_TICKS_MAX) stream.giveUp();
    this.#haveTokensChanged = true;
    this.#silentCount = Math.min(this.#streams.size, this.#silentCount + this.#streams.size / TICKS_TO_ALL);
    this.#work.want();
  }

  /** A little of the work; true when nothing is left. */
  #advance(): boolean {
    if (this.#haveTokensChanged) this.#findUnentitled();
    else if (this.#ending.length > 0) this.#endSome();
    else if (this.#round.length > 0) this.#deliverSome();
    else if (this.#hasNews) this.#startRound();
    else if (this.#silentCount >= 1) this.#keepSomeAlive();
    else return true;
    return false;
  }

  #findUnentitled(): void {
    this.#haveTokensChanged = false;
    const now = this.#now();
    for (const stream of this.#streams) {
      if (!stream.isEntitled(this.#engine.world, now)) this.#ending.push(stream);
    }
  }

  #endSome(): void {
    for (const stream of this.#ending.splice(-STREAMS_A_STEP)) {
      this.#forget(stream);
      stream.end();
    }
  }

  #startRound(): void {
    this.#hasNews = false;
    this.#round = Array.from(this.#byWatch, ([watch, streams]) => ({ watch, streams, rest: null }));
  }

  #deliverSome(): void {
    const delivery = this.#round.shift();
    if (delivery === undefined) return;
    try {
      if (this.#tellSome(delivery)) this.#round.push(delivery);
    } catch (error) {
      this.#fail(delivery, error);
    }
  }

  /** True when there are further streams to tell. */
  #tellSome(delivery: Delivery): boolean {
    if (delivery.rest === null) {
      const refreshing = delivery.watch.refresh();
      delivery.rest = delivery.streams.values();
      if (refreshing === undefined) return true;
      refreshing.then(
        () => this.#wake(),
        (error: unknown) => this.#fail(delivery, error),
      );
      return false;
    }
    // What the watch shows and is not durable yet is news again as soon as it is.
    const { durableId } = this.#engine;
    for (let count = 0; count < STREAMS_A_STEP; count += 1) {
      const next = delivery.rest.next();
      if (next.done === true) return false;
      next.value.advance(durableId);
    }
    return true;
  }

  #wake(): void {
    this.#hasNews = true;
    this.#work.want();
  }

  /** Ends the streams of a watch whose content cannot be trusted; their clients reconnect. */
  #fail({ watch, streams }: Delivery, error: unknown): void {
    this.watches.drop(watch);
    this.#ending.push(...streams);
    this.#work.want();
    this.#engine.feed.report(error);
  }

  #keepSomeAlive(): void {
    for (let count = 0; count < STREAMS_A_STEP && this.#silentCount >= 1; count += 1) {
      this.#silentCount -= 1;
      let next = this.#silent.next();
      if (next.done === true) {
        this.#silent = this.#streams.values();
        next = this.#silent.next();
      }
      if (next.done !== true) next.value.keepAlive();
    }
  }
}

const TOKEN_EVENTS: ReadonlySet<string> = new Set(['api-token-updated', 'api-token-deleted']);

const TOO_MANY_FILTERS: Refusal = refuse(
  'ServiceUnavailableError',
  `Streams are open for too many different sets of flags: at most ${NARROWED_STREAMED_MAX} filters, ${NARROWED_STREAMED_PER_TOKEN_MAX} of them of one token, as far as memory allows. Ask without project, namePrefix and tag.`,
);

const TOO_MANY_PAGES: Refusal = refuse(
  'ServiceUnavailableError',
  `${PAGE_STREAMS_MAX} pages have a stream open already; ask again from time to time.`,
);

/** -1, which no client has seen, for what is no id. */
function eventIdOf(lastEventId: string): number {
  return /^[0-9]{1,15}$/.test(lastEventId) ? Number(lastEventId) : -1;
}

/** Keyed by the engine whose changes they tell of: they go with it. */
const streamsOf = new WeakMap<ServedState, FlagStreams>();

export function flagStreams(engine: ServedState): FlagStreams {
  let known = streamsOf.get(engine);
  if (known === undefined) {
    known = new FlagStreams(engine);
    streamsOf.set(engine, known);
  }
  return known;
}
