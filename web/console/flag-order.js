/** The order in which flags are listed, and the columns between their names and their environments. */

/** @import { FlagSummary } from './types.d.ts' */

/** The columns besides those of environments. @type {readonly (readonly [key: string, title: string])[]} */
export const COLUMNS = [
  ['type', 'Type'],
  ['owner', 'Owner'],
  ['created', 'Created'],
  ['seen', 'Last used'],
  ['tags', 'Tags'],
];

export const DEFAULT_COLUMNS = 'type,seen';

/** Keys of orders and what they are called, those of environments aside. @type {readonly (readonly [string, string])[]} */
const SORTS = [
  ['newest', 'Newest first'],
  ['oldest', 'Oldest first'],
  ['name', 'By name'],
  ['name-back', 'By name, Z to A'],
  ['type', 'By type'],
  ['owner', 'By owner'],
  ['tags', 'By tag'],
  ['seen', 'Last used first'],
  ['unused', 'Longest unused first'],
  ['stale', 'Stale first'],
];

/** @param {readonly string[]} environments @returns {readonly (readonly [string, string])[]} */
export const sortsOf = (environments) => [
  ...SORTS,
  ...environments.map((name) => /** @type {const} */ ([`on ${name}`, `On in ${name} first`])),
];

/** The orders that the title of a column goes through, the first one first. @type {Readonly<Record<string, readonly [string, string]>>} */
const OF_COLUMN = {
  name: ['name', 'name-back'],
  type: ['type', 'newest'],
  owner: ['owner', 'newest'],
  created: ['newest', 'oldest'],
  seen: ['seen', 'unused'],
  tags: ['tags', 'newest'],
};

/** The order that a press on the title of a column leads to. @param {string} column @param {string} sort */
export function nextSort(column, sort) {
  const [first, second] = OF_COLUMN[column] ?? [column, 'newest'];
  return sort === first ? second : first;
}

/** For those who hear the table. @param {string} column @param {string} sort @returns {'ascending' | 'descending' | undefined} */
export function sortedAs(column, sort) {
  const [first, second] = OF_COLUMN[column] ?? [column, ''];
  const isFirst = sort === first;
  if (!isFirst && (sort !== second || second === 'newest')) return undefined;
  const isDown = column === 'created' || column === 'seen' || column.startsWith('on ');
  return isFirst === isDown ? 'descending' : 'ascending';
}

/**
 * @param {readonly FlagSummary[]} flags in the order of their creation
 * @param {string} sort
 * @param {{ isFavoriteFirst: boolean, ownerName: (id: number) => string }} by
 */
export function ordered(flags, sort, { isFavoriteFirst, ownerName }) {
  const sorted = inOrder(flags, sort, ownerName);
  if (!isFavoriteFirst || !flags.some(({ favorite }) => favorite)) return sorted;
  return [...sorted.filter(({ favorite }) => favorite), ...sorted.filter(({ favorite }) => !favorite)];
}

/** By what flags are ordered, by the key of the order; `-back` and `seen` turn it round. @type {Readonly<Record<string, (flag: FlagSummary, ownerName: (id: number) => string) => string>>} */
const KEYS = {
  name: ({ name }) => name,
  'name-back': ({ name }) => name,
  type: ({ type }) => type,
  owner: ({ createdByUserId }, ownerName) => ownerName(createdByUserId).toLowerCase(),
  tags: ({ tags: [first] }) => (first === undefined ? '\uffff' : `${first.type}:${first.value}`),
  seen: ({ lastSeenAt }) => lastSeenAt ?? '',
  unused: ({ lastSeenAt }) => lastSeenAt ?? '',
  stale: ({ stale }) => (stale ? '0' : '1'),
};

/** @param {readonly FlagSummary[]} flags @param {string} sort @param {(id: number) => string} ownerName */
function inOrder(flags, sort, ownerName) {
  if (sort === 'oldest') return flags;
  if (sort.startsWith('on ')) return byState(flags, sort.slice(3));
  const keyOf = KEYS[sort];
  if (keyOf === undefined) return [...flags].reverse();
  const sorted = by(flags, (flag) => keyOf(flag, ownerName));
  return sort === 'name-back' || sort === 'seen' ? sorted.reverse() : sorted;
}

/** Flags with equal keys stay in the order of their creation. @param {readonly FlagSummary[]} flags @param {(flag: FlagSummary) => string} keyOf */
function by(flags, keyOf) {
  const keyed = flags.map((flag) => /** @type {const} */ ([keyOf(flag), flag]));
  return keyed.sort(([one], [other]) => (one < other ? -1 : one > other ? 1 : 0)).map(([, flag]) => flag);
}

/** The flags that are on before the others, with the widest share ahead. @param {readonly FlagSummary[]} flags @param {string} environment */
function byState(flags, environment) {
  return by(flags, ({ environments }) => {
    const state = environments.find(({ name }) => name === environment);
    const share = String(100 - (state?.rollout ?? 0)).padStart(4, '0');
    return `${state?.enabled === true ? 0 : 1}${share}`;
  });
}
