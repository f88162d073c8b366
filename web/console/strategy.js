/** A strategy in words: for whom the flag is on. */
import { h } from './dom.js';
import { variantBar } from './variants.js';
import { comparisonOf, shown } from './words.js';

/** @import { Constraint, Strategy } from './types.d.ts' */

/** Kinds that everybody knows. @type {Readonly<Record<string, string>>} */
const KINDS = {
  default: 'Everyone',
  flexibleRollout: 'Gradual rollout',
  userWithId: 'Users by id',
  remoteAddress: 'By address',
  applicationHostname: 'By host name',
};

/** @param {Strategy} strategy */
export function strategyItem({ name, title, disabled, parameters, constraints, segments, variants }) {
  const kind = KINDS[name] ?? name;
  return h(
    'li',
    { class: `strategy${disabled === true ? ' strategy-disabled' : ''}` },
    h(
      'div',
      { class: 'strategy-head' },
      h('span', { class: 'strategy-title' }, title || kind),
      title ? h('span', { class: 'muted' }, kind) : null,
      disabled === true ? h('span', { class: 'badge' }, 'disabled') : null,
    ),
    name === 'flexibleRollout' ? rollout(parameters ?? {}) : parameterList(parameters ?? {}),
    constraints.length === 0
      ? null
      : h(
          'ul',
          { class: 'plain constraints', 'aria-label': 'Only where' },
          ...constraints.map(constraintItem),
        ),
    segments.length === 0 ? null : h('p', { class: 'muted' }, `Segments ${segments.join(', ')}`),
    variants.length === 0 ? null : variantBar(variants),
  );
}

/** @param {Record<string, unknown>} parameters */
function rollout({ rollout: share, stickiness, groupId: _, ...others }) {
  const percent = Math.min(100, Math.max(0, Number(share) || 0));
  const sticky = typeof stickiness === 'string' && stickiness !== 'default' ? `, by ${stickiness}` : '';
  return h(
    'div',
    null,
    h(
      'div',
      { class: 'rollout' },
      h(
        'div',
        { class: 'rollout-bar', 'aria-hidden': 'true' },
        h('span', { vars: { percent: `${percent}%` } }),
      ),
      h('span', { class: 'rollout-text' }, `${percent} % of users${sticky}`),
    ),
    parameterList(others),
  );
}

/** @param {Record<string, unknown>} parameters */
function parameterList(parameters) {
  const entries = Object.entries(parameters).filter(([, value]) => value !== '');
  if (entries.length === 0) return null;
  return h(
    'dl',
    { class: 'parameters' },
    ...entries.map(([name, value]) => h('div', null, h('dt', null, name), h('dd', null, shown(value)))),
  );
}

/** @param {Constraint} constraint */
function constraintItem(constraint) {
  const compared = constraint.value === undefined ? constraint.values : [constraint.value];
  return h(
    'li',
    null,
    h('code', null, constraint.contextName),
    ` ${comparisonOf(constraint)} `,
    ...compared.flatMap((value, index) => [index === 0 ? '' : ', ', h('code', null, value)]),
  );
}
