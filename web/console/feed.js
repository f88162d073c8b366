/**
 * The newest events, kept up to date while the page is looked at. The server tells of them by a stream; while there is
 * none, they are searched for, one request at a time, and the next one starts a while after the last one ended, so that
 * a slow server is not asked faster than it answers.
 */
import { signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { messageOf, Refused } from './client.js';
import { openEventStream } from './event-stream.js';

/** @import { Client } from './client.js' */
/** @import { EventHead, EventPage, LoggedEvent, Session } from './types.d.ts' */

/** Between two looks, in milliseconds: soon enough for people, seldom enough for a hundred of them. */
const PAUSE_MS = 2_000;

/** The same while the stream is open, which may have stopped without a word, or outlived the session. */
const STREAMING_PAUSE_MS = 30_000;

/** Before the stream is opened first, in milliseconds: a browser opens few connections to one server, and what the page shows comes first. */
const FIRST_PAUSE_MS = 1_000;

/** Events asked for at once. */
const PAGE = 50;
/** Events kept: what a list shows before one asks for older ones. */
const KEPT_MAX = 200;

/** @typedef {ReturnType<typeof createFeed>} Feed */
/** @typedef {(events: readonly EventHead[]) => void} Listener */

/** @param {Client} client @param {number} newest the event that was the newest before anything was read that events change @param {() => void} onUnauthorized */
export function createFeed(client, newest, onUnauthorized) {
  /** Why the server does not answer; null while it does. @type {import('@preact/signals').Signal<string | null>} */
  const problem = signal(null);
  /** Counts the times after which anything may have changed: the server did not answer, or told of too much at once. */
  const recoveries = signal(0);
  /** @type {Set<Listener>} */
  const listeners = new Set();
  let timer = 0;
  let running = false;
  let again = false;
  let closed = false;
  const stream = openEventStream({
    known: () => newest,
    onEvents: tell,
    onMissed(id) {
      newest = Math.max(newest, id);
      recoveries.value += 1;
    },
    // By the stream alone nobody knows why it ended.
    onLost: () => void look(),
  });

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
      stream.wanted(!closed && !document.hidden);
    } catch (error) {
      if (!closed) onFault(error);
    }
    running = false;
    if (closed) return;
    timer = setTimeout(look, again ? 0 : stream.isOpen() ? STREAMING_PAUSE_MS : PAUSE_MS);
    again = false;
  }

  /** @param {unknown} error */
  function onFault(error) {
    if (error instanceof Refused && error.status === 401) onUnauthorized();
    else problem.value = messageOf(error);
  }

  async function fetchNew() {
    if (!document.hidden) tell(await newerThan(client, newest));
  }

  /** @param {readonly EventHead[]} events newest first */
  function tell(events) {
    // The stream and a search may both have told of one.
    const fresh = events.filter(({ id }) => id > newest);
    newest = Math.max(newest, fresh[0]?.id ?? 0);
    if (closed || fresh.length === 0) return;
    for (const listener of listeners) listener(fresh);
  }

  function onVisibility() {
    // A browser opens few connections to one server, and hidden tabs need none.
    if (document.hidden) stream.wanted(false);
    else void look();
  }

  // The browser knows at once; an open stream is silent for as long as nothing happens.
  const onConnection = () => void look();

  document.addEventListener('visibilitychange', onVisibility);
  window.addEventListener('offline', onConnection);
  window.addEventListener('online', onConnection);
  return {
    problem,
    recoveries,
    /** The id of the newest event that is known. */
    newest: () => newest,
    /** The first time: the stream tells of all that came after what is known, so nothing needs to be searched for. */
    begin() {
      setTimeout(() => stream.wanted(!closed && !document.hidden), FIRST_PAUSE_MS);
      timer = setTimeout(look, STREAMING_PAUSE_MS);
    },
    /** After a change that was made here: looks at once, unless the stream tells of it by itself. */
    async look() {
      if (!stream.isOpen()) await look();
    },
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
      stream.wanted(false);
      document.removeEventListener('visibilitychange', onVisibility);
      window.removeEventListener('offline', onConnection);
      window.removeEventListener('online', onConnection);
    },
  };
}

/** Calls `listener` with new events, newest first, while the component is shown. @param {Session} session @param {Listener} listener */
export function useEvents({ feed }, listener) {
  const latest = useRef(listener);
  latest.current = listener;
  useEffect(() => feed.listen((events) => latest.current(events)), [feed]);
}

/** All events after `newest`, newest first. @param {Client} client @param {number} newest @returns {Promise<LoggedEvent[]>} */
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
    if (oldest <= newest + 1 || fresh.length >= KEPT_MAX) return fresh;
    offset = oldest - 1;
  }
}
