/** The event log, live: what happens shows up on top, and older events come on demand. */
import { messageOf } from '../client.js';
import { h, show } from '../dom.js';
import { eventItem } from '../event-item.js';
import { counted } from '../format.js';
import { empty, failed, loading } from '../loading.js';

/** @import { EventPage, LoggedEvent, Session, View } from '../types.d.ts' */

const PAGE = 50;
/** Events listed while new ones arrive: a page that stays open for days must not grow all the while. */
const LISTED_MAX = 500;
/** After the last key, in milliseconds: a search reads the whole log. */
const TYPING_MS = 300;

/** @implements {View} */
export class EventsView {
  title = 'Events';
  #session;
  /** @type {LoggedEvent[]} */
  #events = [];
  #total = 0;
  /** Counts the searches: a response that comes after a newer search began is of no use. */
  #search = 0;
  #timer = 0;
  #list = h('ol', { class: 'plain events', 'aria-label': 'Events, newest first' });
  #body = h('div', null, loading());
  #said = h('p', { class: 'unseen', role: 'status' });
  #count = h('span', { class: 'muted' });
  #older = h(
    'button',
    { type: 'button', class: 'button', onclick: () => void this.#loadOlder() },
    'Older events',
  );
  #text = h('input', {
    type: 'search',
    class: 'filter',
    placeholder: 'Search in everything recorded',
    'aria-label': 'Search events',
    autocomplete: 'off',
    spellcheck: 'false',
    oninput: () => this.#later(),
  });
  #project;

  /** @param {Session} session */
  constructor(session) {
    this.#session = session;
    this.#project = h(
      'select',
      { class: 'filter', 'aria-label': 'Project', onchange: () => void this.#restart() },
      h('option', { value: '' }, 'All projects'),
      ...session.projects.map(({ id, name }) => h('option', { value: id }, name)),
    );
    const live = h('span', { class: 'live' }, 'live');
    const tools = h('div', { class: 'tools' }, this.#text, this.#project, live, this.#count);
    this.element = h('div', null, h('h1', null, 'Events'), tools, this.#said, this.#body);
    void this.#restart();
  }

  /** Which of the new events match a search, only the server can tell. @param {readonly LoggedEvent[]} _ */
  async onEvents(_) {
    const newest = this.#events[0]?.id ?? 0;
    const mine = this.#search;
    const found = await this.#page(0).catch(() => null);
    if (found === null || mine !== this.#search) return;
    const arrived = found.events.filter((event) => event.id > newest);
    this.#total = found.totalEvents;
    if (arrived.length === 0) return;
    // A whole page of new ones may leave others out between them and the list, which then begins anew.
    const known = arrived.length < PAGE ? this.#events : [];
    // Older ones that were asked for stay.
    this.#events = [...arrived, ...known].slice(0, Math.max(LISTED_MAX, this.#events.length));
    this.#render(newest);
    const flag = arrived[0]?.featureName ?? null;
    const about = flag === null ? '' : `, the last about ${flag}`;
    this.#said.textContent = counted(arrived.length, 'new event') + about;
  }

  close() {
    clearTimeout(this.#timer);
    this.#search += 1;
  }

  #later() {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#restart(), TYPING_MS);
  }

  /** @param {number} offset @returns {Promise<EventPage>} */
  #page(offset) {
    const text = this.#text.value.trim();
    const project = this.#project.value;
    return this.#session.client.post('/events/search', {
      limit: PAGE,
      offset,
      ...(text === '' ? {} : { query: text }),
      ...(project === '' ? {} : { project }),
    });
  }

  async #restart() {
    clearTimeout(this.#timer);
    this.#search += 1;
    const mine = this.#search;
    try {
      const found = await this.#page(0);
      if (mine !== this.#search) return;
      this.#events = found.events;
      this.#total = found.totalEvents;
      this.#render();
    } catch (error) {
      if (mine === this.#search) this.#body.replaceChildren(failed(error, () => void this.#restart()));
    }
  }

  async #loadOlder() {
    const mine = this.#search;
    this.#older.disabled = true;
    try {
      const found = await this.#page((this.#events.at(-1)?.id ?? 1) - 1);
      if (mine !== this.#search) return;
      this.#events = [...this.#events, ...found.events];
      this.#render();
    } catch (error) {
      this.#said.textContent = messageOf(error);
    } finally {
      this.#older.disabled = false;
    }
  }

  /** @param {number} [newest] events above it came while the list was looked at */
  #render(newest = Number.POSITIVE_INFINITY) {
    // What somebody has unfolded to read stays unfolded when something new arrives.
    const unfolded = new Set([...this.#list.querySelectorAll('details[open]')].map(idAround));
    show(this.#list, ...this.#events.map((event) => eventItem(event, { fresh: event.id > newest })));
    for (const details of this.#list.querySelectorAll('details'))
      details.open = unfolded.has(idAround(details));
    this.#count.textContent = counted(this.#total, 'event');
    this.#older.hidden = this.#events.length >= this.#total;
    if (this.#events.length === 0) this.#body.replaceChildren(empty('Nothing found', 'No event matches.'));
    else if (!this.#body.contains(this.#list)) {
      this.#body.replaceChildren(this.#list, h('p', { class: 'more' }, this.#older));
    }
  }
}

/** @param {Element} details */
function idAround(details) {
  return details.closest('[data-id]')?.getAttribute('data-id') ?? '';
}
