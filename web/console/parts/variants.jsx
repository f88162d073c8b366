/** Variants as shares of one bar, and a list that says the same in words. */
import { Name, Sentence, said, visible, visibleLines } from '../said.jsx';
import { shown, WEIGHT_TOTAL } from '../words.js';

/** @import { Variant } from '../types.d.ts' */

/** @param {{ variants: readonly Variant[] }} props */
export function VariantBar({ variants }) {
  return (
    <div class="above">
      <Shares weights={variants.map(({ weight }) => weight)} />
      <ul class="plain stack above variant-list">
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
    stickiness === 'default' ? null : `sticky by ${said(stickiness)}`,
    ...overrides.map(
      ({ contextName, values }) =>
        `always for ${said(contextName)} ${values.map((one) => said(one)).join(', ')}`,
    ),
  ];
  return (
    <li>
      <span class="share-dot" aria-hidden="true" style={{ '--step': String(index % 4) }} />
      <code class="event-subject">
        <Name text={name} />
      </code>
      <span class="muted">
        <Sentence>{details.filter((part) => part !== null).join(' · ')}</Sentence>
      </span>
      {payload === undefined ? null : (
        <pre class="payload" tabIndex={0} aria-label={`Payload of ${visible(name)}`} role="group">
          {visibleLines(shown(payload.value))}
        </pre>
      )}
    </li>
  );
}
