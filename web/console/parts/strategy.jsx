/** A strategy in words: for whom the flag is on. */
import { useState } from 'preact/hooks';
import { conditionOf, segmentName } from '../audience.js';
import { Name, Sentence, said } from '../said.jsx';
import { kindOf, percentOf, shown } from '../words.js';
import { Button } from './button.jsx';
import { VariantBar } from './variants.jsx';

/** @import { ComponentChildren } from 'preact' */
/** @import { ConstraintInput, Strategy } from '../types.d.ts' */

/** How many values of a constraint are shown before one asks for the rest. */
const VALUES_SHOWN = 12;

/** @param {{ of: Strategy, actions?: ComponentChildren }} props */
export function StrategyItem({ of, actions = null }) {
  const { name, title, disabled, parameters, constraints, segments, variants } = of;
  const kind = kindOf(name);
  const isRollout = name === 'flexibleRollout';
  // The share of users says what it is.
  const isPlain = isRollout && !title;
  return (
    <li class={`strategy${disabled === true ? ' strategy-disabled' : ''}`} data-strategy={of.id}>
      <div class="row">
        {isPlain ? (
          <Rollout parameters={parameters ?? {}} />
        ) : (
          <span class="strong">
            <Name text={title || kind} />
          </span>
        )}
        {title && !isRollout ? (
          <span class="muted">
            <Name text={kind} />
          </span>
        ) : null}
        {disabled === true ? <span class="badge">disabled</span> : null}
        {actions}
      </div>
      {isRollout && !isPlain ? <Rollout parameters={parameters ?? {}} /> : null}
      <Parameters parameters={othersOf(of)} />
      {constraints.length === 0 ? null : <Constraints of={constraints} />}
      {segments.length === 0 ? null : (
        <p class="muted">
          <Sentence>
            {`In ${segments.length === 1 ? 'the segment' : 'all the segments'} ${segments.map(segmentName).join(', ')}`}
          </Sentence>
        </p>
      )}
      {variants.length === 0 ? null : <VariantBar variants={variants} />}
    </li>
  );
}

/** @param {{ parameters: Record<string, unknown> }} props */
function Rollout({ parameters: { rollout: share, stickiness } }) {
  const percent = percentOf(share);
  const sticky = typeof stickiness === 'string' && stickiness !== 'default' ? `, by ${said(stickiness)}` : '';
  return (
    <div class="line grow">
      <div class="rollout-bar" aria-hidden="true">
        <span style={{ '--percent': `${percent}%` }} />
      </div>
      <span class="number strong rollout-text">
        <Sentence>{`${percent === 100 ? 'everyone' : `${percent} % of users`}${sticky}`}</Sentence>
      </span>
    </div>
  );
}

/** The parameters that a rollout does not show. @param {Strategy} strategy @returns {Record<string, unknown>} */
function othersOf({ name, parameters }) {
  if (name !== 'flexibleRollout') return parameters ?? {};
  const { rollout: _, stickiness: __, groupId: ___, ...others } = parameters ?? {};
  return others;
}

/** @param {{ parameters: Record<string, unknown> }} props */
function Parameters({ parameters }) {
  const entries = Object.entries(parameters).filter(([, value]) => value !== '');
  if (entries.length === 0) return null;
  return (
    <dl class="row parameters">
      {entries.map(([name, value]) => (
        <div key={name}>
          <dt>
            <Name text={name} />
          </dt>
          <dd>
            <Name text={shown(value)} max={1000} />
          </dd>
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
  const rest = Math.max(0, (constraint.values ?? []).length - VALUES_SHOWN);
  return (
    <li>
      <Sentence>{conditionOf(constraint, isWhole ? Number.POSITIVE_INFINITY : VALUES_SHOWN)}</Sentence>
      {rest === 0 || isWhole ? null : (
        <>
          {' '}
          <Button looks="quiet" act={() => setWhole(true)}>
            Show all
          </Button>
        </>
      )}
    </li>
  );
}
