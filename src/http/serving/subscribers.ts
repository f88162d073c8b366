/**
 * Open streams, and the sources that they follow. A change that becomes durable wakes one worker for all of them,
 * which brings each source up to date, and then writes to its streams. It works in short turns, and sources alternate, so that writes continue
 * beside it, and many streams of one source do not hold up those of another. Changes that arrive while it works are sent together in
 * its next round.
 *
 * A stream is never given more than one piece that its client does not take: what changes meanwhile waits where all streams share it,
 * and a client that falls behind what is kept there is disconnected and reconnects. A stream lasts as long as its caller may read: that
 * is checked again whenever rights or sessions change, and every second, since tokens expire.
 */
import type { ServedState } from '../../actors/served-state.ts';
import { FollowUp, inTurns, type Requester, until } from '../../actors/turn.ts';
import type { ResponseStream } from '../transport/transport.ts';
import { KEEP_ALIVE } from './server-sent-events.ts';

const TICK_MS = 1_000;

/**
 * Every stream is written to within this many ticks. SDKs give up a stream that was silent for 60 s, Unleash Edge after 90 s,
 * and proxies often after 60 s.
 */
const TICKS_TO_ALL = 20;

/** Streams between two looks at the clock. */
const STREAMS_A_STEP = 16;

export interface Message {
  /** The event that the client has reached with it. */
  readonly id: number;
  /** Null where the client may not know of any event up to there. */
  readonly bytes: Uint8Array | null;
}

/** A client's part in a source. It must not hold on to what the stream begins with. */
export interface Subscription<S> {
  readonly source: S;
  /** The event that the client has reached with what the stream begins with. */
  readonly sentId: number;
  /** Charged for making that. */
  readonly payer?: Requester | undefined;
  isEntitled(): boolean;
  /** The messages behind event `id` about what is durable, oldest first; null where the client has missed more than is kept. */
  after(id: number): Iterable<Message> | null;
  /** Shows that the connection is alive; a comment of server-sent events unless given. */
  readonly keepAlive?: Uint8Array;
  /** Called once the client has been sent all that the stream begins with. */
  onBegun?(): void;
  /** Called once the stream is over. */
  onEnd?(): void;
}

export class Subscriber<S = unknown> {
  readonly subscription: Subscription<S>;
  readonly #response: ResponseStream;
  /** The rest of the first messages; null for most streams most of the time. */
  #first: Iterator<Uint8Array> | null;
  #sentId: number;

  /** `first`: the messages that it begins with, made piece by piece. */
  constructor(response: ResponseStream, first: Iterable<Uint8Array>, subscription: Subscription<S>) {
    this.subscription = subscription;
    this.#response = response;
    this.#first = first[Symbol.iterator]();
    this.#sentId = subscription.sentId;
  }

  /** Whether the client has been sent all that the stream begins with. */
  get hasBegun(): boolean {
    return this.#first === null;
  }

  /** Writes one piece of what it begins with. True when the client has got all of it, or has no room for more. */
  begin(): boolean {
    if (this.#first === null || this.#isWaiting) return true;
    const { done, value } = this.#first.next();
    if (done !== true) return !this.#response.write(value);
    this.#first = null;
    return true;
  }

  /** Sends what the client has not got, if it has taken everything before. */
  advance(): void {
    if (this.#isWaiting || this.#first !== null) return;
    const messages = this.subscription.after(this.#sentId);
    if (messages === null) return this.#response.giveUp();
    for (const { id, bytes } of messages) {
      this.#sentId = id;
      if (bytes !== null && !this.#response.write(bytes)) return;
    }
  }

  keepAlive(): void {
    if (this.#isWaiting || this.#first !== null) return;
    this.#response.write(this.subscription.keepAlive ?? KEEP_ALIVE);
  }

  /** Its client reconnects. */
  giveUp(): void {
    this.#response.giveUp();
  }

  end(): void {
    this.#response.close();
  }

  get #isWaiting(): boolean {
    return !this.#response.isOpen || this.#response.bufferedBytes > 0;
  }
}

interface SubscribersOptions<S> {
  /** Brings a source up to date; in a promise where that takes long. They are always up to date unless given. */
  refresh?(source: S): undefined | Promise<void>;
  /** Called every second while streams are open. */
  onTick?(): void;
  /** Told of a source whose content cannot be trusted; its streams end. */
  onFault?(source: S): void;
}

/** A source whose streams get news; `rest` is null before it was brought up to date. */
interface Delivery<S> {
  readonly source: S;
  readonly streams: ReadonlySet<Subscriber<S>>;
  rest: Iterator<Subscriber<S>> | null;
}

export class Subscribers<S> {
  readonly #state: ServedState;
  readonly #options: SubscribersOptions<S>;
  readonly #streams = new Set<Subscriber<S>>();
  readonly #bySource = new Map<S, Set<Subscriber<S>>>();
  readonly #work: FollowUp;
  #timer: NodeJS.Timeout | null = null;
  #accessRevision: number;
  #sessionsRevision: number;
  /** Rounds that are due. One begins when the last one of its kind is over, so that no stream waits for ever. */
  #hasNews = false;
  #mustCheck = false;
  #round: Delivery<S>[] = [];
  #unchecked: Subscriber<S>[] = [];
  /** Streams that are to be shown alive, counted on from where the last ones were. Few streams have a part of one in each tick. */
  #silentCount = 1;
  #silent: Iterator<Subscriber<S>> = this.#streams.values();

  constructor(state: ServedState, options: SubscribersOptions<S> = {}) {
    this.#state = state;
    this.#options = options;
    this.#accessRevision = state.world.directory.accessRevision;
    this.#sessionsRevision = state.world.directory.sessionsRevision;
    this.#work = new FollowUp({
      advance: () => this.#advance(),
      areOthersWaiting: () => state.journal.pendingFrames > 0 || state.queuedCount > 0,
    });
    state.feed.subscribe(() => this.#noteChange());
  }

  get count(): number {
    return this.#streams.size;
  }

  follows(source: S): boolean {
    return this.#bySource.has(source);
  }

  /** Makes a stream of a response that is open, which is yet to be started. */
  add(response: ResponseStream, first: Iterable<Uint8Array>, subscription: Subscription<S>): Subscriber<S> {
    const stream = new Subscriber(response, first, subscription);
    const { source } = subscription;
    response.onDrain(() => this.start(stream));
    response.onAborted(() => this.#forget(stream));
    this.#streams.add(stream);
    const streams = this.#bySource.get(source);
    if (streams === undefined) this.#bySource.set(source, new Set([stream]));
    else streams.add(stream);
    this.#timer ??= setInterval(() => this.#tick(), TICK_MS).unref();
    return stream;
  }

  /** Has the sources checked for changes. */
  wake(): void {
    this.#hasNews = true;
    this.#work.want();
  }

  /** Writes what the client has room for: first what the stream begins with, in turns, and then what has changed since. */
  start(stream: Subscriber<S>): void {
    if (stream.hasBegun) return stream.advance();
    const { payer, onBegun } = stream.subscription;
    inTurns(
      until(() => stream.begin()),
      payer,
    ).then(
      () => {
        if (!stream.hasBegun) return;
        onBegun?.();
        stream.advance();
      },
      (error: unknown) => {
        this.#state.feed.report(error);
        stream.giveUp();
      },
    );
  }

  #forget(stream: Subscriber<S>): void {
    if (!this.#streams.delete(stream)) return;
    const { source, onEnd } = stream.subscription;
    const streams = this.#bySource.get(source);
    streams?.delete(stream);
    if (streams?.size === 0) this.#bySource.delete(source);
    onEnd?.();
    if (this.#streams.size > 0 || this.#timer === null) return;
    clearInterval(this.#timer);
    this.#timer = null;
  }

  /** Takes notes only: it is called between two batches of the journal. */
  #noteChange(): void {
    if (this.#streams.size === 0) return;
    const { accessRevision, sessionsRevision } = this.#state.world.directory;
    this.#mustCheck ||=
      accessRevision !== this.#accessRevision || sessionsRevision !== this.#sessionsRevision;
    this.#accessRevision = accessRevision;
    this.#sessionsRevision = sessionsRevision;
    this.wake();
  }

  #tick(): void {
    this.#options.onTick?.();
    this.#mustCheck = true;
    this.#silentCount = Math.min(this.#streams.size, this.#silentCount + this.#streams.size / TICKS_TO_ALL);
    this.#work.want();
  }

  /** A little of the work; true when nothing is left. Those that lost the right are sent nothing more. */
  #advance(): boolean {
    if (this.#unchecked.length > 0) this.#checkSome();
    else if (this.#mustCheck) {
      this.#mustCheck = false;
      this.#unchecked = [...this.#streams];
    } else if (this.#round.length > 0) this.#deliverSome();
    else if (this.#hasNews) {
      this.#hasNews = false;
      this.#round = Array.from(this.#bySource, ([source, streams]) => ({ source, streams, rest: null }));
    } else if (this.#silentCount >= 1) this.#keepSomeAlive();
    else return true;
    return false;
  }

  #checkSome(): void {
    for (const stream of this.#unchecked.splice(-STREAMS_A_STEP))
      if (!stream.subscription.isEntitled()) this.end(stream);
  }

  /** Sends nothing more to the client, and ends its stream. */
  end(stream: Subscriber<S>): void {
    this.#forget(stream);
    stream.end();
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
  #tellSome(delivery: Delivery<S>): boolean {
    if (delivery.rest === null) {
      const refreshing = this.#options.refresh?.(delivery.source);
      delivery.rest = delivery.streams.values();
      if (refreshing === undefined) return true;
      refreshing.then(
        () => this.wake(),
        (error: unknown) => this.#fail(delivery, error),
      );
      return false;
    }
    // What the source shows and is not durable yet is news again as soon as it is.
    for (let count = 0; count < STREAMS_A_STEP; count += 1) {
      const next = delivery.rest.next();
      if (next.done === true) return false;
      next.value.advance();
    }
    return true;
  }

  /** Ends the streams of a source; their clients reconnect. */
  #fail({ source, streams }: Delivery<S>, error: unknown): void {
    this.#options.onFault?.(source);
    for (const stream of [...streams]) this.end(stream);
    this.#state.feed.report(error);
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
