/** The names and operators of the interface, in sentences. */
import { said } from './said.jsx';

/** @import { Constraint, ConstraintInput, LoggedEvent } from './types.d.ts' */

/**
 * How events are called, where their type does not say it, and what somebody did, in which `{}` stands for the flag or
 * the project; sessions are recorded as tokens are.
 * @type {Readonly<Partial<Record<LoggedEvent['type'], readonly [deed: string | null, done?: string]>>>}
 */
const DEEDS = {
  'feature-created': ['created', 'created {}'],
  'feature-metadata-updated': ['changed', 'changed {}'],
  'feature-archived': ['archived', 'archived {}'],
  'feature-revived': ['revived', 'revived {}'],
  'feature-deleted': ['deleted for good', 'deleted {} for good'],
  'feature-stale-on': ['marked stale', 'marked {} stale'],
  'feature-stale-off': ['no longer stale', 'marked {} as no longer stale'],
  'feature-potentially-stale-on': [null, 'found {} overdue'],
  'feature-completed': [null, 'marked {} as completed'],
  'feature-uncompleted': [null, 'reopened {}'],
  'feature-project-change': [null, 'moved {}'],
  'feature-strategy-add': ['strategy added', 'added a strategy to {}'],
  'feature-strategy-update': ['strategy changed', 'changed a strategy of {}'],
  'feature-strategy-remove': ['strategy removed', 'removed a strategy from {}'],
  'strategy-order-changed': ['strategies reordered', 'reordered the strategies of {}'],
  'feature-environment-enabled': ['switched on', 'switched {} on'],
  'feature-environment-disabled': ['switched off', 'switched {} off'],
  'feature-variants-updated': ['variants changed', 'changed the variants of {}'],
  'feature-environment-variants-updated': ['variants changed', 'changed the variants of {}'],
  'feature-commented': ['commented', 'commented on {}'],
  'feature-favorited': ['marked as a favorite'],
  'feature-unfavorited': ['no longer a favorite'],
  'project-favorited': ['marked as a favorite'],
  'project-unfavorited': ['no longer a favorite'],
  'feature-tagged': ['tagged', 'tagged {}'],
  'feature-untagged': ['tag removed', 'removed a tag from {}'],
  'feature-dependency-added': ['dependency added', 'added a dependency to {}'],
  'feature-dependency-removed': ['dependency removed', 'removed a dependency from {}'],
  'feature-dependencies-removed': ['dependencies removed', 'removed the dependencies of {}'],
  'features-imported': [null, 'imported flags in {}'],
  'features-applied': [null, 'applied flags in {}'],
  'project-created': [null, 'created {}'],
  'project-updated': [null, 'changed {}'],
  'project-deleted': [null, 'deleted {}'],
  'project-user-added': [null, 'added a member to {}'],
  'project-user-role-changed': [null, 'changed the role of a member of {}'],
  'project-user-removed': [null, 'removed a member from {}'],
  'api-token-created': ['API token created'],
  'api-token-updated': ['API token changed'],
  'api-token-deleted': ['API token deleted'],
  'pat-created': ['personal token created'],
  'pat-deleted': ['personal token deleted'],
  'public-signup-token-created': ['invitation created'],
  'public-signup-token-updated': ['invitation changed'],
  'public-signup-token-user-added': ['joined by an invitation'],
  'change-request-configuration-updated': [null, 'changed who approves changes of {}'],
  'change-request-sent-to-review': [null, 'sent a change request for {} to review'],
  'change-request-approval-added': [null, 'approved a change request for {}'],
  'change-request-approved': [null, 'completed the approvals of a change request for {}'],
  'change-request-rejected': [null, 'rejected a change request for {}'],
  'change-request-scheduled': [null, 'scheduled a change request for {}'],
  'change-request-applied': [null, 'applied a change request for {}'],
  'change-request-cancelled': [null, 'cancelled a change request for {}'],
  'change-request-discarded': [null, 'discarded a change request for {}'],
  'change-request-skipped': ['changed without a change request', 'changed {} without a change request'],
};

/** The types of events after which users may see something else. @type {readonly string[]} */
export const NOTICED = [
  'feature-created',
  'feature-archived',
  'feature-revived',
  'feature-environment-enabled',
  'feature-environment-disabled',
  'feature-strategy-add',
  'feature-strategy-update',
  'feature-strategy-remove',
  'feature-variants-updated',
  'feature-environment-variants-updated',
];

/** How a session of the log has begun. @type {Readonly<Record<string, string>>} */
const SIGN_INS = { password: 'a password', provider: 'OpenID Connect', token: 'a token' };

/** @param {string} type of an event */
export const deedOfType = (type) =>
  DEEDS[/** @type {LoggedEvent['type']} */ (type)]?.[0] ?? type.replaceAll('-', ' ');

/** The deed as a sentence about whoever did it, such as: switched {} on. @param {LoggedEvent['type']} type */
export const doneOfType = (type) => DEEDS[type]?.[1] ?? `changed {} (${deedOfType(type)})`;

/** @param {Pick<LoggedEvent, 'type' | 'environment' | 'data' | 'preData'>} event */
export function deedOf(event) {
  const session = (event.data ?? event.preData)?.['session'];
  if (typeof session === 'string') {
    return event.type === 'pat-created' ? `signed in with ${SIGN_INS[session] ?? session}` : 'session ended';
  }
  const deed = deedOfType(event.type);
  const where = event.environment === null ? deed : `${deed} in ${event.environment}`;
  const skip = /** @type {{ features: string[], events: string[] } | undefined} */ (event.data?.['skip']);
  if (event.type !== 'change-request-skipped' || skip === undefined) return where;
  return `${where}: ${[...skip.features, ...skip.events.map(deedOfType)].join(', ')}`;
}

/** The fields of records that name what they are about, the best name first. */
const NAMES = ['name', 'tokenName', 'username', 'email', 'description', 'value'];

/** The subject of an event that is about no flag and no project, as far as its record names it. @param {Pick<LoggedEvent, 'data' | 'preData'>} event @returns {string | null} */
export function recordNameOf({ data, preData }) {
  const record = data ?? preData ?? {};
  if ('session' in record) return null;
  const names = NAMES.flatMap((field) => (typeof record[field] === 'string' ? [record[field]] : []));
  return names.find((name) => name !== '') ?? null;
}

/** How the dot beside an event looks. @param {LoggedEvent} event */
export function toneOf({ type }) {
  if (type === 'change-request-skipped') return 'loud';
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

/** Such as: country — is one of — NO, SE. @param {Pick<ConstraintInput, 'operator' | 'inverted' | 'caseInsensitive'>} constraint */
export function comparisonOf({ operator, inverted, caseInsensitive }) {
  // A page that was loaded before an upgrade of the server may meet an operator that it does not know.
  const [plain, opposite] = COMPARISONS[operator] ?? [operator, `not ${operator}`];
  const words = inverted === true ? opposite : plain;
  return caseInsensitive === true ? `${words} (ignoring case)` : words;
}

/** Thousandths that make the whole. */
export const WEIGHT_TOTAL = 1000;

/** Types of flags, and what they are called. @type {readonly (readonly [string, string])[]} */
export const FLAG_TYPES = [
  ['release', 'Release'],
  ['experiment', 'Experiment'],
  ['operational', 'Operational'],
  ['kill-switch', 'Kill-switch'],
  ['permission', 'Permission'],
];

/** Stages of a flag's life, in their order. */
export const STAGES = /** @type {const} */ ({
  initial: 'defined',
  'pre-live': 'in development',
  live: 'in production',
  completed: 'completed',
  archived: 'archived',
});

/** Kinds of strategies that everybody knows. @type {Readonly<Record<string, string>>} */
const KINDS = {
  default: 'Everyone',
  flexibleRollout: 'Gradual rollout',
  userWithId: 'Users by id',
  remoteAddress: 'By address',
  applicationHostname: 'By host name',
};

/** @param {string} name of a strategy type */
export const kindOf = (name) => KINDS[name] ?? name;

/** The same within a sentence: the names of other types are what somebody wrote. @param {string} name */
export const kindText = (name) => KINDS[name] ?? said(name);

/** The share of users in the parameter of a rollout. @param {unknown} rollout */
export const percentOf = (rollout) => Math.min(100, Math.max(0, Number(rollout) || 0));

/** Fields that events repeat and nobody changes. */
export const IDENTITY = ['id', 'featureName', 'sortOrder', 'lastSeenAt', 'createdAt', 'skips', 'skip'];

/** Longer texts are cut around what differs. */
const TEXT_SHOWN = 60;

/** Two texts, cut so that what they share at the front does not hide what differs. @param {string} before @param {string} after */
export function aroundDifference(before, after) {
  let shared = 0;
  while (shared < before.length && before[shared] === after[shared]) shared += 1;
  const from = Math.max(before.length, after.length) <= TEXT_SHOWN ? 0 : Math.max(0, shared - TEXT_SHOWN / 3);
  /** @param {string} text */
  const cut = (text) => {
    const end = from + TEXT_SHOWN;
    return `${from > 0 ? '…' : ''}${text.slice(from, end)}${text.length > end ? '…' : ''}`;
  };
  return { before: cut(before), after: cut(after) };
}

/** @param {unknown} value */
export function shown(value) {
  if (value === undefined || value === null || value === '') return 'nothing';
  if (Array.isArray(value) && value.length === 0) return 'nothing';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
