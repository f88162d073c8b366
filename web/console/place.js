/**
 * The page that is shown, as the part of the address after `#`: it can be linked to and gone back to, and never reaches the
 * server or its logs.
 */
import { signal } from '@preact/signals';

/** @import { Place } from './types.d.ts' */

/** Views that need nothing but their name, each with the component of rest.js that draws it; the home needs no name either. */
export const PLAIN = /** @type {const} */ ({
  projects: 'ProjectsView',
  'all-flags': 'AllFlagsView',
  'stale-flags': 'StaleFlagsView',
  'change-requests': 'ChangeRequestsView',
  playground: 'PlaygroundView',
  tokens: 'TokensView',
  account: 'AccountView',
  events: 'EventsView',
  health: 'HealthView',
  server: 'ServerView',
  users: 'KindPage',
  groups: 'KindPage',
  roles: 'KindPage',
  'service-accounts': 'KindPage',
  environments: 'KindPage',
  applications: 'KindPage',
  integrations: 'KindPage',
  segments: 'KindPage',
  'context-fields': 'KindPage',
  'tag-types': 'KindPage',
  'strategy-types': 'KindPage',
});

/** Views of a project that need nothing but its id, each with its component, and what stands before the project where they are named. */
export const OF_PROJECT = /** @type {const} */ ({
  archive: ['ArchiveView', 'Archive of'],
  settings: ['SettingsView', 'Settings of'],
  history: ['EventsView', 'History of'],
  insights: ['InsightsView', 'Insights into'],
  'stale-flags': ['StaleFlagsView', 'Stale flags of'],
});

/** @typedef {keyof typeof OF_PROJECT} ViewOfProject */

/** @template {object} T @param {T} views @param {string | undefined} name @returns {keyof T | undefined} */
const viewIn = (views, name) =>
  name !== undefined && Object.hasOwn(views, name) ? /** @type {keyof T} */ (name) : undefined;

/** The current place; null for an address that names nothing. @type {import('@preact/signals').Signal<Place | null>} */
export const place = signal(placeOf(location.hash));

addEventListener('hashchange', () => {
  place.value = placeOf(location.hash);
});

/** @param {Place} place */
export function hrefOf(place) {
  const query = 'query' in place && place.query ? `?${place.query}` : '';
  if (!('project' in place)) return `#/${place.view === 'home' ? '' : place.view}${query}`;
  const project = `#/projects/${encodeURIComponent(place.project)}`;
  switch (place.view) {
    case 'flags':
      return project + query;
    case 'flag':
      return `${project}/flags/${encodeURIComponent(place.flag)}`;
    case 'change-request':
      return `${project}/change-requests/${encodeURIComponent(place.request)}`;
    default:
      return `${project}/${place.view}${query}`;
  }
}

/** The flags of a project, without a filter. @param {string} project @returns {Place} */
export const flagsOf = (project) => ({ view: 'flags', project, query: '' });

/** The same view without its filter. @param {Place} place @returns {Place} */
export const withoutQuery = (place) => ('query' in place ? { ...place, query: '' } : place);

/** Null for an address that names nothing. @param {string} hash @returns {Place | null} */
export function placeOf(hash) {
  const [path = '', query = ''] = hash.split('?');
  const [first = '', project, kind, flag, ...more] = partsOf(path);
  const plain = first === '' ? 'home' : viewIn(PLAIN, first);
  if (plain !== undefined && project === undefined) return { view: plain, query };
  if (first !== 'projects' || project === undefined || more.length > 0) return null;
  if (kind === undefined) return { view: 'flags', project, query };
  const view = viewIn(OF_PROJECT, kind);
  if (view !== undefined && flag === undefined) return { view, project, query };
  if (flag === undefined) return null;
  if (kind === 'change-requests') return { view: 'change-request', project, request: flag };
  return kind === 'flags' ? { view: 'flag', project, flag } : null;
}

/** The query of the address, and what changes a part of it without a step in the history; an empty value takes one out. */
export function useQuery() {
  const at = place.value;
  const query = at !== null && 'query' in at ? (at.query ?? '') : '';
  const parameters = new URLSearchParams(query);
  return {
    query,
    /** @param {string} name */
    get: (name) => parameters.get(name) ?? '',
    /** @param {Record<string, string>} changed */
    set(changed) {
      // It may have changed since this was drawn.
      const now = place.value;
      if (now === null) return;
      const next = new URLSearchParams('query' in now ? now.query : '');
      for (const [name, value] of Object.entries(changed))
        value === '' ? next.delete(name) : next.set(name, value);
      replacePlace(/** @type {Place} */ ({ ...now, query: next.toString() }));
    },
  };
}

/** Changes the address of what is shown already, without a step in the history: once that is painted, because browsers take milliseconds for it. @param {Place} to */
export function replacePlace(to) {
  place.value = to;
  const write = () => {
    if (place.value === to) history.replaceState(history.state, '', hrefOf(to));
  };
  // What follows the first paint comes first.
  requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(write)));
}

/** @param {string} hash */
function partsOf(hash) {
  try {
    return hash
      .replace(/^#?\/?/, '')
      .split('/')
      .map(decodeURIComponent);
  } catch {
    return [];
  }
}
