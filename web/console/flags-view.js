/** A project's flags, with a switch for each environment. */
import { path } from './client.js';
import { h, show } from './dom.js';
import { counted } from './format.js';
import { empty, loader } from './loading.js';
import { moment } from './moment.js';
import { notice } from './notices.js';
import { hrefOf } from './place.js';
import { flagSwitch } from './switch.js';

/** @import { FlagSummary, ProjectOverview, Session, View } from './types.d.ts' */

/** Rows shown at once: more than anyone reads, few enough for a phone to draw at once. */
const ROWS_MAX = 200;

/** @param {Session} session @param {string} project @returns {View} */
export function flagsView(session, project) {
  const element = h('div', null);
  const list = h('div', null);
  const count = h('p', { class: 'muted', role: 'status' });
  const filter = h('input', {
    type: 'search',
    class: 'filter',
    placeholder: 'Filter by name or type',
    'aria-label': 'Filter flags by name or type',
    autocomplete: 'off',
    spellcheck: 'false',
    oninput: () => render(),
  });
  /** @type {ProjectOverview | null} */
  let overview = null;

  function render() {
    if (overview === null) return;
    if (!element.contains(list)) element.replaceChildren(frame(overview));
    const head = element.querySelector('.view-head');
    head?.replaceWith(viewHead(overview, project));
    const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    const matching = overview.features.filter((flag) => matches(flag, words)).reverse();
    count.textContent =
      words.length === 0 ? '' : `${matching.length} of ${counted(overview.features.length, 'flag')}`;
    show(list, ...contentOf(overview, matching));
  }

  /** @param {ProjectOverview} loaded */
  function frame(loaded) {
    const tools = h(
      'div',
      { class: 'tools' },
      filter,
      count,
      h('a', { href: hrefOf({ view: 'archive', project }), class: 'tools-link' }, 'Archive'),
    );
    return h('div', null, viewHead(loaded, project), tools, list);
  }

  /** @param {ProjectOverview} loaded @param {readonly FlagSummary[]} matching */
  function contentOf({ features, environments }, matching) {
    if (features.length === 0) {
      const docs = h('a', { href: 'docs#/Features/createFeature' }, 'the interface');
      return [
        empty('No flags yet', 'The first one is created through ', docs, '; it shows up here at once.'),
      ];
    }
    if (matching.length === 0) return [empty('Nothing matches', 'No flag has this in its name or type.')];
    const names = environments.map(({ environment }) => environment);
    const rows = matching.slice(0, ROWS_MAX).map((flag) => flagRow(flag, names));
    const rest = matching.length - rows.length;
    return [
      flagTable(names, rows),
      rest > 0
        ? h('p', { class: 'muted more' }, `${counted(rest, 'more flag')}: filter to find them.`)
        : null,
    ];
  }

  /** @param {FlagSummary} flag @param {readonly string[]} names */
  function flagRow(flag, names) {
    const enabled = new Map(flag.environments.map((one) => [one.name, one.enabled]));
    const switches = names.map((environment) =>
      h(
        'td',
        { role: 'cell', class: 'cell-switch', 'data-label': environment },
        flagSwitch(
          session,
          { project, flag: flag.name, environment, enabled: enabled.get(environment) === true },
          report,
        ),
      ),
    );
    const href = hrefOf({ view: 'flag', project, flag: flag.name });
    return h(
      'tr',
      { role: 'row', 'data-flag': flag.name },
      h(
        'th',
        { role: 'rowheader', scope: 'row', class: 'cell-name' },
        h('a', { href, 'data-key': `flag ${flag.name}` }, h('code', null, flag.name)),
        h(
          'span',
          { class: 'row-meta' },
          h('span', null, flag.type),
          moment(flag.createdAt, 'created '),
          flag.stale ? h('span', { class: 'badge badge-warn' }, 'stale') : null,
        ),
      ),
      ...switches,
    );
  }

  /** @param {Promise<void>} change */
  async function report(change) {
    try {
      await change;
      void session.feed.look();
    } catch (error) {
      notice('refused', error instanceof Error ? error.message : String(error));
    }
  }

  const refresh = loader(
    element,
    () => session.client.get(path`/projects/${project}`),
    (loaded) => {
      overview = loaded;
      render();
    },
  );
  void refresh();
  return {
    title: project,
    element,
    onEvents(events) {
      if (events.some((event) => event.project === project || event.project === null)) void refresh();
    },
  };
}

/** @param {ProjectOverview} overview @param {string} project */
function viewHead({ name, description, health, members, features }, project) {
  return h(
    'div',
    { class: 'view-head' },
    h('h1', null, name || project),
    description === '' ? null : h('p', { class: 'lead' }, description),
    h(
      'p',
      { class: 'facts' },
      h('span', null, counted(features.length, 'flag')),
      h('span', null, counted(members, 'member')),
      h(
        'span',
        { title: 'Flags that are neither stale nor older than their type should get' },
        `${health} % healthy`,
      ),
    ),
  );
}

/** On a phone the rows become cards; the roles keep them a table for those who hear it. @param {readonly string[]} names @param {readonly HTMLElement[]} rows */
function flagTable(names, rows) {
  const heads = names.map((name) =>
    h('th', { role: 'columnheader', scope: 'col', class: 'cell-switch' }, name),
  );
  return h(
    'table',
    { class: 'flags', role: 'table', 'aria-label': 'Flags and their switches' },
    h(
      'thead',
      { role: 'rowgroup' },
      h('tr', { role: 'row' }, h('th', { role: 'columnheader', scope: 'col' }, 'Flag'), ...heads),
    ),
    h('tbody', { role: 'rowgroup' }, ...rows),
  );
}

/** @param {FlagSummary} flag @param {readonly string[]} words */
function matches({ name, type, stale }, words) {
  const text = `${name} ${type}${stale ? ' stale' : ''}`.toLowerCase();
  return words.every((word) => text.includes(word));
}
