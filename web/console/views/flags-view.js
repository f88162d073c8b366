/** A project's flags: how it stands, and a table that can be filtered. */
import { messageOf, path } from '../client.js';
import { h, show } from '../dom.js';
import { flagTable } from '../flag-table.js';
import { counted } from '../format.js';
import { empty, loader } from '../loading.js';
import { notice } from '../notices.js';
import { hrefOf } from '../place.js';

/** @import { FlagSummary, LoggedEvent, ProjectOverview, Session, View } from '../types.d.ts' */

/** Rows shown at once: more than anyone reads, few enough for a phone to draw at once. */
const ROWS_MAX = 200;

/** @implements {View} */
export class FlagsView {
  element = h('div', null);
  #session;
  #project;
  #refresh;
  /** @type {ProjectOverview | null} */
  #overview = null;
  #head = h('div', { class: 'view-head' });
  #list = h('div', null);
  #count = h('p', { class: 'muted', role: 'status' });
  #filter = h('input', {
    type: 'search',
    class: 'filter',
    placeholder: 'Filter by name or type',
    'aria-label': 'Filter flags by name or type',
    autocomplete: 'off',
    spellcheck: 'false',
    oninput: () => this.#render(),
  });

  /** @param {Session} session @param {string} project */
  constructor(session, project) {
    this.#session = session;
    this.#project = project;
    this.#refresh = loader(
      this.element,
      () => session.client.get(path`/projects/${project}`),
      (loaded) => {
        this.#overview = loaded;
        this.#render();
      },
    );
    void this.#refresh();
  }

  get title() {
    return this.#project;
  }

  /** @param {readonly LoggedEvent[]} events */
  onEvents(events) {
    const concerns = events.some(({ project }) => project === this.#project || project === null);
    if (concerns) void this.#refresh();
  }

  /** The frame stays from the first time on, and with it what is typed into the filter. */
  #render() {
    const overview = this.#overview;
    if (overview === null) return;
    if (!this.element.contains(this.#list))
      this.element.replaceChildren(this.#head, this.#tools(), this.#list);
    show(this.#head, ...headOf(overview, this.#project));
    const words = this.#filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    const newestFirst = overview.features.filter((flag) => matches(flag, words)).reverse();
    const total = counted(overview.features.length, 'flag');
    this.#count.textContent = words.length === 0 ? '' : `${newestFirst.length} of ${total}`;
    show(this.#list, ...this.#content(overview, newestFirst));
  }

  #tools() {
    const archive = hrefOf({ view: 'archive', project: this.#project });
    const link = h('a', { href: archive, class: 'tools-link' }, 'Archive');
    return h('div', { class: 'tools' }, this.#filter, this.#count, link);
  }

  /** @param {ProjectOverview} overview @param {readonly FlagSummary[]} matching */
  #content({ features, environments }, matching) {
    if (features.length === 0) {
      const docs = h('a', { href: 'docs#/Features/createFeature' }, 'the API');
      return [
        empty('No flags yet', 'The first one is created through ', docs, '; it shows up here at once.'),
      ];
    }
    if (matching.length === 0) return [empty('Nothing matches', 'No flag has this in its name or type.')];
    const rest = matching.length - ROWS_MAX;
    const table = flagTable(this.#session, {
      project: this.#project,
      environments: environments.map(({ environment }) => environment),
      flags: matching.slice(0, ROWS_MAX),
      report: (change) => void this.#report(change),
    });
    return [
      table,
      rest > 0
        ? h('p', { class: 'muted more' }, `${counted(rest, 'more flag')}: filter to find them.`)
        : null,
    ];
  }

  /** @param {Promise<void>} change */
  async #report(change) {
    try {
      await change;
      void this.#session.feed.look();
    } catch (error) {
      notice('refused', messageOf(error));
    }
  }
}

/** @param {ProjectOverview} overview @param {string} project */
function headOf({ name, description, health, members, features }, project) {
  const meaning = 'Flags that are neither stale nor older than their type should get';
  return [
    h('h1', null, name || project),
    description === '' ? null : h('p', { class: 'lead' }, description),
    h(
      'p',
      { class: 'facts' },
      h('span', null, counted(features.length, 'flag')),
      h('span', null, counted(members, 'member')),
      h('span', { title: meaning }, `${health} % healthy`),
    ),
  ];
}

/** @param {FlagSummary} flag @param {readonly string[]} words */
function matches({ name, type, stale }, words) {
  const text = `${name} ${type}${stale ? ' stale' : ''}`.toLowerCase();
  return words.every((word) => text.includes(word));
}
