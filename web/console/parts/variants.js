/** Variants as shares of one bar, and a list that says the same in words. */
import { h } from 'preact';
import { shown, WEIGHT_TOTAL } from '../words.js';

/** @import { Variant } from '../types.d.ts' */

/** @param {{ variants: readonly Variant[] }} props */
export function VariantBar({ variants }) {
  return h(
    'div',
    { class: 'variants' },
    h(Shares, { weights: variants.map(({ weight }) => weight) }),
    h(
      'ul',
      { class: 'plain variant-list' },
      variants.map((variant, index) => h(VariantItem, { key: variant.name, variant, index })),
    ),
  );
}

/** @param {{ weights: readonly number[] }} props */
export function Shares({ weights }) {
  return h(
    'div',
    { class: 'shares', 'aria-hidden': 'true' },
    weights.map((weight, index) =>
      h('span', {
        key: index,
        class: 'share',
        style: { '--share': String(weight), '--step': String(index % 4) },
      }),
    ),
  );
}

/** @param {{ variant: Variant, index: number }} props */
function VariantItem({ variant: { name, weight, weightType, stickiness, payload, overrides }, index }) {
  const details = [
    `${(weight * 100) / WEIGHT_TOTAL} %`,
    weightType === 'fix' ? 'fixed' : null,
    stickiness === 'default' ? null : `sticks by ${stickiness}`,
    ...overrides.map(({ contextName, values }) => `always for ${contextName} ${values.join(', ')}`),
  ];
  return h(
    'li',
    null,
    h('span', { class: 'share-dot', 'aria-hidden': 'true', style: { '--step': String(index % 4) } }),
    h('code', { class: 'variant-name' }, name),
    h('span', { class: 'muted' }, details.filter((part) => part !== null).join(' · ')),
    payload === undefined
      ? null
      : h(
          'pre',
          { class: 'payload', tabIndex: 0, 'aria-label': `Payload of ${name}`, role: 'group' },
          shown(payload.value),
        ),
  );
}
