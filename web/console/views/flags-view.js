/** A project's flags: how it stands, and a table that can be filtered, sorted and changed row by row or many at once. */
import { h } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { path } from '../client.js';
import { archiveMany, markMany } from '../edit/bulk-edits.js';
import { createFlag } from '../edit/flag-edits.js';
import { useEvents } from '../feed.js';
import { filtered, filterOf, hiddenOf, isNarrowed, queryOf, SEEN, SORTS } from '../flag-filter.js';
import { createFlagUpdates } from '../flag-updates.js';
import { counted, number } from '../format.js';
import { Choice } from '../forms/choice.js';
import { FlagTable } from '../parts/flag-table.js';
import { Empty } from '../parts/states.js';
import { hrefOf, place, replacePlace } from '../place.js';
import { useResource, whenLoaded } from '../resource.js';
import { useSession } from '../session.js';
import { FLAG_TYPES } from '../words.js';

/** @import { FlagFilter } from '../flag-filter.js' */
/** @import { ProjectOverview } from '../types.d.ts' */

/** @param {{ project: string }} props */
export function FlagsView({ project }) {
  const session = useSession();
  const overview = useResource(() => session.client.get(path`/projects/${project}`), [session, project]);
  const updates = useMemo(() => createFlagUpdates(session, project, overview), [session, project, overview]);
  useEvents(session, updates);
  return whenLoaded(overview, (loaded) => h(Flags, { project, overview: loaded }));
}

/** @param {{ project: string, overview: ProjectOverview }} props */
function Flags({ project, overview }) {
  const session = useSession();
  const [filter, setFilter] = useFilter(project);
  const [chosen, setChosen] = useState(/** @type {ReadonlySet<string>} */ (new Set()));
  const matching = useMemo(() => filtered(overview.features, filter), [overview, filter]);
  const environments = overview.environments.map(({ environment }) => environment);
  const may = session.may('flags', project);
  /** @param {readonly string[]} names @param {boolean} isChosen */
  function choose(names, isChosen) {
    const next = new Set(chosen);
    for (const name of names) isChosen ? next.add(name) : next.delete(name);
    setChosen(next);
  }
  // A flag that is gone, or filtered out, is not changed with the others.
  const acted = matching.filter(({ name }) => chosen.has(name)).map(({ name }) => name);
  return [
    h(Head, { key: 'head', project, overview, may }),
    h(Tools, {
      key: 'tools',
      project,
      filter,
      setFilter,
      environments,
      shown: matching.length,
      of: overview.features.length,
    }),
    acted.length === 0
      ? null
      : h(ManyBar, { key: 'many', project, names: acted, clear: () => setChosen(new Set()) }),
    overview.features.length === 0
      ? h(
          Empty,
          { key: 'none', title: 'No flags yet' },
          may ? 'Create the first one with “New flag”.' : 'Nobody has created one.',
        )
      : matching.length === 0
        ? h(
            Empty,
            { key: 'none', title: 'Nothing matches' },
            'No flag has this in its name, description or type.',
          )
        : h(FlagTable, {
            key: 'table',
            project,
            environments: environments.filter((name) => !hiddenOf(filter).has(name)),
            isDense: filter.rows === 'dense',
            flags: matching,
            chosen,
            choose: may ? choose : null,
          }),
  ];
}

/** The filter in the address, which “Back” brings back. @param {string} project @returns {[FlagFilter, (changed: Partial<FlagFilter>) => void]} */
function useFilter(project) {
  const query = place.value?.view === 'flags' && place.value.project === project ? place.value.query : '';
  const filter = useMemo(() => filterOf(query), [query]);
  return [
    filter,
    (changed) => replacePlace({ view: 'flags', project, query: queryOf({ ...filter, ...changed }) }),
  ];
}

/** @param {{ project: string, overview: ProjectOverview, may: boolean }} props */
function Head({ project, overview, may }) {
  const session = useSession();
  const { name, description, health, members, features } = overview;
  const meaning = 'Flags that are neither stale nor older than their type should get';
  return h(
    'div',
    { class: 'view-head' },
    h(
      'div',
      { class: 'title-row' },
      h('h1', null, name || project),
      may
        ? h(
            'button',
            { type: 'button', class: 'button button-main', onClick: () => void createFlag(session, project) },
            'New flag',
          )
        : null,
    ),
    description === '' ? null : h('p', { class: 'lead' }, description),
    h(
      'p',
      { class: 'facts' },
      h('span', null, counted(features.length, 'flag')),
      h('span', null, counted(members, 'member')),
      h('span', { title: meaning }, `${health} % healthy`),
      h('a', { href: hrefOf({ view: 'archive', project }) }, 'Archive'),
      h('a', { href: hrefOf({ view: 'history', project }) }, 'History'),
      h('a', { href: hrefOf({ view: 'settings', project }) }, 'Settings'),
    ),
  );
}

/**
 * @param {object} props
 * @param {string} props.project
 * @param {FlagFilter} props.filter
 * @param {(changed: Partial<FlagFilter>) => void} props.setFilter
 * @param {readonly string[]} props.environments
 * @param {number} props.shown
 * @param {number} props.of
 */
function Tools({ filter, setFilter, environments, shown, of }) {
  /** @type {[string, string][]} */
  const states = environments.flatMap((name) => [
    [`on ${name}`, `On in ${name}`],
    [`off ${name}`, `Off in ${name}`],
  ]);
  return h(
    'div',
    { class: 'tools' },
    h('input', {
      type: 'search',
      class: 'filter',
      placeholder: 'Filter by name or description',
      'aria-label': 'Filter flags by name, description or type',
      autocomplete: 'off',
      spellcheck: false,
      value: filter.text,
      onInput: (event) => setFilter({ text: event.currentTarget.value }),
    }),
    choice('Type', filter.type, [['', 'Any type'], ...FLAG_TYPES], (type) => setFilter({ type })),
    choice('State', filter.state, [['', 'On or off'], ['stale', 'Stale'], ...states], (state) =>
      setFilter({ state }),
    ),
    choice('Use', filter.seen, SEEN, (seen) => setFilter({ seen })),
    choice('Order', filter.sort, SORTS, (sort) => setFilter({ sort })),
    h(Look, { filter, setFilter, environments }),
    h(
      'p',
      { class: 'muted', role: 'status' },
      isNarrowed(filter) ? `${number(shown)} of ${counted(of, 'flag')}` : '',
    ),
  );
}

/** Which environments have a column, and how high rows are. @param {{ filter: FlagFilter, setFilter: (changed: Partial<FlagFilter>) => void, environments: readonly string[] }} props */
function Look({ filter, setFilter, environments }) {
  const hidden = hiddenOf(filter);
  /** @param {string} text @param {boolean} checked @param {(checked: boolean) => void} change */
  const check = (text, checked, change) =>
    h(
      'label',
      { key: text, class: 'check' },
      h('input', { type: 'checkbox', checked, onChange: () => change(!checked) }),
      text,
    );
  /** @param {string} name @param {boolean} isShown */
  function show(name, isShown) {
    const names = environments.filter((one) => (one === name ? !isShown : hidden.has(one)));
    setFilter({ hide: names.join(',') });
  }
  return h(
    'details',
    { class: 'look' },
    h('summary', null, 'View'),
    h(
      'div',
      { class: 'look-options' },
      check('Dense rows', filter.rows === 'dense', (isDense) => setFilter({ rows: isDense ? 'dense' : '' })),
      environments.length < 2
        ? null
        : h(
            'fieldset',
            { class: 'look-columns' },
            h('legend', null, 'Columns'),
            environments.map((name) => check(name, !hidden.has(name), (isShown) => show(name, isShown))),
          ),
    ),
  );
}

/** @param {string} label @param {string} value @param {readonly (readonly [string, string])[]} options @param {(value: string) => void} change */
function choice(label, value, options, change) {
  return h(Choice, { options, value, change, attributes: { class: 'filter', 'aria-label': label } });
}

/** @param {{ project: string, names: readonly string[], clear: () => void }} props */
function ManyBar({ project, names, clear }) {
  const session = useSession();
  /** @param {string} text @param {() => Promise<boolean>} act */
  const button = (text, act) =>
    h(
      'button',
      { type: 'button', class: 'button', onClick: () => void act().then((isDone) => isDone && clear()) },
      text,
    );
  return h(
    'div',
    { class: 'many', role: 'region', 'aria-label': 'Chosen flags' },
    h('span', { role: 'status' }, `${counted(names.length, 'flag')} chosen`),
    button('Mark stale', () => markMany(session, project, names, true)),
    button('Not stale', () => markMany(session, project, names, false)),
    button('Archive…', () => archiveMany(session, project, names)),
    h('button', { type: 'button', class: 'quiet', onClick: clear }, 'Choose none'),
  );
}
