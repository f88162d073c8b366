/**
 * What is shown, as the part of the address after `#`: it can be linked to and gone back to, and never reaches the
 * server or its logs.
 */
import { signal } from '@preact/signals';

/** @import { Place } from './types.d.ts' */

/** Views that need nothing but their name. */
const PLAIN = /** @type {const} */ ([
  'projects',
  'groups',
  'roles',
  'service-accounts',
  'tag-types',
  'strategy-types',
  'applications',
  'environments',
  'segments',
  'context-fields',
  'users',
  'tokens',
  'account',
  'events',
  'health',
]);

/** The current place; null for an address that names nothing, and for none. @type {import('@preact/signals').Signal<Place | null>} */
export const place = signal(placeOf(location.hash));

addEventListener('hashchange', () => {
  place.value = placeOf(location.hash);
});

/** @param {Place} place */
export function hrefOf(place) {
  if (!('project' in place)) return `#/${place.view}`;
  const project = `#/projects/${encodeURIComponent(place.project)}`;
  switch (place.view) {
    case 'flags':
      return place.query === '' ? project : `${project}?${place.query}`;
    case 'archive':
    case 'settings':
    case 'history':
      return `${project}/${place.view}`;
    case 'flag':
      return `${project}/flags/${encodeURIComponent(place.flag)}`;
  }
}

/** The flags of a project, without a filter. @param {string} project @returns {Place} */
export const flagsOf = (project) => ({ view: 'flags', project, query: '' });

/** Null for an address that names nothing. @param {string} hash @returns {Place | null} */
export function placeOf(hash) {
  const [path = '', query = ''] = hash.split('?');
  const [first = '', project, kind, flag, ...more] = partsOf(path);
  const plain = PLAIN.find((name) => name === first);
  if (plain !== undefined && project === undefined) return { view: plain };
  if (first !== 'projects' || project === undefined || more.length > 0) return null;
  if (kind === undefined) return { view: 'flags', project, query };
  if ((kind === 'archive' || kind === 'settings' || kind === 'history') && flag === undefined) {
    return { view: kind, project };
  }
  return kind === 'flags' && flag !== undefined ? { view: 'flag', project, flag } : null;
}

/** Changes the address of what is shown already, without a step in the history. @param {Place} to */
export function replacePlace(to) {
  history.replaceState(history.state, '', hrefOf(to));
  place.value = to;
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
