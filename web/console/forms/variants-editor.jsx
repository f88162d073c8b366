/** Variants as rows: a name, a share that is fixed or part of the rest, and a payload. */
import { Button } from '../parts/button.jsx';
import { Shares } from '../parts/variants.jsx';
import { WEIGHT_TOTAL } from '../words.js';
import { AddRow } from './add-row.jsx';
import { Choice } from './choice.jsx';
import { field } from './field.js';
import { Issues } from './fields.jsx';
import { Check, TextArea, TextInput } from './inputs.jsx';
import { OverridesEditor } from './overrides-editor.jsx';
import { replaced } from './rows.js';

/** @import { Control, Variant } from '../types.d.ts' */

/** @type {readonly (readonly [string, string])[]} */
const PAYLOAD_TYPES = [
  ['', 'No payload'],
  ['string', 'Text'],
  ['json', 'JSON'],
  ['csv', 'CSV'],
  ['number', 'Number'],
];

/** The variants of what is edited. @param {string} at where the list stands in the body, with a slash behind it; empty for the body itself @param {(values: any) => string} stickinessOf new variants @param {string} [hint] */
export const variantsField = (at, stickinessOf, hint) =>
  field('variants', 'Variants', 'own', {
    ...(hint === undefined ? {} : { hint }),
    paths: [],
    missing: ({ variants }) => missingIn(variants, at),
    render: (control) => editorOf(control, at, stickinessOf(control.values)),
  });

/** @param {Control<{ variants: readonly Variant[] }>} control @param {string} at @param {string} stickiness */
function editorOf({ values: { variants: of }, set: change, issuesAt }, at, stickiness) {
  /** @param {readonly Variant[]} next */
  const set = (next) => change({ variants: weighted(next) });
  const add = () => set([...of, { name: '', weight: 0, weightType: 'variable', stickiness, overrides: [] }]);
  return (
    <div class="stack">
      {of.length === 0 ? null : <Shares weights={of.map(({ weight }) => weight)} />}
      {of.map((variant, index) => (
        <VariantRow
          key={index}
          of={variant}
          position={index + 1}
          change={(next) => set(replaced(of, index, next))}
          issues={issuesAt(`${at}${index}`)}
        />
      ))}
      <Issues of={sumIssues(of)} />
      <AddRow text="Add variant" add={add} />
    </div>
  );
}

/** Gives variants that are not fixed equal parts of what the fixed ones leave, so that all come to the whole. @param {readonly Variant[]} variants @returns {Variant[]} */
function weighted(variants) {
  const fixed = variants
    .filter(({ weightType }) => weightType === 'fix')
    .reduce((sum, { weight }) => sum + weight, 0);
  const count = variants.filter(({ weightType }) => weightType === 'variable').length;
  const rest = Math.max(0, WEIGHT_TOTAL - fixed);
  let given = 0;
  return variants.map((variant) => {
    if (variant.weightType === 'fix') return variant;
    given += 1;
    // The first ones take what does not divide.
    return { ...variant, weight: Math.floor(rest / count) + (given <= rest % count ? 1 : 0) };
  });
}

/** @param {readonly Variant[]} variants @param {string} at */
const missingIn = (variants, at) =>
  variants.flatMap(({ name }, index) =>
    name.trim() === '' ? [{ path: `/body/${at}${index}`, message: 'Name the variant.' }] : [],
  );

/** @param {readonly Variant[]} variants */
function sumIssues(variants) {
  const sum = variants.reduce((before, { weight }) => before + weight, 0);
  if (variants.length === 0 || sum === WEIGHT_TOTAL) return [];
  const percent = (sum * 100) / WEIGHT_TOTAL;
  return [`The shares add up to ${percent} %, not 100 %. Uncheck “fixed” for one of them: it gets the rest.`];
}

/** @param {{ of: Variant, position: number, change: (variant: Variant | null) => void, issues: readonly string[] }} props */
function VariantRow({ of, position, change, issues }) {
  const { name, weight, weightType, payload } = of;
  const isFixed = weightType === 'fix';
  return (
    <div class="box stack" role="group" aria-label={`Variant ${position}`}>
      <div class="row row-controls">
        <TextInput
          class="input row-field"
          aria-label="Name"
          placeholder="Name"
          aria-invalid={issues.length > 0 ? 'true' : undefined}
          value={name}
          change={(text) => change({ ...of, name: text })}
        />
        <label class="line share-input">
          <input
            class="input"
            type="number"
            min={0}
            max={100}
            step={0.1}
            aria-label="Share in percent"
            value={(weight * 100) / WEIGHT_TOTAL}
            onInput={({ currentTarget: { valueAsNumber } }) =>
              change({
                ...of,
                weightType: 'fix',
                weight: Math.round((valueAsNumber || 0) * (WEIGHT_TOTAL / 100)),
              })
            }
          />
          %
        </label>
        <Check
          text="fixed"
          checked={isFixed}
          change={(isOn) => change({ ...of, weightType: isOn ? 'fix' : 'variable' })}
        />
        <Choice
          options={PAYLOAD_TYPES}
          value={payload?.type ?? ''}
          change={(type) => change(withPayload(of, type, payload?.value ?? ''))}
          attributes={{ 'aria-label': 'Payload' }}
        />
        <Button looks="button row-remove" aria-label={`Remove variant ${position}`} act={() => change(null)}>
          ×
        </Button>
      </div>
      {payload === undefined ? null : (
        <PayloadEditor of={payload} change={(value) => change(withPayload(of, payload.type, value))} />
      )}
      <OverridesEditor of={of.overrides} change={(overrides) => change({ ...of, overrides })} />
      <Issues of={issues} />
    </div>
  );
}

/** @param {Variant} variant @param {string} type empty for none @param {string} value @returns {Variant} */
function withPayload({ payload: _, ...variant }, type, value) {
  if (type === '') return variant;
  return {
    ...variant,
    payload: { type: /** @type {NonNullable<Variant['payload']>['type']} */ (type), value },
  };
}

/** @param {{ of: NonNullable<Variant['payload']>, change: (value: string) => void }} props */
function PayloadEditor({ of: { type, value }, change }) {
  return (
    <>
      <TextArea
        class="input payload-input"
        rows={type === 'json' ? 4 : 2}
        aria-label="Value of the payload"
        value={value}
        change={change}
      />
      <Issues of={type === 'json' && !isJson(value) ? ['This is not valid JSON yet.'] : []} />
    </>
  );
}

/** @param {string} text */
function isJson(text) {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
