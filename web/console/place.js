/**
 * What is shown, as the part of the address after `#`: it can be linked to and gone back to, and never reaches the
 * server or its logs.
 */

/** @import { Place } from './types.d.ts' */

/** @param {Place} place */
export function hrefOf(place) {
  switch (place.view) {
    case 'flags':
      return `#/projects/${encodeURIComponent(place.project)}`;
    case 'archive':
      return `#/projects/${encodeURIComponent(place.project)}/archive`;
    case 'flag':
      return `#/projects/${encodeURIComponent(place.project)}/flags/${encodeURIComponent(place.flag)}`;
    default:
      return `#/${place.view}`;
  }
}

/** Null for an address that names nothing. @param {string} hash @returns {Place | null} */
export function placeOf(hash) {
  const [first, project, kind, flag] = partsOf(hash);
  if (first === 'events' || first === 'health') return { view: first };
  if (first !== 'projects' || project === undefined) return null;
  if (kind === 'archive') return { view: 'archive', project };
  return kind === 'flags' && flag !== undefined
    ? { view: 'flag', project, flag }
    : { view: 'flags', project };
}

/** @param {string} hash */
function partsOf(hash) {
  try {
    return hash.replace(/^#?\//, '').split('/').map(decodeURIComponent);
  } catch {
    return [];
  }
}
