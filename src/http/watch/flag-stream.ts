/**
 * One open stream. It is never given more than one piece that its client does not take: what changes meanwhile waits in the log
 * that all streams share, and a client that falls behind the log is disconnected and comes back.
 */
import type { ApiToken, World } from '../../domain/state/world.ts';
import type { ResponseStream } from '../transport/transport.ts';
import { KEEP_ALIVE } from './event-stream.ts';
import type { QueryWatch } from './query-watch.ts';
import type { StreamFormat } from './stream-format.ts';

export interface FlagStreamOptions {
  readonly response: ResponseStream;
  readonly watch: QueryWatch;
  readonly format: StreamFormat;
  /** Null where no token was asked for. */
  readonly token: ApiToken | null;
  /** What it begins with. */
  readonly first: readonly Uint8Array[];
  /** What the client has once it has taken `first`. */
  readonly sentId: number;
}

export class FlagStream {
  readonly watch: QueryWatch;
  readonly format: StreamFormat;
  readonly #response: ResponseStream;
  readonly #token: ApiToken | null;
  /** Milliseconds since 1970. */
  readonly #expiresAtMs: number;
  /** What it begins with and was not written yet; empty for most streams most of the time. */
  #first: readonly Uint8Array[];
  #sentId: number;

  constructor({ response, watch, format, token, first, sentId }: FlagStreamOptions) {
    this.watch = watch;
    this.format = format;
    this.#response = response;
    this.#token = token;
    const expiresAt = token?.expiresAt ?? null;
    this.#expiresAtMs = expiresAt === null ? Number.POSITIVE_INFINITY : Date.parse(expiresAt);
    this.#first = first;
    this.#sentId = sentId;
  }

  /** Whether the token that opened it is still what it was. */
  isEntitled({ directory }: World, nowMs: number): boolean {
    const token = this.#token;
    return token === null || (directory.apiTokens.get(token.digest) === token && this.#expiresAtMs > nowMs);
  }

  /** Sends the changes up to event `durableId` that the client has not got, if it has taken everything before. */
  advance(durableId: number): void {
    if (this.#isWaiting || !this.#writeFirst()) return;
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

  /** True when the client has taken all that the stream begins with. */
  #writeFirst(): boolean {
    while (this.#first.length > 0) {
      const [part, ...rest] = this.#first;
      this.#first = rest;
      if (part !== undefined && !this.#response.write(part)) return false;
    }
    return true;
  }

  keepAlive(): void {
    if (!this.#isWaiting && this.#first.length === 0) this.#response.write(KEEP_ALIVE);
  }

  end(): void {
    this.#response.close();
  }

  get #isWaiting(): boolean {
    return !this.#response.isOpen || this.#response.bufferedBytes > 0;
  }
}
