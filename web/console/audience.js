/** Who a flag is on for in an environment, as a sentence and in numbers. */
import { path } from './client.js';
import { number } from './format.js';
import { comparisonOf, kindOf, percentOf } from './words.js';

/** @import { ConstraintInput, FlagEnvironment, FlagUsage, Segment, Session, StrategyInput } from './types.d.ts' */

/** Values of a constraint that a sentence names. */
const VALUES_NAMED = 4;

/** Such as: 35 % of users where country is one of NO, SE. @param {StrategyInput} strategy @param {ReadonlyMap<number, string>} segmentNames @param {number} [valuesMax] of a constraint that are named */
export function audienceOf(
  { name, parameters, constraints = [], segments = [] },
  segmentNames,
  valuesMax = VALUES_NAMED,
) {
  const conditions = [
    ...constraints.map((one) => conditionOf(one, valuesMax)),
    ...segments.map((id) => `they are in the segment ${segmentNames.get(id) ?? `#${id}`}`),
  ];
  const where = conditions.length === 0 ? '' : ` where ${conditions.join(' and ')}`;
  return groupOf(name, parameters ?? {}) + where;
}

/** @param {string} name @param {Record<string, unknown>} parameters */
function groupOf(name, { rollout, userIds }) {
  if (name === 'flexibleRollout')
    return percentOf(rollout) === 100 ? 'everyone' : `${percentOf(rollout)} % of users`;
  if (name === 'default') return 'everyone';
  if (name === 'userWithId') return `the users ${String(userIds ?? '')}`;
  return `those whom “${kindOf(name)}” selects`;
}

/** @param {ConstraintInput} constraint @param {number} valuesMax */
function conditionOf(constraint, valuesMax) {
  const compared = constraint.value === undefined ? (constraint.values ?? []) : [constraint.value];
  const rest = compared.length - valuesMax;
  const named = compared.slice(0, valuesMax).join(', ');
  return `${constraint.contextName || '…'} ${comparisonOf(constraint)} ${named || '…'}${rest > 0 ? ` and ${number(rest)} more` : ''}`;
}

/** Of all strategies of an environment that are not disabled. @param {readonly StrategyInput[]} strategies @param {ReadonlyMap<number, string>} segmentNames */
export function audienceOfAll(strategies, segmentNames) {
  const active = strategies.filter(({ disabled }) => disabled !== true);
  if (active.length === 0) return 'nobody, because every strategy is disabled';
  return active.map((one) => audienceOf(one, segmentNames)).join(', and for ');
}

/** Who would notice a change in an environment. @param {Session} session @param {string} flag @param {FlagEnvironment} of */
export async function affectedBy(session, flag, { name, enabled, strategies }) {
  const [usage, segmentNames] = await Promise.all([
    session.client.get(path`/client-metrics/features/${flag}`).then(
      (/** @type {FlagUsage} */ { lastHourUsage }) =>
        lastHourUsage.find(({ environment }) => environment === name),
      () => undefined,
    ),
    segmentNamesOf(session).catch(() => new Map()),
  ]);
  const now =
    strategies.length === 0
      ? 'It has no strategies there.'
      : `It is ${enabled ? 'on' : 'off'} there; its strategies select ${audienceOfAll(strategies, segmentNames)}.`;
  const count = (usage?.yes ?? 0) + (usage?.no ?? 0);
  return `${now} Applications reported ${count === 0 ? 'no evaluation' : `${number(count)} evaluations`} of it in the last hour.`;
}

/** Names of segments by id. @param {Session} session @returns {Promise<ReadonlyMap<number, string>>} */
export async function segmentNamesOf({ client }) {
  /** @type {{ segments: Segment[] }} */
  const { segments } = await client.get('/segments');
  return new Map(segments.map(({ id, name }) => [id, name]));
}
