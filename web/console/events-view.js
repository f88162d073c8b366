/** The event log, live: what happens shows up on top, and older events come on demand. */
import { messageOf } from './client.js';
import { h, show } from './dom.js';
import { eventItem } from './event-item.js';
import { counted } from './format.js';
import { empty, failed, loading } from './loading.js';

/** @import { EventPage, LoggedEvent, Session, View } from './types.d.ts' */

const PAGE = 50;
/** After the last key, in milliseconds: a search reads the whole log. */
const TYPING_MS = 300;

/** @param {Session} session @returns {View} */
export function eventsView(session) {
  /** @type {LoggedEvent[]} */
  let events = [];
  let total = 0;
  /** Counts the searches: an answer that comes after a newer search began is of no use. */
  let search = 0;
  let timer = 0;
  const list = h('ol', { class: 'plain events', 'aria-label': 'Events, newest first' });
  const body = h('div', null);
  const said = h('p', { class: 'unseen', role: 'status', 'aria-live': 'polite' });
  const count = h('span', { class: 'muted' });
  const older = h(
    'button',
    { type: 'button', class: 'button', onclick: () => void loadOlder() },
    'Older events',
  );
  const text = h('input', {
    type: 'search',
    class: 'filter',
    placeholder: 'Search in everything recorded',
    'aria-label': 'Search events',
    autocomplete: 'off',
    spellcheck: 'false',
    oninput: () => later(),
  });
  const project = h(
    'select',
    { class: 'filter', 'aria-label': 'Project', onchange: () => void restart() },
    h('option', { value: '' }, 'All projects'),
    ...session.projects.map(({ id, name }) => h('option', { value: id }, name)),
  );

  function later() {
    clearTimeout(timer);
    timer = setTimeout(restart, TYPING_MS);
  }

  /** @param {number} offset @returns {Promise<EventPage>} */
  const page = (offset) =>
    session.client.post('/events/search', {
      limit: PAGE,
      offset,
      ...(text.value.trim() === '' ? {} : { query: text.value.trim() }),
      ...(project.value === '' ? {} : { project: project.value }),
    });

  async function restart() {
    clearTimeout(timer);
    const mine = ++search;
    try {
      const found = await page(0);
      if (mine !== search) return;
      ({ events, totalEvents: total } = found);
      render(0);
    } catch (error) {
      if (mine === search) body.replaceChildren(failed(error, restart));
    }
  }

  async function loadOlder() {
    const mine = search;
    older.disabled = true;
    try {
      const found = await page((events.at(-1)?.id ?? 1) - 1);
      if (mine !== search) return;
      events = [...events, ...found.events];
      render(0);
    } catch (error) {
      said.textContent = messageOf(error);
    } finally {
      older.disabled = false;
    }
  }

  /** @param {number} newerThan ids above it came while the list was looked at; 0 for none */
  function render(newerThan) {
    const items = events.map((event) => eventItem(event, { fresh: newerThan > 0 && event.id > newerThan }));
    // What somebody has unfolded to read stays unfolded when something new arrives.
    const unfolded = new Set([...list.querySelectorAll('details[open]')].map(idAround));
    show(list, ...items);
    for (const details of list.querySelectorAll('details')) details.open = unfolded.has(idAround(details));
    count.textContent = counted(total, 'event');
    older.hidden = (events.at(-1)?.id ?? 0) <= 1 || events.length >= total;
    const nothing = empty('Nothing found', 'No event matches.');
    if (events.length === 0) body.replaceChildren(nothing);
    else if (!list.isConnected) body.replaceChildren(list, h('p', { class: 'more' }, older));
  }

  body.replaceChildren(loading());
  void restart();
  return {
    title: 'Events',
    element: h(
      'div',
      null,
      h('h1', null, 'Events'),
      h('div', { class: 'tools' }, text, project, h('span', { class: 'live' }, 'live'), count),
      said,
      body,
    ),
    async onEvents(fresh) {
      const newest = events[0]?.id ?? 0;
      const mine = search;
      // Which of the new events match a search, only the server can tell.
      const found = await page(0).catch(() => null);
      if (found === null || mine !== search) return;
      const arrived = found.events.filter((event) => event.id > newest);
      total = found.totalEvents;
      if (arrived.length === 0) return;
      events = [...arrived, ...events];
      render(newest);
      const first = fresh[0];
      said.textContent = `${counted(arrived.length, 'new event')}${first?.featureName ? `, the last about ${first.featureName}` : ''}`;
    },
    close() {
      clearTimeout(timer);
      search += 1;
    },
  };
}

/** @param {Element} details */
function idAround(details) {
  return details.closest('[data-id]')?.getAttribute('data-id') ?? '';
}
