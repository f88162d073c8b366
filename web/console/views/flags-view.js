/** A project's flags: how it stands, and a table that can be filtered, sorted and changed row by row or many at once. */
import { h } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { path } from '../client.js';
import { archiveMany, markMany } from '../edit/bulk-edits.js';
import { createFlag } from '../edit/flag-edits.js';
import { useEvents } from '../feed.js';
import { filtered, filterOf, listOf, NO_FILTER, prepareTexts, queryOf } from '../flag-filter.js';
import { ordered } from '../flag-order.js';
import { createFlagUpdates } from '../flag-updates.js';
import { counted } from '../format.js';
import { FlagTable } from '../parts/flag-table.js';
import { FlagTools } from '../parts/flag-tools.js';
import { Star } from '../parts/star.js';
import { Empty } from '../parts/states.js';
import { hrefOf, place, replacePlace } from '../place.js';
import { useResource, whenLoaded } from '../resource.js';
import { useSession } from '../session.js';

/** @import { FlagFilter } from '../flag-filter.js' */
/** @import { Creator } from '../parts/flag-tools.js' */
/** @import { ProjectOverview } from '../types.d.ts' */

/** @param {{ project: string }} props */
export function FlagsView({ project }) {
  const session = useSession();
  const overview = useResource(() => session.client.get(path`/projects/${project}`), [session, project]);
  const updates = useMemo(() => createFlagUpdates(session, project, overview), [session, project, overview]);
  // Who created flags; without their names they are shown by their ids.
  const creators = useResource(
    /** @returns {Promise<readonly Creator[]>} */
    () => session.client.get(path`/projects/${project}/flag-creators`),
    [session, project],
  );
  useEvents(session, (events) => {
    updates(events);
    const made = events.filter((event) => event.type === 'feature-created' && event.project === project);
    const known = creators.loaded.value?.value ?? NOBODY;
    if (made.some(({ createdByUserId }) => !known.some(({ id }) => id === createdByUserId))) {
      void creators.refresh();
    }
  });
  const owners = creators.loaded.value?.value ?? NOBODY;
  return whenLoaded(overview, (loaded) => h(Flags, { project, overview: loaded, owners }));
}

/** @type {readonly Creator[]} */
const NOBODY = [];

/** @param {{ project: string, overview: ProjectOverview, owners: readonly Creator[] }} props */
function Flags({ project, overview, owners }) {
  const session = useSession();
  const [filter, setFilter] = useFilter(project);
  const [chosen, setChosen] = useState(/** @type {ReadonlySet<string>} */ (new Set()));
  const names = useMemo(() => new Map(owners.map(({ id, name }) => [id, name])), [owners]);
  /** @param {number} id */
  const ownerName = (id) => names.get(id) ?? (id === 0 ? 'unknown' : `user ${id}`);
  const { sort, first } = filter;
  const inOrder = useMemo(
    () => ordered(overview.features, sort, { isFavoriteFirst: first === '', ownerName }),
    [overview, names, sort, first],
  );
  useEffect(() => prepareTexts(overview.features), [overview]);
  const matching = useMemo(() => filtered(inOrder, filter), [inOrder, filter]);
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
    h(FlagTools, {
      key: 'tools',
      filter,
      setFilter,
      environments,
      owners,
      flags: overview.features,
      shown: matching.length,
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
        ? h(Empty, { key: 'none', title: 'Nothing matches' }, 'No flag has all that is asked for.')
        : h(FlagTable, {
            key: 'table',
            project,
            environments: environments.filter((name) => !listOf(filter.hide).has(name)),
            columns: listOf(filter.show),
            isChosen: filter.show !== NO_FILTER.show,
            ownerName,
            sort,
            setSort: (next) => setFilter({ sort: next }),
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
  const isFavorite = session.projects.value.find(({ id }) => id === project)?.favorite === true;
  const meaning = 'Flags that are neither stale nor older than their type should get';
  return h(
    'div',
    { class: 'view-head' },
    h(
      'div',
      { class: 'title-row' },
      h(
        'div',
        { class: 'title-name' },
        h('h1', null, name || project),
        h(Star, { at: path`/projects/${project}`, name: name || project, isFavorite }),
      ),
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
