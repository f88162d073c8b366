/** One flag: where it is on and for whom, its variants, and its history with the way back. */
import { ask } from '../ask.js';
import { messageOf, path } from '../client.js';
import { h, show } from '../dom.js';
import { eventItem } from '../event-item.js';
import { dependencyCards, environmentCard, flagFacts, variantCard } from '../flag-cards.js';
import { loader } from '../loading.js';
import { notice } from '../notices.js';
import { hrefOf } from '../place.js';
import { rollBack } from '../rollback.js';

/** @import { EventPage, Flag, LoggedEvent, Session, View } from '../types.d.ts' */

/** Events of the history that are listed; the whole of it is in the events view. */
const HISTORY_MAX = 30;

/** @implements {View} */
export class FlagView {
  element = h('div', null);
  #session;
  #project;
  #name;
  /** The path of the flag. */
  #at;
  #refresh;

  /** @param {Session} session @param {string} project @param {string} name */
  constructor(session, project, name) {
    this.#session = session;
    this.#project = project;
    this.#name = name;
    this.#at = path`/projects/${project}/features/${name}`;
    this.#refresh = loader(
      this.element,
      () => this.#load(),
      ([flag, { events }]) => this.#render(flag, events),
    );
    void this.#refresh();
  }

  get title() {
    return this.#name;
  }

  /** @param {readonly LoggedEvent[]} events */
  onEvents(events) {
    const concerns = events.some(({ featureName }) => featureName === this.#name || featureName === null);
    if (concerns) void this.#refresh();
  }

  /** @returns {Promise<[Flag, EventPage]>} */
  #load() {
    const { client } = this.#session;
    const search = { feature: this.#name, project: this.#project, limit: HISTORY_MAX };
    return Promise.all([client.get(this.#at), client.post('/events/search', search)]);
  }

  /** @param {Flag} flag @param {readonly LoggedEvent[]} events */
  #render(flag, events) {
    const report = (/** @type {Promise<void>} */ change) => void this.#report(change);
    const cards = flag.environments.map((one) => environmentCard(this.#session, flag, one, report));
    const rest = [variantCard(flag), ...dependencyCards(flag)];
    const columns = h(
      'div',
      { class: 'columns' },
      h('div', null, ...cards, ...rest),
      this.#history(flag, events),
    );
    show(this.element, this.#head(flag), columns);
  }

  /** @param {Flag} flag */
  #head(flag) {
    const back = h('a', { href: hrefOf({ view: 'flags', project: this.#project }) }, this.#project);
    const action = flag.archived
      ? this.#button('Revive', () => void this.#revive())
      : this.#button('Archive…', () => void this.#archive());
    return h(
      'div',
      { class: 'view-head' },
      h('p', { class: 'crumb' }, back),
      h('div', { class: 'title-row' }, h('h1', { class: 'flag-name' }, h('code', null, this.#name)), action),
      flag.description ? h('p', { class: 'lead' }, flag.description) : null,
      flagFacts(flag),
    );
  }

  /** @param {string} text @param {() => void} onclick */
  #button(text, onclick) {
    const disabled = !this.#session.mayWrite(this.#project);
    return h('button', { type: 'button', class: 'button', 'data-key': 'archive', disabled, onclick }, text);
  }

  /** @param {Flag} flag @param {readonly LoggedEvent[]} events */
  #history({ archived }, events) {
    const may = this.#session.mayWrite(this.#project) && !archived;
    // What the newest event led to is what the flag is already.
    const items = events.map((event, index) =>
      eventItem(event, { aboutFlag: true, action: may && index > 0 ? this.#rollbackButton(event) : null }),
    );
    return h(
      'section',
      { class: 'history', 'aria-labelledby': 'history' },
      h('h2', { id: 'history' }, 'History'),
      h('ol', { class: 'plain events' }, ...items),
    );
  }

  /** @param {LoggedEvent} event */
  #rollbackButton(event) {
    const props = {
      type: 'button',
      class: 'quiet',
      'data-key': `rollback ${event.id}`,
      'aria-label': `Roll back to event ${event.id}`,
      onclick: () => void this.#report(rollBack(this.#session, this.#at, event)),
    };
    return h('button', props, 'Roll back to here');
  }

  async #archive() {
    const name = h('code', null, this.#name);
    const agreed = await ask(
      { title: 'Archive this flag?', agree: 'Archive', danger: true },
      h('p', null, name, ' leaves the lists, and cannot be changed until it is revived.'),
      h('p', null, 'It keeps its history, its strategies and its name.'),
    );
    if (agreed) await this.#report(this.#session.client.remove(this.#at), `${this.#name} is archived.`);
  }

  #revive() {
    const revived = this.#session.client.post(path`/archive/revive/${this.#name}`);
    return this.#report(revived, `${this.#name} is back.`);
  }

  /** @param {Promise<unknown>} change @param {string} [done] */
  async #report(change, done) {
    try {
      await change;
      if (done !== undefined) notice('done', done);
      void this.#session.feed.look();
    } catch (error) {
      notice('refused', messageOf(error));
    }
    await this.#refresh();
  }
}
