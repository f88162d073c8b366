/** For whom a variant is theirs whatever their share: values of context fields, one row for each field. */
import { Button } from '../parts/button.jsx';
import { AddRow } from './add-row.jsx';
import { TextInput } from './inputs.jsx';
import { replaced, valuesIn } from './rows.js';

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
    <AddRow
      key="add"
      text="Always for specific users"
      add={() => change([...of, { contextName: 'userId', values: [] }])}
      looks="quiet"
    />,
  ];
}

/** @param {{ of: Override, position: number, change: (override: Override | null) => void }} props */
function OverrideRow({ of, position, change }) {
  const { contextName, values } = of;
  return (
    <div class="row row-controls" role="group" aria-label={`Always for, ${position}`}>
      <TextInput
        class="input row-field"
        aria-label="Context field"
        placeholder="Context field"
        value={contextName}
        change={(text) => change({ contextName: text, values })}
      />
      {/* What is typed stays as it is typed while it says the same: a trailing comma is on the way to the next value. */}
      <TextInput
        class="input row-values"
        aria-label="Values, separated by commas"
        placeholder="ada, grace"
        defaultValue={values.join(', ')}
        change={(text) => change({ contextName, values: valuesIn(text) })}
      />
      <Button
        looks="button row-remove"
        aria-label={`Remove “always for” ${position}`}
        act={() => change(null)}
      >
        ×
      </Button>
    </div>
  );
}
