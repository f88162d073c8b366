/**
 * All open streams about flags. Streams of one query follow one watch, and get the same bytes. What a stream begins with holds on to the
 * flags as they were, so its client has to take it in time.
 */
import type { ServedState } from '../../actors/served-state.ts';
import { ownTurn, type Requester } from '../../actors/turn.ts';
import { type Refusal, refuse } from '../../domain/state/refusal.ts';
import type { ApiToken } from '../../domain/state/world.ts';
import { expiryOf } from '../../http/serving/access.ts';
import type { StreamOpening } from '../../http/serving/route.ts';
import { EVENT_STREAM_HEADERS } from '../../http/serving/server-sent-events.ts';
import {
  type Message,
  type Subscriber,
  Subscribers,
  type Subscription,
} from '../../http/serving/subscribers.ts';
import type { ResponseStream } from '../../http/transport/transport.ts';
import type { ClientQuery } from './client-query.ts';
import { onceEach } from './evaluation/once-each.ts';
import type { QueryWatch } from './query-watch.ts';
import { NARROWED_STREAMED_MAX, NARROWED_STREAMED_PER_TOKEN_MAX, QueryWatches } from './query-watches.ts';
import type { Hydration, StreamFormat } from './stream-format.ts';

/** Pages are public, so these leave room for the streams of server-side SDKs. */
export const PAGE_STREAMS_MAX = 5_000;

/** Ticks until a stream must have taken what it begins with, which holds on to the flags as they were. */
export const BEGINNING_TICKS_MAX = 120;

/**
 * Moments that streams are beginning with although a later stream of their query began with a newer one. Each holds on to flags as they
 * were; the streams of the oldest are disconnected.
 */
export const PAST_HYDRATIONS_MAX = 16;

/** A stream may begin with a moment that others are reading, and what has changed since, as long as that is less. */
const MISSED_CHARACTERS_MAX = 256 * 1024;

export interface StreamRequest {
  readonly query: ClientQuery;
  readonly format: StreamFormat;
  readonly token: ApiToken | null;
  readonly lastEventId: string;
  /** Charged for what is made for this stream. */
  readonly payer?: Requester | undefined;
}

type QuerySubscriber = Subscriber<QueryWatch>;

interface Prepared extends Pick<Subscription<QueryWatch>, 'sentId'> {
  readonly watch: QueryWatch;
  readonly first: Iterable<Uint8Array>;
  /** The content that `first` is made from; null when `first` has only changes. */
  readonly hydration: Hydration | null;
}

export class FlagStreams {
  readonly watches: QueryWatches;
  readonly #engine: ServedState;
  readonly #now: () => number;
  readonly #subscribers: Subscribers<QueryWatch>;
  #pageStreamCount = 0;
  /** By the moment that they begin with: streams whose clients have not taken all of it, with the tick in which each was opened. */
  readonly #beginning = new Map<Hydration, Map<QuerySubscriber, number>>();
  readonly #hydrations = new Map<QuerySubscriber, Hydration>();
  /** Hydrations that are not the newest of their query, the oldest first. */
  #past: Hydration[] = [];
  #ticks = 0;

  /** `now`: milliseconds since 1970. */
  constructor(engine: ServedState, now: () => number = Date.now) {
    this.#engine = engine;
    this.#now = now;
    this.watches = new QueryWatches(engine);
    this.#subscribers = new Subscribers(engine, {
      refresh: (watch) => watch.refresh(),
      onTick: () => this.#endLateBeginnings(),
      onFault: (watch) => this.watches.drop(watch),
    });
  }

  get count(): number {
    return this.#subscribers.count;
  }

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

  #refuse({ query, format, token }: Omit<StreamRequest, 'lastEventId'>, watch?: QueryWatch): Refusal | null {
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

  #begin({ query, format, token, payer }: StreamRequest, prepared: Prepared, response: ResponseStream): void {
    const { watch, hydration, first, sentId } = prepared;
    const isEntitled = entitlementOf(token, this.#engine, this.#now);
    // Since the request came, the response may have ended, as that to HEAD has, the token may have gone, or others have taken the room.
    const isRefused = !isEntitled() || this.#refuse({ query, format, token }, watch) !== null;
    if (!response.isOpen || isRefused) return response.close();
    if (!this.#subscribers.follows(watch)) this.watches.hold(watch, token);
    if (format.isForPages) this.#pageStreamCount += 1;
    const stream: QuerySubscriber = this.#subscribers.add(response, first, {
      ...{ source: watch, sentId, payer, isEntitled },
      after: (id) => this.#messagesAfter(id, watch, format),
      onBegun: () => this.#endBeginning(stream),
      onEnd: () => {
        this.#endBeginning(stream);
        if (format.isForPages) this.#pageStreamCount -= 1;
        if (!this.#subscribers.follows(watch)) this.watches.release(watch);
      },
    });
    if (hydration !== null) this.#startBeginning(hydration, stream);
    this.#subscribers.start(stream);
  }

  #messagesAfter(id: number, { log }: QueryWatch, format: StreamFormat): readonly Message[] | null {
    if (id === log.newestId) return NONE;
    const { durableId } = this.#engine;
    const durable = log.since(id)?.filter((update) => update.id <= durableId);
    return durable?.map((update) => ({ id: update.id, bytes: format.update(update) })) ?? null;
  }

  #startBeginning(hydration: Hydration, stream: QuerySubscriber): void {
    this.#hydrations.set(stream, hydration);
    const streams = this.#beginning.get(hydration);
    if (streams === undefined) this.#beginning.set(hydration, new Map([[stream, this.#ticks]]));
    else streams.set(stream, this.#ticks);
  }

  #endBeginning(stream: QuerySubscriber): void {
    const hydration = this.#hydrations.get(stream);
    if (hydration === undefined) return;
    this.#hydrations.delete(stream);
    const streams = this.#beginning.get(hydration);
    streams?.delete(stream);
    if (streams?.size !== 0) return;
    this.#beginning.delete(hydration);
    this.#past = this.#past.filter((one) => one !== hydration);
  }

  #endLateBeginnings(): void {
    this.#ticks += 1;
    for (const streams of this.#beginning.values())
      for (const [stream, openedAt] of streams)
        if (this.#ticks - openedAt > BEGINNING_TICKS_MAX) stream.giveUp();
  }
}

const NONE: readonly Message[] = [];

function entitlementOf(token: ApiToken | null, state: ServedState, now: () => number): () => boolean {
  if (token === null) return () => true;
  const expiresAtMs = expiryOf(token.expiresAt);
  return () => state.world.directory.apiTokens.get(token.digest) === token && expiresAtMs > now();
}

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

export const flagStreams = onceEach((state: ServedState) => new FlagStreams(state));
