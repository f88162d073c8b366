/**
 * One open stream. It is never given more than one piece that its client does not take: what changes meanwhile waits in the log
 * that all streams share, and a client that falls behind the log is disconnected and comes back.
 */
import type { ApiToken, World } from '../../domain/state/world.ts';
import { KEEP_ALIVE } from '../../http/serving/server-sent-events.ts';
import type { ResponseStream } from '../../http/transport/transport.ts';
import type { QueryWatch } from './query-watch.ts';
import type { Hydration, StreamFormat } from './stream-format.ts';

export interface FlagStreamOptions {
  readonly response: ResponseStream;
  readonly watch: QueryWatch;
  readonly format: StreamFormat;
  /** Null where no token was needed. */
  readonly token: ApiToken | null;
  /** The messages that the stream begins with, made piece by piece. */
  readonly first: Iterable<Uint8Array>;
  /** The content that `first` is made from; null when `first` has only changes. */
  readonly hydration: Hydration | null;
  /** The event that the client has reached after `first`. */
  readonly sentId: number;
}

export class FlagStream {
  readonly watch: QueryWatch;
  readonly format: StreamFormat;
  readonly #response: ResponseStream;
  readonly token: ApiToken | null;
  /** Milliseconds since 1970. */
  readonly #expiresAtMs: number;
  /** The rest of the first messages; null for most streams most of the time. */
  #first: Iterator<Uint8Array> | null;
  #hydration: Hydration | null;
  #sentId: number;

  constructor({ response, watch, format, token, first, hydration, sentId }: FlagStreamOptions) {
    this.watch = watch;
    this.format = format;
    this.#response = response;
    this.token = token;
    const expiresAt = token?.expiresAt ?? null;
    this.#expiresAtMs = expiresAt === null ? Number.POSITIVE_INFINITY : Date.parse(expiresAt);
    this.#first = first[Symbol.iterator]();
    this.#hydration = hydration;
    this.#sentId = sentId;
  }

  /** Whether the token that opened it is unchanged. */
  isEntitled({ directory }: World, nowMs: number): boolean {
    const { token } = this;
    return token === null || (directory.apiTokens.get(token.digest) === token && this.#expiresAtMs > nowMs);
  }

  /** Sends the changes up to event `durableId` that the client has not got, if it has taken everything before. */
  advance(durableId: number): void {
    if (this.#isWaiting || this.#first !== null) return;
    const { log } = this.watch;
    if (this.#sentId === log.newestId) return;
    const missed = log.since(this.#sentId);
    if (missed === null) return this.#response.giveUp();
    for (const update of missed) {
      if (update.id > durableId) return;
      this.#sentId = update.id;
      if (!this.#response.write(this.format.update(update))) return;
    }
  }

  /** Whether the client has been sent all that the stream begins with. */
  get hasBegun(): boolean {
    return this.#first === null;
  }

  /** The content that the first messages are made from; null after `forgetHydration`. */
  get hydration(): Hydration | null {
    return this.#hydration;
  }

  forgetHydration(): void {
    this.#hydration = null;
  }

  /** Writes one piece of what it begins with. True when the client has got all of it, or has no room for more. */
  begin(): boolean {
    if (this.#first === null || this.#isWaiting) return true;
    const { done, value } = this.#first.next();
    if (done !== true) return !this.#response.write(value);
    this.#first = null;
    return true;
  }

  keepAlive(): void {
    if (!this.#isWaiting && this.#first === null) this.#response.write(KEEP_ALIVE);
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
