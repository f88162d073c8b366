/**
 * What streams about recorded events say. An event is told by its head, and never by its data: what a client shows of it, it
 * reads with its own rights.
 */
import type { Change, ChangeFeed } from '../../../actors/change-feed.ts';
import { EVENT_END, eventHead } from '../../sdk/streams/event-stream.ts';

/** Of one message. A client that missed more reads everything again, which is less work than to look at each. */
export const EVENTS_TOLD_MAX = 100;

export interface News {
  /** The last event that the client knows of afterwards. */
  readonly id: number;
  readonly bytes: Uint8Array;
}

export class RecordedNews {
  readonly #feed: ChangeFeed;
  /** The last message: most streams are equally far. */
  #last: { readonly afterId: number; readonly news: News } | null = null;

  constructor(feed: ChangeFeed) {
    this.#feed = feed;
  }

  /** The first message. It names what the client knows of, or the newest event where it knows of none. */
  opening(knownId: number | null): News {
    const id = knownId ?? this.#feed.durableId;
    return { id, bytes: message('opened', id, {}) };
  }

  /** What is durable and came after event `id`; null for nothing. */
  after(id: number): News | null {
    const newestId = this.#feed.durableId;
    if (id === newestId) return null;
    if (this.#last?.afterId === id && this.#last.news.id === newestId) return this.#last.news;
    const news = { id: newestId, bytes: this.#messageAfter(id, newestId) };
    this.#last = { afterId: id, news };
    return news;
  }

  #messageAfter(id: number, newestId: number): Uint8Array {
    // An id that lies ahead is of another history.
    const changes = newestId - id > EVENTS_TOLD_MAX ? 'too-old' : this.#feed.since(id);
    if (typeof changes === 'string') return message('missed', newestId, {});
    return message('recorded', newestId, { events: changes.flatMap((change) => headsAfter(id, change)) });
  }
}

function headsAfter(id: number, change: Change): readonly object[] {
  const { at, by, userId, events } = change;
  const createdAt = new Date(at).toISOString();
  return events
    .map(({ type, project, featureName, environment }, index) => ({
      id: change.id + index,
      createdAt,
      type,
      createdBy: by,
      createdByUserId: userId,
      environment,
      project,
      featureName,
    }))
    .filter((head) => head.id > id);
}

const message = (name: string, id: number, data: object): Uint8Array =>
  Buffer.from(`${eventHead(name, id)}${JSON.stringify(data)}${EVENT_END}`);
