/** What the interface says in names and operators, in sentences. */

/** @import { Constraint, LoggedEvent } from './types.d.ts' */

/**
 * Of events about flags and projects; others are told by their type.
 * @type {Readonly<Partial<Record<LoggedEvent['type'], string>>>}
 */
const DEEDS = {
  'feature-created': 'created',
  'feature-metadata-updated': 'changed',
  'feature-archived': 'archived',
  'feature-revived': 'revived',
  'feature-deleted': 'deleted for good',
  'feature-stale-on': 'marked stale',
  'feature-stale-off': 'no longer stale',
  'feature-strategy-add': 'strategy added',
  'feature-strategy-update': 'strategy changed',
  'feature-strategy-remove': 'strategy removed',
  'strategy-order-changed': 'strategies reordered',
  'feature-environment-enabled': 'switched on',
  'feature-environment-disabled': 'switched off',
  'feature-variants-updated': 'variants changed',
  'feature-environment-variants-updated': 'variants changed',
  'feature-tagged': 'tagged',
  'feature-untagged': 'tag removed',
  'feature-dependency-added': 'dependency added',
  'feature-dependency-removed': 'dependency removed',
  'feature-dependencies-removed': 'dependencies removed',
};

/** @param {LoggedEvent} event */
export function deedOf(event) {
  const deed = DEEDS[event.type] ?? event.type.replaceAll('-', ' ');
  return event.environment === null ? deed : `${deed} in ${event.environment}`;
}

/** How the dot beside an event looks. @param {LoggedEvent} event */
export function toneOf({ type }) {
  if (/-(?:enabled|created|revived)$/.test(type)) return 'on';
  return /-(?:disabled|archived|deleted|removed|remove)$/.test(type) ? 'off' : 'plain';
}

/** @type {Readonly<Record<Constraint['operator'], readonly [plain: string, opposite: string]>>} */
const COMPARISONS = {
  IN: ['is one of', 'is none of'],
  NOT_IN: ['is none of', 'is one of'],
  STR_ENDS_WITH: ['ends with', 'does not end with'],
  STR_STARTS_WITH: ['starts with', 'does not start with'],
  STR_CONTAINS: ['contains', 'does not contain'],
  IN_CIDR: ['is an address in', 'is not an address in'],
  REGEX: ['matches', 'does not match'],
  NUM_EQ: ['=', '≠'],
  NUM_GT: ['>', '≤'],
  NUM_GTE: ['≥', '<'],
  NUM_LT: ['<', '≥'],
  NUM_LTE: ['≤', '>'],
  DATE_AFTER: ['is after', 'is not after'],
  DATE_BEFORE: ['is before', 'is not before'],
  SEMVER_EQ: ['is version', 'is not version'],
  SEMVER_GT: ['is newer than version', 'is not newer than version'],
  SEMVER_LT: ['is older than version', 'is not older than version'],
  SEMVER_GTE: ['is at least version', 'is not at least version'],
  SEMVER_LTE: ['is at most version', 'is not at most version'],
};

/** Such as: country — is one of — NO, SE. @param {Constraint} constraint */
export function comparisonOf({ operator, inverted, caseInsensitive }) {
  // A page that was loaded before an upgrade of the server may meet an operator that it does not know.
  const [plain, opposite] = COMPARISONS[operator] ?? [operator, `not ${operator}`];
  const words = inverted ? opposite : plain;
  return caseInsensitive ? `${words} (whatever the case)` : words;
}

/** The fields in which two states of something differ. @param {LoggedEvent} event */
export function changedFields({ data, preData }) {
  if (data === null || preData === null) return [];
  const names = [...new Set([...Object.keys(preData), ...Object.keys(data)])];
  return names
    .map((name) => ({ name, before: shown(preData[name]), after: shown(data[name]) }))
    .filter(({ before, after }) => before !== after);
}

/** @param {unknown} value */
export function shown(value) {
  if (value === undefined || value === null) return 'nothing';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
