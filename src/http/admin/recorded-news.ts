/**
 * The messages of streams about recorded events. A message holds the head of an event; a client reads the rest with
 * its own rights. Clients that may read everything can have events whole, to copy the log elsewhere as it grows.
 */
import type { Change, ChangeFeed } from '../../actors/change-feed.ts';
import type { RecordedEvent } from '../../domain/state/events.ts';
import { toLoggedEvent } from '../../persistence/event-log/logged-event.ts';
import { EVENT_END, eventHead } from '../serving/server-sent-events.ts';
import type { Message } from '../serving/subscribers.ts';

/** Events of one message. A client that missed more reads everything again, which is less work than to look at each. */
export const EVENTS_TOLD_MAX = 100;

/** Characters of a message, which take some 5 ms to encode. A client that has missed more reads it in pages. */
export const TOLD_LENGTH_MAX = 2 ** 20;

/** The form in which events are sent: their heads or all of them in a message, or all of each in a line. */
export type Told = 'head' | 'whole' | 'lines';

/** Whether a client may hear of an event; null: of every one. */
export type IsHeard = ((event: RecordedEvent) => boolean) | null;

/** The next news of a client; `missed` where its stream does not tell of so much. */
export type News = Message | 'missed';

export class RecordedNews {
  readonly #feed: ChangeFeed;
  readonly #told: Told;
  /** The last news: most streams are equally far. */
  #last: { readonly afterId: number; readonly newestId: number; readonly news: News } | null = null;

  constructor(feed: ChangeFeed, told: Told) {
    this.#feed = feed;
    this.#told = told;
  }

  /** The first message. It names what the client knows of, or the newest event where it knows of none. */
  opening(knownId: number | null): Message & { readonly bytes: Uint8Array } {
    const id = knownId ?? this.#feed.durableId;
    return { id, bytes: message('opened', id, {}) };
  }

  /** The news of durable events after event `id`; null when there are none, `missed` when there are more than it tells. */
  after(id: number, isHeard: IsHeard): News | null {
    const newestId = this.#feed.durableId;
    if (id === newestId) return null;
    const last = this.#last?.afterId === id && this.#last.newestId === newestId ? this.#last.news : null;
    if (isHeard === null && last !== null) return last;
    // An id that lies ahead is of another history.
    const changes = newestId - id > EVENTS_TOLD_MAX ? 'too-old' : this.#feed.since(id);
    if (typeof changes === 'string') return 'missed';
    const hears = hearsAll(changes, isHeard) ? null : isHeard;
    if (hears === null && last !== null) return last;
    const events = this.#textsOf(changes, id, hears);
    const news = events === null ? 'missed' : { id: newestId, bytes: this.#bytesOf(events, newestId) };
    if (hears === null) this.#last = { afterId: id, newestId, news };
    return news;
  }

  /** The news as a message; one that was missed, the client reads by itself. */
  messageAfter(id: number, isHeard: IsHeard): Message | null {
    const news = this.after(id, isHeard);
    if (news !== 'missed') return news;
    return { id: this.#feed.durableId, bytes: message('missed', this.#feed.durableId, {}) };
  }

  #bytesOf(events: readonly string[], newestId: number): Uint8Array | null {
    if (events.length === 0) return null;
    if (this.#told === 'lines') return Buffer.from(`${events.join('\n')}\n`);
    return message('recorded', newestId, `{"events":[${events.join(',')}]}`);
  }

  /** Events after `id`, each as JSON; null where they are too long. */
  #textsOf(changes: readonly Change[], id: number, hears: IsHeard): readonly string[] | null {
    const texts: string[] = [];
    let length = 0;
    for (const change of changes) {
      for (const [index, event] of change.events.entries()) {
        if (change.id + index <= id || hears?.(event) === false) continue;
        const text = JSON.stringify(this.#toldOf(change, change.id + index));
        texts.push(text);
        length += text.length + 1;
        if (length > TOLD_LENGTH_MAX) return null;
      }
    }
    return texts;
  }

  #toldOf(change: Change, id: number): object {
    const whole = toLoggedEvent(change, id);
    if (this.#told !== 'head') return whole;
    const { data: _, preData: __, tags: ___, ...head } = whole;
    return head;
  }
}

const hearsAll = (changes: readonly Change[], isHeard: IsHeard): boolean =>
  isHeard === null || changes.every(({ events }) => events.every(isHeard));

export const message = (name: string, id: number, data: object | string): Uint8Array =>
  Buffer.from(`${eventHead(name, id)}${typeof data === 'string' ? data : JSON.stringify(data)}${EVENT_END}`);
