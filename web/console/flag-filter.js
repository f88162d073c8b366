/** Which flags of a project are listed, and in which order; as the query of the address says it. */

/** @import { FlagSummary } from './types.d.ts' */

/**
 * @typedef {object} FlagFilter
 * @property {string} text words that all stand in the name, the description or the type
 * @property {string} type empty for any
 * @property {string} state `stale`, `on <environment>`, `off <environment>`; empty for any
 * @property {string} seen `never`, or for how many days none was used; empty for any
 * @property {string} sort a key of SORTS
 * @property {string} hide environments without a column, as `hiddenOf` reads them
 * @property {string} rows `dense`; empty for rows with room
 */

/** Keys and what they are called. @type {readonly (readonly [string, string])[]} */
export const SORTS = [
  ['newest', 'Newest first'],
  ['name', 'By name'],
  ['seen', 'Last used first'],
];

/** What `seen` can be. @type {readonly (readonly [string, string])[]} */
export const SEEN = [
  ['', 'Used or not'],
  ['never', 'Never used'],
  ['7', 'Not used for 7 days'],
  ['30', 'Not used for 30 days'],
  ['90', 'Not used for 90 days'],
];

const DAY_MS = 86_400_000;

/** @type {FlagFilter} */
export const NO_FILTER = { text: '', type: '', state: '', seen: '', sort: 'newest', hide: '', rows: '' };

/** Names hold no comma. @param {FlagFilter} filter @returns {ReadonlySet<string>} */
export const hiddenOf = ({ hide }) => new Set(hide.split(',').filter(Boolean));

/** Whether it leaves flags out. @param {FlagFilter} filter */
export const isNarrowed = ({ text, type, state, seen }) => `${text}${type}${state}${seen}` !== '';

/** @param {string} query @returns {FlagFilter} */
export function filterOf(query) {
  const given = new URLSearchParams(query);
  return {
    text: given.get('text') ?? NO_FILTER.text,
    type: given.get('type') ?? NO_FILTER.type,
    state: given.get('state') ?? NO_FILTER.state,
    seen: given.get('seen') ?? NO_FILTER.seen,
    sort: given.get('sort') ?? NO_FILTER.sort,
    hide: given.get('hide') ?? NO_FILTER.hide,
    rows: given.get('rows') ?? NO_FILTER.rows,
  };
}

/** Empty for the filter that leaves nothing out. @param {FlagFilter} filter */
export function queryOf(filter) {
  const names = /** @type {const} */ (['text', 'type', 'state', 'seen', 'sort', 'hide', 'rows']);
  const given = names.filter((name) => filter[name] !== NO_FILTER[name]);
  return new URLSearchParams(given.map((name) => [name, filter[name]])).toString();
}

/** @param {readonly FlagSummary[]} flags in the order of their creation @param {FlagFilter} filter */
export function filtered(flags, { text, type, state, seen, sort }) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const isListed = stateTest(state);
  const isSeen = seenTest(seen);
  const found = flags.filter(
    (flag) => (type === '' || flag.type === type) && isListed(flag) && isSeen(flag) && matches(flag, words),
  );
  if (sort === 'name') return found.sort((one, other) => (one.name < other.name ? -1 : 1));
  if (sort === 'seen') return found.sort((one, other) => seenAt(other) - seenAt(one));
  return found.reverse();
}

/** @param {FlagSummary} flag */
const seenAt = ({ lastSeenAt }) => (lastSeenAt === null ? 0 : Date.parse(lastSeenAt));

/** @param {string} seen @returns {(flag: FlagSummary) => boolean} */
function seenTest(seen) {
  if (seen === '') return () => true;
  if (seen === 'never') return ({ lastSeenAt }) => lastSeenAt === null;
  const sinceMs = Date.now() - Number(seen) * DAY_MS;
  return (flag) => seenAt(flag) < sinceMs;
}

/** @param {string} state @returns {(flag: FlagSummary) => boolean} */
function stateTest(state) {
  if (state === '') return () => true;
  if (state === 'stale') return ({ stale }) => stale;
  const environment = state.replace(/^(?:on|off) /, '');
  const wanted = state.startsWith('on ');
  return ({ environments }) =>
    environments.some(({ name, enabled }) => name === environment && enabled) === wanted;
}

/** @param {FlagSummary} flag @param {readonly string[]} words */
function matches({ name, description, type, stale }, words) {
  if (words.length === 0) return true;
  const text = `${name} ${description ?? ''} ${type}${stale ? ' stale' : ''}`.toLowerCase();
  return words.every((word) => text.includes(word));
}
