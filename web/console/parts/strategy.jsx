/** A strategy in words: for whom the flag is on. */
import { useState } from 'preact/hooks';
import { number } from '../format.js';
import { comparisonOf, kindOf, percentOf, shown } from '../words.js';
import { VariantBar } from './variants.jsx';

/** @import { ComponentChildren } from 'preact' */
/** @import { ConstraintInput, Strategy } from '../types.d.ts' */

/** How many values of a constraint are shown before one asks for the rest. */
const VALUES_SHOWN = 12;

/** @param {{ of: Strategy, segmentNames: ReadonlyMap<number, string>, actions?: ComponentChildren }} props */
export function StrategyItem({ of, segmentNames, actions = null }) {
  const { name, title, disabled, parameters, constraints, segments, variants } = of;
  const kind = kindOf(name);
  return (
    <li class={`strategy${disabled === true ? ' strategy-disabled' : ''}`} data-strategy={of.id}>
      <div class="strategy-head">
        <span class="strategy-title">{title || kind}</span>
        {title ? <span class="muted">{kind}</span> : null}
        {disabled === true ? <span class="badge">disabled</span> : null}
        {actions}
      </div>
      {name === 'flexibleRollout' ? (
        <Rollout parameters={parameters ?? {}} />
      ) : (
        <Parameters parameters={parameters ?? {}} />
      )}
      {constraints.length === 0 ? null : <Constraints of={constraints} />}
      {segments.length === 0 ? null : (
        <p class="muted">
          {`In ${segments.length === 1 ? 'the segment' : 'all the segments'} `}
          {segments.map((id) => segmentNames.get(id) ?? `#${id}`).join(', ')}
        </p>
      )}
      {variants.length === 0 ? null : <VariantBar variants={variants} />}
    </li>
  );
}

/** @param {{ parameters: Record<string, unknown> }} props */
function Rollout({ parameters: { rollout: share, stickiness, groupId: _, ...others } }) {
  const percent = percentOf(share);
  const sticky = typeof stickiness === 'string' && stickiness !== 'default' ? `, by ${stickiness}` : '';
  return (
    <div>
      <div class="rollout">
        <div class="rollout-bar" aria-hidden="true">
          <span style={{ '--percent': `${percent}%` }} />
        </div>
        <span class="rollout-text">{`${percent} % of users${sticky}`}</span>
      </div>
      <Parameters parameters={others} />
    </div>
  );
}

/** @param {{ parameters: Record<string, unknown> }} props */
function Parameters({ parameters }) {
  const entries = Object.entries(parameters).filter(([, value]) => value !== '');
  if (entries.length === 0) return null;
  return (
    <dl class="parameters">
      {entries.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{shown(value)}</dd>
        </div>
      ))}
    </dl>
  );
}

/** @param {{ of: readonly ConstraintInput[] }} props */
export function Constraints({ of }) {
  return (
    <ul class="plain constraints" aria-label="Only where">
      {of.map((constraint, index) => (
        <ConstraintItem key={index} constraint={constraint} />
      ))}
    </ul>
  );
}

/** @param {{ constraint: ConstraintInput }} props */
function ConstraintItem({ constraint }) {
  const [isWhole, setWhole] = useState(false);
  const compared = constraint.value === undefined ? (constraint.values ?? []) : [constraint.value];
  const listed = isWhole ? compared : compared.slice(0, VALUES_SHOWN);
  const rest = compared.length - listed.length;
  return (
    <li>
      <code>{constraint.contextName}</code>
      {` ${comparisonOf(constraint)} `}
      {listed.flatMap((value, index) => [index === 0 ? '' : ', ', <code key={value}>{value}</code>])}
      {rest === 0 ? null : (
        <>
          {' '}
          <button
            type="button"
            class="quiet"
            onClick={() => setWhole(true)}
          >{`and ${number(rest)} more`}</button>
        </>
      )}
    </li>
  );
}
