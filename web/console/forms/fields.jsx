/** The controls of a form, each with its label, its hint and what the server refused about it. */
import { useId } from 'preact/hooks';
import { Name } from '../said.jsx';
import { Choice } from './choice.jsx';

/** @import { ComponentChildren, TargetedEvent } from 'preact' */
/** @import { Field } from '../types.d.ts' */

/**
 * @template {object} V
 * @param {object} props
 * @param {Field<V>} props.field
 * @param {V} props.values
 * @param {(changed: Partial<V>) => void} props.set
 * @param {(path: string) => readonly string[]} props.issuesAt
 */
export function FieldRow({ field, values, set, issuesAt }) {
  const id = useId();
  const { kind = 'text', label, hint, name } = field;
  const issues = (field.paths ?? [name]).flatMap((path) => issuesAt(path));
  if (kind === 'own' || kind === 'many') {
    return (
      <fieldset class="field">
        <legend>{label}</legend>
        {hint === undefined ? null : <p class="hint">{hint}</p>}
        {kind === 'many' ? (
          <Many
            options={field.options ?? []}
            chosen={values[name]}
            change={(value) => set(/** @type {Partial<V>} */ ({ [name]: value }))}
          />
        ) : (
          field.render?.({ id, values, set, issuesAt })
        )}
        <Issues id={`${id}-issues`} of={issues} />
      </fieldset>
    );
  }
  const described = [hint === undefined ? null : `${id}-hint`, issues.length === 0 ? null : `${id}-issues`];
  const props = {
    id,
    name,
    required: field.required === true,
    disabled: field.fixed === true,
    'aria-invalid': issues.length > 0 ? /** @type {const} */ ('true') : undefined,
    'aria-describedby': described.filter((part) => part !== null).join(' ') || undefined,
  };
  /** @param {unknown} value */
  const change = (value) => set(/** @type {Partial<V>} */ ({ [name]: value }));
  const control = controlOf({ field, value: values[name], props, change, listId: `${id}-list` });
  const hintLine =
    hint === undefined ? null : (
      <p id={`${id}-hint`} class="hint">
        {hint}
      </p>
    );
  const parts =
    kind === 'check'
      ? [
          <label class="check" for={id}>
            {control}
            {label}
          </label>,
          hintLine,
        ]
      : [<label for={id}>{label}</label>, control, hintLine];
  return (
    <div class="field">
      {parts}
      <Issues id={`${id}-issues`} of={issues} />
    </div>
  );
}

/** @param {{ id?: string, of: readonly string[] }} props */
export function Issues({ id, of }) {
  if (of.length === 0) return null;
  return (
    <p id={id} class="problem" role="alert">
      {[...new Set(of)].join(' ')}
    </p>
  );
}

/**
 * @template {object} V
 * @param {{ field: Field<V>, value: unknown, props: Record<string, any>, change: (value: unknown) => void, listId: string }} options
 * @returns {ComponentChildren}
 */
function controlOf({ field, value, props, change, listId }) {
  const text = typeof value === 'string' || typeof value === 'number' ? String(value) : '';
  const { autocomplete = 'off' } = field;
  const typed = { ...props, value: text, autocomplete, spellcheck: false };
  /** @param {TargetedEvent<HTMLInputElement | HTMLTextAreaElement>} event */
  const onText = (event) => change(event.currentTarget.value);
  switch (field.kind) {
    case 'check':
      return (
        <input
          {...props}
          type="checkbox"
          checked={value === true}
          onChange={(event) => change(event.currentTarget.checked)}
        />
      );
    case 'choice':
      return <Choice options={field.options ?? []} value={text} change={change} attributes={props} />;
    case 'long-text':
    case 'lines':
      return <textarea {...typed} class="input" rows={3} onInput={onText} />;
    case 'password':
      return <input {...typed} type="password" class="input" onInput={onText} />;
    case 'number':
      return (
        <input
          {...typed}
          type="number"
          class="input"
          onInput={(event) => change(event.currentTarget.valueAsNumber)}
        />
      );
    case 'time':
      return <input {...typed} type="datetime-local" class="input" onInput={onText} />;
    default:
      return (
        <>
          <input
            {...typed}
            type="text"
            class="input"
            {...(field.suggestions === undefined ? {} : { list: listId })}
            onInput={onText}
          />
          {field.suggestions === undefined ? null : (
            <datalist id={listId}>
              {field.suggestions.map((one) => (
                <option key={one} value={one} />
              ))}
            </datalist>
          )}
        </>
      );
  }
}

/** @param {{ options: NonNullable<Field<any>['options']>, chosen: unknown, change: (value: unknown) => void }} props */
function Many({ options, chosen, change }) {
  const keys = new Set(/** @type {readonly string[]} */ (chosen));
  /** @param {string} key */
  const turn = (key) => change(options.map(([one]) => one).filter((one) => (one === key) !== keys.has(one)));
  return (
    <div class="legal many-options">
      {options.map(([key, text]) => (
        <label key={key} class="check">
          <input type="checkbox" checked={keys.has(key)} onChange={() => turn(key)} />
          <Name text={text} />
        </label>
      ))}
      {options.length === 0 ? <span class="muted">There is nothing to choose from.</span> : null}
    </div>
  );
}
