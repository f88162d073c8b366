/**
 * The newest events, kept up to date while the page is looked at. One request at a time; the next one starts a while
 * after the last one ended, so that a slow server is not asked faster than it answers.
 */

/** @import { Client } from './client.js' */
/** @import { EventPage, LoggedEvent } from './types.d.ts' */

/** Between two looks, in milliseconds: soon enough for people, seldom enough for a hundred of them. */
const PAUSE_MS = 2_000;
/** Events asked for at once. */
const PAGE = 50;
/** Events kept: what a list shows before one asks for older ones. */
const KEPT_MAX = 200;

/** @typedef {ReturnType<typeof createFeed>} Feed */

/**
 * @param {Client} client
 * @param {{ onEvents(events: readonly LoggedEvent[]): void, onFault(error: unknown): void, onWell(): void }} listener
 */
export function createFeed(client, listener) {
  /** @type {LoggedEvent[]} */
  let events = [];
  let timer = 0;
  let running = false;
  let again = false;
  let closed = false;

  async function look() {
    clearTimeout(timer);
    if (running) {
      again = true;
      return;
    }
    running = true;
    try {
      await fetchNew();
      if (!closed) listener.onWell();
    } catch (error) {
      if (!closed) listener.onFault(error);
    }
    running = false;
    if (closed) return;
    timer = setTimeout(look, again ? 0 : PAUSE_MS);
    again = false;
  }

  async function fetchNew() {
    if (document.hidden && events.length > 0) return;
    const newest = events[0]?.id ?? 0;
    const fresh = await newerThan(client, newest);
    if (closed || fresh.length === 0) return;
    const first = events.length === 0;
    events = [...fresh, ...events].slice(0, KEPT_MAX);
    if (!first) listener.onEvents(fresh);
  }

  document.addEventListener('visibilitychange', look);
  return {
    /** Newest first. */
    get events() {
      return events;
    },
    /** Looks at once: after a change that was made here. */
    look,
    close() {
      closed = true;
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', look);
    },
  };
}

/**
 * All events after `newest`, newest first; at the very first look one page of them.
 * @param {Client} client
 * @param {number} newest
 * @returns {Promise<LoggedEvent[]>}
 */
async function newerThan(client, newest) {
  /** @type {LoggedEvent[]} */
  const fresh = [];
  let offset = 0;
  for (;;) {
    /** @type {EventPage} */
    const { events } = await client.post('/events/search', { limit: PAGE, offset });
    fresh.push(...events.filter((event) => event.id > newest));
    const oldest = events.at(-1)?.id ?? 0;
    // What lies between is fetched too, unless it is more than is kept.
    if (newest === 0 || oldest <= newest + 1 || fresh.length >= KEPT_MAX) return fresh;
    offset = oldest - 1;
  }
}
