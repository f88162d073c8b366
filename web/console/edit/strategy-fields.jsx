/** The fields of a strategy's dialog. Which of them are shown depends on its kind. */
import { asOptions } from '../forms/choice.jsx';
import { ConstraintsEditor, missingInConstraints } from '../forms/constraints-editor.jsx';
import { Checks, TextInput } from '../forms/inputs.jsx';
import { missingInVariants, VariantsEditor } from '../forms/variants-editor.jsx';
import { kindOf } from '../words.js';

/** @import { TargetedEvent } from 'preact' */
/** @import { Control, Edit, Field, StrategyType } from '../types.d.ts' */
/** @import { Choices, StrategyValues } from './strategy-edits.jsx' */

const [ROLLOUT, TARGETING, VARIANTS] = ['Rollout', 'Targeting', 'Variants'];

/** The tabs of the dialog, and how much is on those that may be empty. @type {NonNullable<Edit<StrategyValues>['tabs']>} */
export const STRATEGY_TABS = [
  [ROLLOUT, () => 0],
  [TARGETING, ({ constraints, segments }) => constraints.length + segments.length],
  [VARIANTS, ({ variants }) => variants.length],
];

/** Beside the context fields that may be sticky. */
const STICKINESS = ['default', 'userId', 'sessionId', 'random'];

/** @param {StrategyValues} values */
const isRollout = ({ name }) => name === 'flexibleRollout';

/** @param {Choices} choices @returns {readonly Field<StrategyValues>[]} */
export function strategyFields({ types, segments, fields }) {
  const sticky = fields.filter(({ stickiness }) => stickiness).map(({ name }) => name);
  /** @type {readonly (readonly [string, string])[]} */
  const options = types.filter(({ deprecated }) => !deprecated).map(({ name }) => [name, kindOf(name)]);
  /** @type {readonly Field<StrategyValues>[]} */
  const rollout = [
    { name: 'name', label: 'Type', kind: 'choice', options },
    { name: 'title', label: 'Title', hint: 'Optional: a name for this strategy.' },
    {
      name: 'rollout',
      label: 'Share of users',
      kind: 'own',
      paths: ['parameters/rollout'],
      when: isRollout,
      render: rolloutControl,
    },
    {
      name: 'stickiness',
      label: 'Stickiness',
      hint: 'Keeps a user’s result consistent, keyed on this field.',
      suggestions: [...new Set([...STICKINESS, ...sticky])],
      paths: ['parameters/stickiness'],
      when: isRollout,
    },
    {
      name: 'groupId',
      label: 'Group',
      hint: 'Flags in the same group bucket users identically.',
      paths: ['parameters/groupId'],
      when: isRollout,
    },
    {
      name: 'parameters',
      label: 'Parameters',
      kind: 'own',
      when: (values) => parametersOf(types, values).length > 0,
      render: (control) => parameterControls(types, control),
    },
    { name: 'disabled', label: 'Disabled', kind: 'check' },
  ];
  return [
    ...rollout.map((field) => ({ ...field, tab: ROLLOUT })),
    {
      name: 'constraints',
      tab: TARGETING,
      label: 'Constraints: all must be true',
      kind: 'own',
      render: ({ values, set, issuesAt }) => (
        <ConstraintsEditor
          of={values.constraints}
          change={(constraints) => set({ constraints })}
          fields={fields}
          issuesAt={issuesAt}
        />
      ),
      paths: [],
      missing: ({ constraints }) => missingInConstraints(constraints),
    },
    {
      name: 'segments',
      tab: TARGETING,
      label: 'Segments: users must be in all',
      kind: 'own',
      when: () => segments.length > 0,
      render: (control) => segmentControls(segments, control),
    },
    {
      name: 'variants',
      tab: VARIANTS,
      label: 'Variants',
      kind: 'own',
      render: ({ values, set, issuesAt }) => (
        <VariantsEditor
          of={values.variants}
          change={(variants) => set({ variants })}
          stickiness={values.stickiness}
          issuesAt={issuesAt}
          at="variants"
        />
      ),
      missing: ({ variants }) => missingInVariants(variants, 'variants/'),
      paths: [],
    },
  ];
}

/** @param {Control<StrategyValues>} control */
function rolloutControl({ values: { rollout }, set }) {
  /** @param {TargetedEvent<HTMLInputElement>} event */
  const onInput = (event) =>
    set({ rollout: Math.min(100, Math.max(0, Math.round(event.currentTarget.valueAsNumber || 0))) });
  const range = { min: 0, max: 100, step: 1, value: rollout, onInput };
  return (
    <div class="row">
      <input {...range} type="range" aria-label="Share of users in percent" />
      <label class="share-input">
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
