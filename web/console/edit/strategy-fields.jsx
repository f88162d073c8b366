/** The fields of a strategy's dialog. Which of them are shown depends on its kind. */
import { asOptions } from '../forms/choice.jsx';
import { constraintsField } from '../forms/constraints-editor.jsx';
import { field } from '../forms/field.js';
import { FieldRows } from '../forms/fields.jsx';
import { Checks, TextInput } from '../forms/inputs.jsx';
import { variantsField } from '../forms/variants-editor.jsx';
import { Sentence, said } from '../said.jsx';
import { kindOf, kindText, percentOf } from '../words.js';

/** @import { TargetedEvent } from 'preact' */
/** @import { Control, Edit, Field, StrategyType } from '../types.d.ts' */
/** @import { Choices, StrategyValues } from './strategy-edits.jsx' */

const [AUDIENCE, VARIANTS] = ['Who gets it', 'Variants'];

/** The tabs of the dialog, and how much is on those that may be empty. @type {NonNullable<Edit<StrategyValues>['tabs']>} */
export const STRATEGY_TABS = [
  [AUDIENCE, () => 0],
  [VARIANTS, ({ variants }) => variants.length],
];

/** The first choice of a strategy; `targets`: whom its constraints and segments select. @type {readonly (readonly [StrategyValues['who'], string])[]} */
const AUDIENCES = [
  ['off', 'Off'],
  ['everyone', 'Everyone'],
  ['share', 'A share'],
  ['targets', 'Targets'],
];

/** Beside the context fields that may be sticky. */
const STICKINESS = ['default', 'userId', 'sessionId', 'random'];

/** @param {StrategyValues} values */
const isRollout = ({ name }) => name === 'flexibleRollout';

/** @param {Choices} choices @returns {readonly Field<any>[]} */
export function strategyFields({ types, segments, fields }) {
  const sticky = fields.filter(({ stickiness }) => stickiness).map(({ name }) => name);
  /** @type {readonly (readonly [string, string])[]} */
  const options = types.filter(({ deprecated }) => !deprecated).map(({ name }) => [name, kindOf(name)]);
  /** @type {readonly Field<any>[]} */
  const rare = [
    field('name', 'Type', 'choice', { options }),
    field('stickiness', 'Stickiness', 'text', {
      hint: 'Keeps a user’s result consistent, keyed on this field.',
      suggestions: [...new Set([...STICKINESS, ...sticky])],
      when: isRollout,
    }),
    field('groupId', 'Group', 'text', {
      hint: 'Flags in the same group bucket users identically.',
      when: isRollout,
    }),
  ];
  /** @type {readonly Field<any>[]} */
  const audience = [
    field('who', 'Who gets it', 'own', { paths: ['disabled'], render: audienceControl }),
    field('rollout', 'Share of users', 'own', {
      paths: ['parameters/rollout'],
      when: (values) => isRollout(values) && values.who !== 'off',
      render: rolloutControl,
    }),
    field('parameters', 'Parameters', 'own', {
      when: (values) => parametersOf(types, values).length > 0,
      render: (control) => parameterControls(types, control),
    }),
    constraintsField('Constraints: all must be true', fields, hasTargets),
    field('segments', 'Segments: users must be in all', 'own', {
      when: (values) => segments.length > 0 && hasTargets(values),
      render: (control) => segmentControls(segments, control),
    }),
    field('title', 'Title', 'text', { hint: 'Optional: a name for this strategy.' }),
    field('groupId', 'Type and stickiness', 'own', {
      paths: ['name', 'parameters/stickiness', 'parameters/groupId'],
      render: ({ values, set }) => (
        <details>
          <summary>
            <Sentence>{rareText(values)}</Sentence>
          </summary>
          <FieldRows fields={rare} values={values} set={(changed) => set(withAudience(changed, values))} />
        </details>
      ),
    }),
  ];
  return [
    ...audience.map((one) => ({ ...one, tab: AUDIENCE })),
    { ...variantsField('variants/', ({ stickiness }) => stickiness), tab: VARIANTS },
  ];
}

/** @param {StrategyValues} values */
const hasTargets = ({ who }) => who === 'targets';

/** Says what is seldom changed. @param {StrategyValues} values */
function rareText({ name, stickiness, groupId }) {
  if (name !== 'flexibleRollout') return `${kindText(name)}.`;
  const key = stickiness === 'default' ? 'their id, else their session' : said(stickiness);
  return `Gradual rollout: users keep their result by ${key}, in the group ${said(groupId || '…')}.`;
}

/** @param {Control<StrategyValues>} control */
const audienceControl = ({ id, values, set }) => (
  <div class="row">
    {AUDIENCES.map(([who, text]) => (
      <label key={who} class="check">
        <input
          type="radio"
          name={`${id}-who`}
          checked={values.who === who}
          onChange={() => set(choosing(who, values))}
        />
        {text}
      </label>
    ))}
  </div>
);

/** Returns the values that follow from a choice; hidden ones stay, should they be needed again. @param {StrategyValues['who']} who @param {StrategyValues} values @returns {Partial<StrategyValues>} */
function choosing(who, { name, rollout }) {
  if (who === 'everyone') return { who, rollout: 100, ...(name === 'default' ? {} : ROLLOUT) };
  return who === 'share' ? { who, rollout: rollout === 100 ? 50 : rollout, ...ROLLOUT } : { who };
}

const ROLLOUT = { name: 'flexibleRollout' };

/** Another type selects users in its own way. @param {Partial<StrategyValues>} changed @param {StrategyValues} values @returns {Partial<StrategyValues>} */
const withAudience = (changed, { who }) =>
  changed.name === undefined || changed.name === ROLLOUT.name || who === 'off'
    ? changed
    : { ...changed, who: 'targets' };

/** @param {Control<StrategyValues>} control */
function rolloutControl({ values: { rollout, who }, set }) {
  /** @param {TargetedEvent<HTMLInputElement>} event */
  const onInput = ({ currentTarget: { valueAsNumber } }) =>
    set({
      rollout: percentOf(Math.round(valueAsNumber)),
      ...(who === 'everyone' ? { who: 'share' } : {}),
    });
  const range = { min: 0, max: 100, step: 1, value: rollout, onInput };
  return (
    <div class="row">
      <input {...range} type="range" aria-label="Share of users in percent" />
      <label class="line share-input">
        <input {...range} type="number" class="input" aria-label="Share of users as a number" />%
      </label>
    </div>
  );
}

/** @param {readonly StrategyType[]} types @param {StrategyValues} values */
function parametersOf(types, { name }) {
  return name === 'flexibleRollout' ? [] : (types.find((type) => type.name === name)?.parameters ?? []);
}

/** @param {readonly StrategyType[]} types @param {Control<StrategyValues>} control */
function parameterControls(types, { id, values, set, issuesAt }) {
  return parametersOf(types, values).map(({ name, description, required, type }) => {
    const issues = issuesAt(`parameters/${name}`);
    return (
      <div key={name} class="field">
        <label for={`${id}-${name}`}>{name}</label>
        <TextInput
          id={`${id}-${name}`}
          inputMode={type === 'number' || type === 'percentage' ? 'decimal' : 'text'}
          required={required}
          value={String(values.parameters[name] ?? '')}
          aria-invalid={issues.length > 0 ? 'true' : undefined}
          change={(text) => set({ parameters: { ...values.parameters, [name]: text } })}
        />
        {description === '' ? null : <p class="hint">{description}</p>}
      </div>
    );
  });
}

/** @param {Choices['segments']} segments @param {Control<StrategyValues>} control */
const segmentControls = (segments, { values, set }) => (
  <div class="row">
    <Checks
      options={asOptions(segments)}
      chosen={values.segments.map(String)}
      change={(ids) => set({ segments: ids.map(Number) })}
    />
  </div>
);
