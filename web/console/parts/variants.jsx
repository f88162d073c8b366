/** Variants as shares of one bar, and a list that says the same in words. */
import { shown, WEIGHT_TOTAL } from '../words.js';

/** @import { Variant } from '../types.d.ts' */

/** @param {{ variants: readonly Variant[] }} props */
export function VariantBar({ variants }) {
  return (
    <div class="variants">
      <Shares weights={variants.map(({ weight }) => weight)} />
      <ul class="plain variant-list">
        {variants.map((variant, index) => (
          <VariantItem key={variant.name} variant={variant} index={index} />
        ))}
      </ul>
    </div>
  );
}

/** @param {{ weights: readonly number[] }} props */
export function Shares({ weights }) {
  return (
    <div class="shares" aria-hidden="true">
      {weights.map((weight, index) => (
        <span key={index} class="share" style={{ '--share': String(weight), '--step': String(index % 4) }} />
      ))}
    </div>
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
  return (
    <li>
      <span class="share-dot" aria-hidden="true" style={{ '--step': String(index % 4) }} />
      <code class="variant-name">{name}</code>
      <span class="muted">{details.filter((part) => part !== null).join(' · ')}</span>
      {payload === undefined ? null : (
        <pre class="payload" tabIndex={0} aria-label={`Payload of ${name}`} role="group">
          {shown(payload.value)}
        </pre>
      )}
    </li>
  );
}
