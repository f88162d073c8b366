/** For whom a variant is theirs whatever their share: values of context fields, one row for each field. */

import { replaced, valuesIn } from './rows.js';

/** @import { TargetedEvent } from 'preact' */
/** @import { Variant } from '../types.d.ts' */

/** @typedef {Variant['overrides'][number]} Override */

/** @param {{ of: readonly Override[], change: (overrides: Override[]) => void }} props */
export function OverridesEditor({ of, change }) {
  return [
    ...of.map((override, index) => (
      <OverrideRow
        key={index}
        of={override}
        position={index + 1}
        change={(next) => change(replaced(of, index, next))}
      />
    )),
    <button
      key="add"
      type="button"
      class="quiet row-add"
      onClick={() => change([...of, { contextName: 'userId', values: [] }])}
    >
      Always for somebody
    </button>,
  ];
}

/** @param {{ of: Override, position: number, change: (override: Override | null) => void }} props */
function OverrideRow({ of, position, change }) {
  const { contextName, values } = of;
  /** @param {TargetedEvent<HTMLInputElement>} event */
  const onField = (event) => change({ contextName: event.currentTarget.value, values });
  /** @param {TargetedEvent<HTMLInputElement>} event */
  const onValues = (event) => change({ contextName, values: valuesIn(event.currentTarget.value) });
  return (
    <div class="row-controls" role="group" aria-label={`Always for, ${position}`}>
      <input
        class="input row-field"
        aria-label="Context field"
        placeholder="Context field"
        value={contextName}
        autocomplete="off"
        spellcheck={false}
        onInput={onField}
      />
      {/* What is typed stays as it is typed while it says the same: a trailing comma is on the way to the next value. */}
      <input
        class="input row-values"
        aria-label="Values, separated by commas"
        placeholder="ada, grace"
        defaultValue={values.join(', ')}
        autocomplete="off"
        spellcheck={false}
        onInput={onValues}
      />
      <button
        type="button"
        class="button row-remove"
        aria-label={`Remove “always for” ${position}`}
        onClick={() => change(null)}
      >
        ×
      </button>
    </div>
  );
}
