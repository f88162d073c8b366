/** One open stream about recorded events, and how far its client is. */

import { KEEP_ALIVE } from '../../sdk/streams/event-stream.ts';
import type { ResponseStream } from '../../transport/transport.ts';
import type { IsHeard, RecordedNews, Told } from './recorded-news.ts';

export interface RecordedStreamRequest {
  /** Who is counted. */
  readonly callerName: string;
  /** What the caller may hear of now; 'nothing' where it may read no more. */
  rights(): IsHeard | 'nothing';
  /** The last event that the client knows of; null for none. */
  readonly knownId: number | null;
  readonly told: Told;
}

export class RecordedStream {
  readonly callerName: string;
  readonly rights: RecordedStreamRequest['rights'];
  /** Asked for anew when anybody's rights have changed. */
  isHeard: IsHeard;
  readonly #response: ResponseStream;
  readonly #news: RecordedNews;
  /** The last event that the client was told of; null before the first message. */
  #toldId: number | null = null;
  readonly #knownId: number | null;
  #silentTicks = 0;

  constructor(
    response: ResponseStream,
    { callerName, rights, knownId }: RecordedStreamRequest,
    { news, isHeard }: { readonly news: RecordedNews; readonly isHeard: IsHeard },
  ) {
    this.callerName = callerName;
    this.rights = rights;
    this.isHeard = isHeard;
    this.#response = response;
    this.#news = news;
    this.#knownId = knownId;
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

  keepAlive(): void {
    if (!this.#isWaiting) this.#write(KEEP_ALIVE);
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
