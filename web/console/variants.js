/** Variants as shares of one bar, and a list that says the same in words. */
import { h } from './dom.js';
import { shown } from './words.js';

/** @import { Variant } from './types.d.ts' */

/** Of thousandths. */
const WEIGHT_TOTAL = 1000;

/** @param {readonly Variant[]} variants */
export function variantBar(variants) {
  const shares = variants.map(({ name, weight }, index) =>
    h('span', { class: 'share', title: name, vars: { share: String(weight), step: String(index % 4) } }),
  );
  return h(
    'div',
    { class: 'variants' },
    h('div', { class: 'shares', 'aria-hidden': 'true' }, ...shares),
    h('ul', { class: 'plain variant-list' }, ...variants.map(variantItem)),
  );
}

/** @param {Variant} variant @param {number} index */
function variantItem({ name, weight, weightType, stickiness, payload, overrides }, index) {
  const details = [
    `${(weight * 100) / WEIGHT_TOTAL} %`,
    weightType === 'fix' ? 'fixed' : null,
    stickiness === 'default' ? null : `sticks by ${stickiness}`,
    ...overrides.map(({ contextName, values }) => `always for ${contextName} ${values.join(', ')}`),
  ];
  return h(
    'li',
    null,
    h('span', { class: 'share-dot', 'aria-hidden': 'true', vars: { step: String(index % 4) } }),
    h('code', { class: 'variant-name' }, name),
    h('span', { class: 'muted' }, details.filter((part) => part !== null).join(' · ')),
    payload === undefined
      ? null
      : h('pre', { class: 'payload', tabindex: '0', 'aria-label': 'Payload' }, shown(payload.value)),
  );
}
