/**
 * Keeps one mirror as new as its upstream: by the upstream's stream where it has one, else by deltas, else by whole documents. It falls
 * back by itself, and comes back by itself: from each lower way it tries the better one again after a while. What the mirror has stays
 * regardless of faults, except that a token which the upstream refuses ends its mirror.
 */
import { setTimeout } from 'node:timers/promises';
import { inTurns, type Steps } from '../../actors/turn.ts';
import type { Log } from '../../process/log.ts';
import type { Mirror } from './mirror.ts';
import { type UpstreamClient, UpstreamError, type UpstreamResponse } from './upstream-client.ts';
import { readDocument, readEvents } from './upstream-document.ts';

export const FEED_WAYS = ['streaming', 'delta', 'polling'] as const;
export type FeedWay = (typeof FEED_WAYS)[number];

/** The wait before a better way is tried again. */
const RETRY_BETTER_MS = 5 * 60_000;

/** A stream that ends so often within that time is given up for a while: something between here and the upstream ends it. */
const STREAM_ENDS_MAX = 5;
const STREAM_ENDS_WITHIN_MS = 60_000;

/** Failures in a row after which lower ways are tried: the fault may lie in the way, such as a proxy that holds streams back. */
const FAILURES_OF_ONE_WAY = 2;

const BACK_OFF_MS_MAX = 60_000;
const BACK_OFF_MS_MIN = 500;

export interface FeedOptions {
  readonly token: string;
  readonly mirror: Mirror;
  readonly client: Pick<UpstreamClient, 'get' | 'stream'>;
  /** The ways that may be taken, the best one first. */
  readonly ways: readonly FeedWay[];
  readonly pollMs: number;
  readonly log: Pick<Log, 'info' | 'warn'>;
  now(): number;
  /** Resolves after so many milliseconds, or once the signal is aborted. Absent: by the timers of the system. */
  wait?(delayMs: number, signal: AbortSignal): Promise<void>;
  /** Told after each confirmation that the mirror is as new as the upstream; `isChanged`: and has changed. */
  onConfirmed(isChanged: boolean): void;
  /** Told once, when the upstream refuses the token: the feed has ended. */
  onRevoked(): void;
}

type Outcome = 'went-well' | 'not-there' | 'failed';

export class Feed {
  readonly #options: FeedOptions;
  readonly #ended = new AbortController();
  /** The tag of the last document, and the last event id of the upstream's own, which deltas and streams go on from. */
  #etag: string;
  #upstreamId: number | null;
  #way: FeedWay;
  readonly #notBefore = new Map<FeedWay, number>();
  #streamEnds: number[] = [];
  #failures = 0;
  /** Whether operators were told that the upstream cannot be read. */
  #isFaultLogged = false;
  #confirmedAt: number;
  #isStreaming = false;
  #confirmedWay: FeedWay | null = null;
  #retryAfterMs: number | null = null;

  /** `resumed`: where a copy on disk left off. */
  constructor(options: FeedOptions, resumed: FeedPosition | null = null) {
    this.#options = options;
    this.#etag = resumed?.etag ?? '';
    this.#upstreamId = resumed?.upstreamId ?? null;
    this.#confirmedAt = resumed?.confirmedAt ?? Number.NEGATIVE_INFINITY;
    this.#way = options.ways[0]!;
  }

  start(): void {
    void this.#run();
  }

  stop(): void {
    this.#ended.abort();
  }

  get way(): FeedWay {
    return this.#way;
  }

  get position(): FeedPosition {
    return { etag: this.#etag, upstreamId: this.#upstreamId, confirmedAt: this.#confirmedAt };
  }

  /** Milliseconds since the upstream last said that this is all; 0 while its stream is open. */
  get ageMs(): number {
    return this.#isStreaming ? 0 : Math.max(0, this.#options.now() - this.#confirmedAt);
  }

  async #run(): Promise<void> {
    while (!this.#ended.signal.aborted) {
      this.#choose();
      const outcome = await this.#attempt();
      if (this.#ended.signal.aborted) return;
      if (outcome === 'not-there') this.#giveUp(this.#way);
      else if (outcome === 'went-well' || !(await this.#isReadInLowerWay())) await this.#pause(outcome);
    }
  }

  #giveUp(way: FeedWay): void {
    this.#notBefore.set(way, this.#options.now() + RETRY_BETTER_MS);
  }

  /** Whether the upstream, which fails in this way, can be read in a lower one; this one is given up then. */
  async #isReadInLowerWay(): Promise<boolean> {
    const { ways } = this.#options;
    const failing = this.#way;
    if (this.#failures + 1 < FAILURES_OF_ONE_WAY) return false;
    for (const lower of ways.slice(ways.indexOf(failing) + 1)) {
      this.#way = lower;
      const outcome = await this.#attempt();
      if (outcome === 'went-well') this.#giveUp(failing);
      if (outcome !== 'not-there') return outcome === 'went-well';
    }
    return false;
  }

  #choose(): void {
    const { ways, now } = this.#options;
    const at = now();
    this.#way = ways.find((one) => (this.#notBefore.get(one) ?? 0) <= at) ?? ways.at(-1)!;
  }

  async #attempt(): Promise<Outcome> {
    const { log, mirror } = this.#options;
    try {
      if (this.#way === 'streaming') return await this.#streamed();
      return await (this.#way === 'delta' ? this.#delta() : this.#poll());
    } catch (error) {
      if (this.#ended.signal.aborted) return 'failed';
      const status = error instanceof UpstreamError ? error.status : -1;
      if (status === 401 || status === 403) return this.#revoked(status);
      if (this.#way !== 'polling' && [404, 405, 406, 501].includes(status)) return 'not-there';
      const { environment } = mirror;
      // Operators: look at `err`
      if (!this.#isFaultLogged)
        log.warn({ err: error, environment, way: this.#way }, 'The upstream cannot be read.');
      this.#isFaultLogged = true;
      return 'failed';
    } finally {
      this.#isStreaming = false;
    }
  }

  #revoked(status: number): Outcome {
    const { log, mirror, onRevoked } = this.#options;
    // Operators: give the edge a valid token, unless it was revoked on purpose
    log.warn(
      { status, environment: mirror.environment },
      'The upstream refuses a token; what it covered is not served any more.',
    );
    this.stop();
    onRevoked();
    return 'failed';
  }

  async #streamed(): Promise<Outcome> {
    const { client, token, mirror, now } = this.#options;
    for await (const { type, data } of client.stream(token, this.#upstreamId, this.#ended.signal)) {
      if (type === 'fetch-mode' && data.includes('polling')) return 'not-there';
      if (type.startsWith('unleash-')) await this.#take(data);
      else if (type === 'comment' && mirror.isFilled) await this.#confirmed();
      else continue;
      this.#isStreaming = true;
    }
    const at = now();
    this.#streamEnds = [...this.#streamEnds.filter((end) => end > at - STREAM_ENDS_WITHIN_MS), at];
    if (this.#streamEnds.length < STREAM_ENDS_MAX) return 'failed';
    this.#streamEnds = [];
    return 'not-there';
  }

  async #delta(): Promise<Outcome> {
    const { client, token } = this.#options;
    const tag = this.#upstreamId === null ? {} : { 'if-none-match': `"${this.#upstreamId}"` };
    const response = await client.get('/api/client/delta', token, tag);
    if (await this.#isNew(response)) await this.#take(response.body);
    return 'went-well';
  }

  async #poll(): Promise<Outcome> {
    const { client, token, mirror } = this.#options;
    const tag = this.#etag === '' ? {} : { 'if-none-match': this.#etag };
    const response = await client.get('/api/client/features', token, tag);
    if (!(await this.#isNew(response))) return 'went-well';
    const document = await readDocument(response.body, mirror.environment);
    await this.#confirmed(mirror.replacing(document, document.revisionId));
    this.#etag = response.etag;
    return 'went-well';
  }

  /** Throws where the upstream sent neither what was asked nor that there is nothing new. */
  async #isNew({ status, retryAfterMs }: UpstreamResponse): Promise<boolean> {
    if (status === 304) await this.#confirmed();
    else if (status !== 200) {
      if (retryAfterMs !== null) this.#retryAfterMs = Math.min(retryAfterMs, BACK_OFF_MS_MAX);
      throw new UpstreamError(status, `the upstream answered ${status}`);
    }
    return status === 200;
  }

  async #take(data: Buffer): Promise<void> {
    const { mirror } = this.#options;
    const events = await readEvents(data, mirror.environment);
    await this.#confirmed(mirror.taking(events));
    this.#upstreamId = events.at(-1)?.eventId ?? this.#upstreamId;
  }

  /** `changes`: what the upstream has sent, as steps; absent where nothing is new. */
  async #confirmed(changes?: Steps<void>): Promise<void> {
    const { mirror, now, onConfirmed } = this.#options;
    const before = mirror.isFilled ? mirror.lastId : -1;
    if (changes !== undefined) await inTurns(changes, { signal: this.#ended.signal });
    this.#confirmedAt = now();
    this.#say();
    this.#failures = 0;
    onConfirmed(mirror.lastId !== before);
  }

  /** Tells operators of another way, and of the end of a fault. */
  #say(): void {
    const { log, mirror } = this.#options;
    const way = this.#way;
    const { environment } = mirror;
    if (this.#isFaultLogged) {
      // Operators: nothing
      log.info({ way, environment }, 'The upstream can be read again.');
    }
    this.#isFaultLogged = false;
    if (way !== this.#confirmedWay) {
      // Operators: nothing, unless the upstream should stream: look for a proxy that ends long responses
      log.info({ way, environment }, 'The edge has chosen how to read its upstream.');
    }
    this.#confirmedWay = way;
  }

  /** Waits with jitter: a thousand edges must not come back to their upstream at once. */
  async #pause(outcome: Outcome): Promise<void> {
    const { pollMs, wait = waited } = this.#options;
    if (this.#ended.signal.aborted) return;
    const asked = this.#retryAfterMs;
    this.#retryAfterMs = null;
    let delayMs = pollMs;
    if (outcome === 'failed') {
      this.#failures += 1;
      const most = Math.min(BACK_OFF_MS_MIN * 2 ** Math.min(this.#failures, 10), BACK_OFF_MS_MAX);
      delayMs = asked ?? most * (0.5 + Math.random() / 2);
    }
    await wait(delayMs, this.#ended.signal);
  }
}

async function waited(delayMs: number, signal: AbortSignal): Promise<void> {
  await setTimeout(delayMs, undefined, { signal }).catch(() => undefined);
}

export interface FeedPosition {
  readonly etag: string;
  readonly upstreamId: number | null;
  /** The time at which the upstream last said that this is all, in milliseconds since 1970. */
  readonly confirmedAt: number;
}
