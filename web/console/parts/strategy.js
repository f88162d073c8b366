/** A strategy in words: for whom the flag is on. */
import { h } from 'preact';
import { useState } from 'preact/hooks';
import { number } from '../format.js';
import { comparisonOf, kindOf, percentOf, shown } from '../words.js';
import { VariantBar } from './variants.js';

/** @import { ComponentChildren } from 'preact' */
/** @import { ConstraintInput, Strategy } from '../types.d.ts' */

/** How many values of a constraint are shown before one asks for the rest. */
const VALUES_SHOWN = 12;

/** @param {{ of: Strategy, segmentNames: ReadonlyMap<number, string>, actions?: ComponentChildren }} props */
export function StrategyItem({ of, segmentNames, actions = null }) {
  const { name, title, disabled, parameters, constraints, segments, variants } = of;
  const kind = kindOf(name);
  return h(
    'li',
    { class: `strategy${disabled === true ? ' strategy-disabled' : ''}`, 'data-strategy': of.id },
    h(
      'div',
      { class: 'strategy-head' },
      h('span', { class: 'strategy-title' }, title || kind),
      title ? h('span', { class: 'muted' }, kind) : null,
      disabled === true ? h('span', { class: 'badge' }, 'disabled') : null,
      actions,
    ),
    name === 'flexibleRollout'
      ? h(Rollout, { parameters: parameters ?? {} })
      : h(Parameters, { parameters: parameters ?? {} }),
    constraints.length === 0 ? null : h(Constraints, { of: constraints }),
    segments.length === 0
      ? null
      : h(
          'p',
          { class: 'muted' },
          `In ${segments.length === 1 ? 'the segment' : 'all the segments'} `,
          segments.map((id) => segmentNames.get(id) ?? `#${id}`).join(', '),
        ),
    variants.length === 0 ? null : h(VariantBar, { variants }),
  );
}

/** @param {{ parameters: Record<string, unknown> }} props */
function Rollout({ parameters: { rollout: share, stickiness, groupId: _, ...others } }) {
  const percent = percentOf(share);
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
        h('span', { style: { '--percent': `${percent}%` } }),
      ),
      h('span', { class: 'rollout-text' }, `${percent} % of users${sticky}`),
    ),
    h(Parameters, { parameters: others }),
  );
}

/** @param {{ parameters: Record<string, unknown> }} props */
function Parameters({ parameters }) {
  const entries = Object.entries(parameters).filter(([, value]) => value !== '');
  if (entries.length === 0) return null;
  return h(
    'dl',
    { class: 'parameters' },
    entries.map(([name, value]) => h('div', { key: name }, h('dt', null, name), h('dd', null, shown(value)))),
  );
}

/** @param {{ of: readonly ConstraintInput[] }} props */
export function Constraints({ of }) {
  return h(
    'ul',
    { class: 'plain constraints', 'aria-label': 'Only where' },
    of.map((constraint, index) => h(ConstraintItem, { key: index, constraint })),
  );
}

/** @param {{ constraint: ConstraintInput }} props */
function ConstraintItem({ constraint }) {
  const [isWhole, setWhole] = useState(false);
  const compared = constraint.value === undefined ? (constraint.values ?? []) : [constraint.value];
  const listed = isWhole ? compared : compared.slice(0, VALUES_SHOWN);
  const rest = compared.length - listed.length;
  return h(
    'li',
    null,
    h('code', null, constraint.contextName),
    ` ${comparisonOf(constraint)} `,
    listed.flatMap((value, index) => [index === 0 ? '' : ', ', h('code', { key: value }, value)]),
    rest === 0
      ? null
      : [
          ' ',
          h(
            'button',
            { type: 'button', class: 'quiet', onClick: () => setWhole(true) },
            `and ${number(rest)} more`,
          ),
        ],
  );
}
