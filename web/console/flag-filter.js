/** The choice of a project's flags to list, as the query of the address says it. */
import { DEFAULT_COLUMNS } from './flag-order.js';

/** @import { FlagSummary } from './types.d.ts' */

/**
 * @typedef {object} FlagFilter
 * @property {string} text words that all stand in the name, the description, the type or the tags
 * @property {string} stage such as `live`; empty for any
 * @property {string} type empty for any
 * @property {string} state `stale`, `on <environment>`, `off <environment>`; empty for any
 * @property {string} seen `never`, or for how many days none was used; empty for any
 * @property {string} owner the id of the user who created it; empty for any
 * @property {string} tag such as `simple:mobile`; empty for any
 * @property {string} mine `favorites`; empty for all
 * @property {string} sort a key of flag-order.js
 * @property {string} first `none` where favorites do not come first
 * @property {string} show further columns, as `listOf` reads them
 * @property {string} hide environments without a column, likewise
 * @property {string} rows `dense`; empty for rows with room
 */

/** The values of `seen`. @type {readonly (readonly [string, string])[]} */
export const SEEN = [
  ['', 'Any usage'],
  ['never', 'Never used'],
  ['7', 'Not used for 7 days'],
  ['30', 'Not used for 30 days'],
  ['90', 'Not used for 90 days'],
];

const DAY_MS = 86_400_000;

/** @type {FlagFilter} */
export const NO_FILTER = {
  ...{ text: '', stage: '', type: '', state: '', seen: '', owner: '', tag: '', mine: '' },
  ...{ sort: 'newest', first: '', show: DEFAULT_COLUMNS, hide: '', rows: '' },
};

const NAMES = /** @type {readonly (keyof FlagFilter)[]} */ (Object.keys(NO_FILTER));

/** Names hold no comma. @param {string} names @returns {ReadonlySet<string>} */
export const listOf = (names) => new Set(names.split(',').filter(Boolean));

/** Whether it leaves flags out. @param {FlagFilter} filter */
export const isNarrowed = ({ text, stage, type, state, seen, owner, tag, mine }) =>
  `${text}${stage}${type}${state}${seen}${owner}${tag}${mine}` !== '';

/** @param {string} query @returns {FlagFilter} */
export function filterOf(query) {
  const given = new URLSearchParams(query);
  const filter = /** @type {FlagFilter} */ (
    Object.fromEntries(NAMES.map((name) => [name, given.get(name) ?? NO_FILTER[name]]))
  );
  return SEEN.some(([seen]) => seen === filter.seen) ? filter : { ...filter, seen: '' };
}

/** Empty for the filter that leaves nothing out. @param {FlagFilter} filter */
export function queryOf(filter) {
  const given = NAMES.filter((name) => filter[name] !== NO_FILTER[name]);
  return new URLSearchParams(given.map((name) => [name, filter[name]])).toString();
}

/** The flags that pass, in the order in which they are given: the same list if all do. @param {readonly FlagSummary[]} flags @param {FlagFilter} filter */
export function filtered(flags, { text, stage, type, state, seen, owner, tag, mine }) {
  const tests = text.split(/\s+/).filter(Boolean).map(wordTest);
  if (stage !== '') tests.push(({ lifecycle }) => lifecycle.stage === stage);
  if (type !== '') tests.push((flag) => flag.type === type);
  if (state !== '') tests.push(stateTest(state));
  if (seen !== '') tests.push(seenTest(seen));
  if (owner !== '') tests.push(({ createdByUserId }) => String(createdByUserId) === owner);
  if (tag !== '') tests.push(({ tags }) => tags.some((one) => tagText(one) === tag));
  if (mine !== '') tests.push(({ favorite }) => favorite);
  const left = tests.reduce((rest, test) => rest.filter(test), flags);
  return left.length === flags.length ? flags : left;
}

/** How many flags are in each stage. @param {readonly FlagSummary[]} flags */
export function stagesOf(flags) {
  /** @type {Map<string, number>} */
  const counts = new Map();
  for (const { lifecycle } of flags) counts.set(lifecycle.stage, (counts.get(lifecycle.stage) ?? 0) + 1);
  return counts;
}

/** @param {{ type: string, value: string }} tag */
export const tagText = ({ type, value }) => `${type}:${value}`;

/** Each tag once, in the order of the alphabet. @param {readonly FlagSummary[]} flags */
export const tagsOf = (flags) => [...new Set(flags.flatMap(({ tags }) => tags.map(tagText)))].sort();

/** @param {string} seen @returns {(flag: FlagSummary) => boolean} */
function seenTest(seen) {
  if (seen === 'never') return ({ lastSeenAt }) => lastSeenAt === null;
  const since = new Date(Date.now() - Number(seen) * DAY_MS).toISOString();
  return ({ lastSeenAt }) => lastSeenAt === null || lastSeenAt < since;
}

/** @param {string} state @returns {(flag: FlagSummary) => boolean} */
function stateTest(state) {
  if (state === 'stale') return ({ stale }) => stale;
  const environment = state.replace(/^(?:on|off) /, '');
  const wanted = state.startsWith('on ');
  return ({ environments }) =>
    environments.some(({ name, enabled }) => name === environment && enabled) === wanted;
}

/**
 * Looks for a word in what is said of a flag. A pattern goes through 20,000 flags in some two milliseconds; small letters would have to be
 * made of all texts before the first key.
 * @param {string} word
 * @returns {(flag: FlagSummary) => boolean}
 */
function wordTest(word) {
  const pattern = new RegExp(word.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'), 'i');
  return ({ name, description, type, stale, tags }) =>
    pattern.test(name) ||
    pattern.test(description ?? '') ||
    pattern.test(type) ||
    (stale && pattern.test('stale')) ||
    tags.some((tag) => pattern.test(tagText(tag)));
}
