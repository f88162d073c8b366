/**
 * The newest events, kept up to date while the page is looked at. One request at a time; the next one starts a while
 * after the last one ended, so that a slow server is not asked faster than it answers.
 */
import { signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { messageOf, Refused } from './client.js';

/** @import { Client } from './client.js' */
/** @import { EventPage, LoggedEvent, Session } from './types.d.ts' */

/** Between two looks, in milliseconds: soon enough for people, seldom enough for a hundred of them. */
const PAUSE_MS = 2_000;

/** Events asked for at once. */
const PAGE = 50;
/** Events kept: what a list shows before one asks for older ones. */
const KEPT_MAX = 200;

/** @typedef {ReturnType<typeof createFeed>} Feed */
/** @typedef {(events: readonly LoggedEvent[]) => void} Listener */

/** @param {Client} client @param {() => void} onUnauthorized */
export function createFeed(client, onUnauthorized) {
  /** Why the server does not answer; null while it does. @type {import('@preact/signals').Signal<string | null>} */
  const problem = signal(null);
  /** Counts the times that the server answered again after it had not. */
  const recoveries = signal(0);
  /** @type {Set<Listener>} */
  const listeners = new Set();
  let newest = -1;
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
      if (problem.value !== null) recoveries.value += 1;
      problem.value = null;
    } catch (error) {
      if (!closed) onFault(error);
    }
    running = false;
    if (closed) return;
    timer = setTimeout(look, again ? 0 : PAUSE_MS);
    again = false;
  }

  /** @param {unknown} error */
  function onFault(error) {
    if (error instanceof Refused && error.status === 401) onUnauthorized();
    else problem.value = messageOf(error);
  }

  async function fetchNew() {
    if (document.hidden && newest >= 0) return;
    const fresh = await newerThan(client, newest);
    const isFirst = newest < 0;
    newest = Math.max(newest, fresh[0]?.id ?? 0);
    if (closed || fresh.length === 0 || isFirst) return;
    for (const listener of listeners) listener(fresh);
  }

  document.addEventListener('visibilitychange', look);
  return {
    problem,
    recoveries,
    /** Looks at once: after a change that was made here. */
    look,
    /** Returns what ends it. @param {Listener} listener */
    listen(listener) {
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
      };
    },
    close() {
      closed = true;
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', look);
    },
  };
}

/** Calls `listener` with new events, newest first, while the component is shown. @param {Session} session @param {Listener} listener */
export function useEvents({ feed }, listener) {
  const latest = useRef(listener);
  latest.current = listener;
  useEffect(() => feed.listen((events) => latest.current(events)), [feed]);
}

/**
 * All events after `newest`, newest first; at the very first look the newest one.
 * @param {Client} client
 * @param {number} newest
 * @returns {Promise<LoggedEvent[]>}
 */
async function newerThan(client, newest) {
  /** @type {LoggedEvent[]} */
  const fresh = [];
  let offset = 0;
  for (;;) {
    const limit = newest < 0 ? 1 : PAGE;
    /** @type {EventPage} */
    const { events } = await client.post('/events/search', { limit, offset });
    fresh.push(...events.filter((event) => event.id > newest));
    const oldest = events.at(-1)?.id ?? 0;
    // What lies between is fetched too, unless it is more than is kept.
    if (newest < 0 || oldest <= newest + 1 || fresh.length >= KEPT_MAX) return fresh;
    offset = oldest - 1;
  }
}
