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

/** The part of an event that is sent: its head, or all of it. */
export type Told = 'head' | 'whole';

/** Whether a client may hear of an event; null: of every one. */
export type IsHeard = ((event: RecordedEvent) => boolean) | null;

export class RecordedNews {
  readonly #feed: ChangeFeed;
  readonly #told: Told;
  /** The last message: most streams are equally far. */
  #last: { readonly afterId: number; readonly news: Message } | null = null;

  constructor(feed: ChangeFeed, told: Told) {
    this.#feed = feed;
    this.#told = told;
  }

  /** The first message. It names what the client knows of, or the newest event where it knows of none. */
  opening(knownId: number | null): Message & { readonly bytes: Uint8Array } {
    const id = knownId ?? this.#feed.durableId;
    return { id, bytes: message('opened', id, {}) };
  }

  /** The news of durable events after event `id`; null when there are none. */
  after(id: number, isHeard: IsHeard): Message | null {
    const newestId = this.#feed.durableId;
    if (id === newestId) return null;
    const last = this.#last?.afterId === id && this.#last.news.id === newestId ? this.#last.news : null;
    if (isHeard === null && last !== null) return last;
    // An id that lies ahead is of another history.
    const changes = newestId - id > EVENTS_TOLD_MAX ? 'too-old' : this.#feed.since(id);
    const hears = hearsAll(changes, isHeard) ? null : isHeard;
    if (hears === null && last !== null) return last;
    const news = { id: newestId, bytes: this.#messageAfter(id, changes, { newestId, hears }) };
    if (hears === null) this.#last = { afterId: id, news };
    return news;
  }

  #messageAfter(
    id: number,
    changes: Changes,
    { newestId, hears }: { readonly newestId: number; readonly hears: IsHeard },
  ): Uint8Array | null {
    if (typeof changes === 'string') return message('missed', newestId, {});
    const events = this.#textOf(changes, id, hears);
    if (events === '') return null;
    return events === null
      ? message('missed', newestId, {})
      : message('recorded', newestId, `{"events":[${events}]}`);
  }

  /** Events after `id`, with commas between them; null where that is too long. */
  #textOf(changes: readonly Change[], id: number, hears: IsHeard): string | null {
    let text = '';
    for (const change of changes) {
      for (const [index, event] of change.events.entries()) {
        if (change.id + index <= id || hears?.(event) === false) continue;
        text += `${text === '' ? '' : ','}${JSON.stringify(this.#toldOf(change, change.id + index))}`;
        if (text.length > TOLD_LENGTH_MAX) return null;
      }
    }
    return text;
  }

  #toldOf(change: Change, id: number): object {
    const whole = toLoggedEvent(change, id);
    if (this.#told === 'whole') return whole;
    const { data: _, preData: __, tags: ___, ...head } = whole;
    return head;
  }
}

type Changes = ReturnType<ChangeFeed['since']> | 'too-old';

const hearsAll = (changes: Changes, isHeard: IsHeard): boolean =>
  isHeard === null || typeof changes === 'string' || changes.every(({ events }) => events.every(isHeard));

export const message = (name: string, id: number, data: object | string): Uint8Array =>
  Buffer.from(`${eventHead(name, id)}${typeof data === 'string' ? data : JSON.stringify(data)}${EVENT_END}`);
