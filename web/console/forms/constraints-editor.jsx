/** Constraints as rows: a context field, how it is compared, and values of the kind that the comparison takes. */
import { useId, useState } from 'preact/hooks';
import { hasCase, NEW_CONSTRAINT, OPERATOR_GROUPS, valueKindOf, withOperator } from '../operators.js';
import { Button } from '../parts/button.jsx';
import { comparisonOf } from '../words.js';
import { AddRow } from './add-row.jsx';
import { field } from './field.js';
import { Issues } from './fields.jsx';
import { Check, TextArea, TextInput } from './inputs.jsx';
import { replaced, valuesIn } from './rows.js';

/** @import { ConstraintInput, ContextField, Control } from '../types.d.ts' */
/** @import { Operator } from '../operators.js' */

/** The constraints of what is edited. @param {string} label @param {readonly ContextField[]} fields @param {(values: any) => boolean} [when] */
export const constraintsField = (label, fields, when = () => true) =>
  field('constraints', label, 'own', {
    when,
    paths: [],
    missing: ({ constraints }) => missingInConstraints(constraints),
    render: (control) => <ConstraintsEditor control={control} fields={fields} />,
  });

/** @param {{ control: Control<{ constraints: readonly ConstraintInput[] }>, fields: readonly ContextField[] }} props */
function ConstraintsEditor({ control: { values, set, issuesAt }, fields }) {
  const of = values.constraints;
  /** @param {readonly ConstraintInput[]} constraints */
  const change = (constraints) => set({ constraints });
  const list = useId();
  return (
    <div class="stack">
      <datalist id={list}>
        {fields.map(({ name, description }) => (
          <option key={name} value={name}>
            {description}
          </option>
        ))}
      </datalist>
      {of.map((constraint, index) => (
        <ConstraintRow
          key={index}
          of={constraint}
          position={index + 1}
          field={fields.find(({ name }) => name === constraint.contextName)}
          fieldList={list}
          change={(next) => change(replaced(of, index, next))}
          issues={issuesAt(`constraints/${index}`)}
        />
      ))}
      <AddRow text="Add constraint" add={() => change([...of, NEW_CONSTRAINT])} />
    </div>
  );
}

/** @param {readonly ConstraintInput[]} constraints */
const missingInConstraints = (constraints) =>
  constraints.flatMap((one, index) => {
    const message = missingIn(one);
    return message === null ? [] : [{ path: `/body/constraints/${index}`, message }];
  });

/** @param {ConstraintInput} constraint */
function missingIn({ contextName, operator, values = [], value = '' }) {
  if (contextName.trim() === '') return 'Choose a context field.';
  if (valueKindOf(operator) === 'many') return values.length === 0 ? 'Add at least one value.' : null;
  return value === '' ? 'Add a value.' : null;
}

/**
 * @param {{ of: ConstraintInput, position: number, field: ContextField | undefined, fieldList: string, change: (constraint: ConstraintInput | null) => void, issues: readonly string[] }} props
 */
function ConstraintRow({ of, position, field, fieldList, change, issues }) {
  return (
    <div class="box stack" role="group" aria-label={`Constraint ${position}`}>
      <div class="row row-controls">
        <TextInput
          class="input row-field"
          aria-label="Context field"
          placeholder="Context field"
          aria-invalid={issues.length > 0 ? 'true' : undefined}
          list={fieldList}
          value={of.contextName}
          change={(contextName) => change({ ...of, contextName })}
        />
        <select
          class="input row-operator"
          aria-label="Comparison"
          value={of.operator}
          onChange={({ currentTarget: { value } }) =>
            change(withOperator(of, /** @type {Operator} */ (value)))
          }
        >
          {OPERATOR_GROUPS.map(([group, , operators]) => (
            <optgroup key={group} label={group}>
              {operators.map((operator) => (
                <option key={operator} value={operator} selected={operator === of.operator}>
                  {comparisonOf({ operator })}
                </option>
              ))}
            </optgroup>
          ))}
        </select>
        <Values of={of} field={field} change={change} />
        <Button
          looks="button row-remove"
          aria-label={`Remove constraint ${position}`}
          act={() => change(null)}
        >
          ×
        </Button>
      </div>
      <div class="row small">
        <Check
          text="Negate: true if this does not match"
          checked={of.inverted === true}
          change={(inverted) => change({ ...of, inverted })}
        />
        {hasCase(of.operator) ? (
          <Check
            text="Ignore case"
            checked={of.caseInsensitive === true}
            change={(caseInsensitive) => change({ ...of, caseInsensitive })}
          />
        ) : null}
      </div>
      <Issues of={issues} />
    </div>
  );
}

/** @type {Readonly<Record<'number' | 'time' | 'version' | 'text', Record<string, string>>>} */
const SINGLE = {
  number: { type: 'text', inputMode: 'decimal', placeholder: '18', 'aria-label': 'Number' },
  time: { type: 'datetime-local', 'aria-label': 'Time, UTC' },
  version: { type: 'text', placeholder: '2.0.0', 'aria-label': 'Version' },
  text: { type: 'text', placeholder: '^beta-', 'aria-label': 'Regular expression' },
};

/** @param {{ of: ConstraintInput, field: ContextField | undefined, change: (constraint: ConstraintInput) => void }} props */
function Values({ of, field, change }) {
  const kind = valueKindOf(of.operator);
  if (kind === 'many')
    return (
      <ManyValues
        key={of.operator}
        values={of.values ?? []}
        legal={field?.legalValues ?? []}
        change={(values) => change({ ...of, values })}
      />
    );
  const value = of.value ?? '';
  return (
    <TextInput
      {...SINGLE[kind]}
      class="input row-values"
      value={kind === 'time' ? value.slice(0, 16) : value}
      change={(text) => change({ ...of, value: kind === 'time' && text !== '' ? timeOf(text) : text })}
    />
  );
}

/** With or without its seconds. @param {string} text */
const timeOf = (text) => `${text}:00.000Z`.replace(/(:\d\d):\d\d:00/, '$1:00');

/** One value on each line, or separated by commas. @param {{ values: readonly string[], legal: ContextField['legalValues'], change: (values: string[]) => void }} props */
function ManyValues({ values, legal, change }) {
  // What is typed stays as it is typed: a trailing comma is on the way to the next value.
  const [text, setText] = useState(values.join(', '));
  if (legal.length > 0) {
    return (
      <div class="row row-values" role="group" aria-label="Values">
        {legal.map(({ value, description }) => (
          <Check
            key={value}
            text={value}
            title={description}
            checked={values.includes(value)}
            change={(isOn) => change(isOn ? [...values, value] : values.filter((one) => one !== value))}
          />
        ))}
      </div>
    );
  }
  return (
    <TextArea
      class="input row-values"
      rows={1}
      aria-label="Values, separated by commas"
      placeholder="NO, SE"
      value={text}
      change={(typed) => {
        setText(typed);
        change(valuesIn(typed));
      }}
    />
  );
}
