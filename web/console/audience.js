/** The people for whom a flag is on in an environment, as a sentence and in numbers. */
import { path } from './client.js';
import { counted, number } from './format.js';
import { loadNames, names } from './names.js';
import { said } from './said.jsx';
import { comparisonOf, kindOf, percentOf } from './words.js';

/** @import { ConstraintInput, Flag, FlagEnvironment, FlagUsage, Session, StrategyInput } from './types.d.ts' */

/** Values of a constraint that a sentence names. */
const VALUES_NAMED = 4;

/** Such as: 35 % of users where country is one of NO, SE. @param {StrategyInput} strategy @param {number} [valuesMax] of a constraint that are named */
export function audienceOf({ name, parameters, constraints = [], segments = [] }, valuesMax = VALUES_NAMED) {
  const conditions = [
    ...constraints.map((one) => conditionOf(one, valuesMax)),
    ...segments.map((id) => `they are in the segment ${segmentName(id)}`),
  ];
  const where = conditions.length === 0 ? '' : ` where ${conditions.join(' and ')}`;
  return groupOf(name, parameters ?? {}) + where;
}

/** @param {number} id */
export function segmentName(id) {
  const name = names.value.segments.get(id);
  return name === undefined ? `#${id}, which is deleted` : said(name);
}

/** @param {string} name @param {Record<string, unknown>} parameters */
function groupOf(name, { rollout, userIds }) {
  if (name === 'flexibleRollout')
    return percentOf(rollout) === 100 ? 'everyone' : `${percentOf(rollout)} % of users`;
  if (name === 'default') return 'everyone';
  if (name === 'userWithId') return `the users ${said(String(userIds ?? ''))}`;
  return `users selected by the strategy type ${said(kindOf(name))} selects`;
}

/** Such as: country is one of NO, SE. @param {ConstraintInput} constraint @param {number} [valuesMax] */
export function conditionOf(constraint, valuesMax = VALUES_NAMED) {
  const compared = constraint.value === undefined ? (constraint.values ?? []) : [constraint.value];
  const rest = compared.length - valuesMax;
  const named = compared
    .slice(0, valuesMax)
    .map((value) => said(value, Number.isFinite(valuesMax) ? undefined : valuesMax))
    .join(', ');
  return `${fieldName(constraint.contextName)} ${comparisonOf(constraint)} ${named || '…'}${rest > 0 ? ` and ${number(rest)} more` : ''}`;
}

/** A context field, and that there is none of that name where that is so. @param {string} name */
function fieldName(name) {
  if (name === '') return '…';
  const { fields } = names.value;
  return fields === null || fields.has(name) || STANDARD_FIELDS.has(name)
    ? said(name)
    : `${said(name)}, a field that is not defined,`;
}

/** Fields that every SDK fills in, whether or not they are defined. */
const STANDARD_FIELDS = new Set([
  'appName',
  'currentTime',
  'environment',
  'remoteAddress',
  'sessionId',
  'userId',
]);

/** Strategies that a sentence names. */
const STRATEGIES_NAMED = 3;

/** The audience of all strategies of an environment that are not disabled. @param {readonly StrategyInput[]} strategies */
export function audienceOfAll(strategies) {
  const active = strategies.filter(({ disabled }) => disabled !== true);
  if (active.length === 0) return 'no users, because every strategy is disabled';
  const named = active.slice(0, STRATEGIES_NAMED).map((one) => audienceOf(one));
  const rest = active.length - named.length;
  return `${named.join(', and for ')}${rest > 0 ? `, and by ${counted(rest, 'more strategy', 'more strategies')}` : ''}`;
}

/** For how many it is on, as far as few letters can say it. @param {Pick<FlagEnvironment, 'hasEnabledStrategies' | 'enabledStrategyCount' | 'rollout'> | undefined} state */
export function amountOf(state) {
  if (state?.hasEnabledStrategies !== true) return 'no one';
  return state.rollout === null
    ? counted(state.enabledStrategyCount, 'strategy', 'strategies')
    : `${state.rollout} %`;
}

/**
 * Tells who notices a change in an environment, by the figures of this moment; null where nobody does: no application has evaluated the
 * flag there, nor a flag that depends on it, or the change stays without effect.
 * @param {Session} session
 * @param {{ project: string, name: string }} of
 * @param {string} environment
 * @param {(now: FlagEnvironment) => boolean} [hasEffect] of the change, given how the flag stands there; one of strategies or variants has none while the flag is off
 */
export async function affectedBy(
  session,
  { project, name },
  environment,
  hasEffect = ({ enabled }) => enabled,
) {
  const { client } = session;
  /** @type {[Flag, FlagUsage | null, void]} */
  const [flag, usage] = await Promise.all([
    client.get(path`/projects/${project}/features/${name}`),
    client.get(path`/client-metrics/features/${name}`).catch(() => null),
    loadNames(session),
  ]);
  const now = flag.environments.find((one) => one.name === environment);
  const { yes = 0, no = 0 } = usage?.lastHourUsage.find((one) => one.environment === environment) ?? {};
  const isUsed = now !== undefined && (now.lastSeenAt !== null || flag.children.length > 0 || yes + no > 0);
  if (!isUsed || !hasEffect(now)) return null;
  return `${stateText(now)} ${yes + no === 0 ? 'No evaluations' : counted(yes + no, 'evaluation')} in the last hour.`;
}

/** @param {FlagEnvironment} now */
function stateText(now) {
  if (now.strategies.length === 0) return 'No strategies there yet.';
  return now.enabled
    ? `Currently on for ${audienceOfAll(now.strategies)}.`
    : `Currently off. Would apply to ${audienceOfAll(now.strategies)}.`;
}
