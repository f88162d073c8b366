/** The controls of a form, each with its label, its hint and what the server refused about it. */
import { useId } from 'preact/hooks';
import { Choice } from './choice.jsx';
import { Checks, TextArea, TextInput } from './inputs.jsx';

/** @import { ComponentChildren } from 'preact' */
/** @import { Field } from '../types.d.ts' */

/**
 * The rows of a form, without those that are left out for its values.
 * @param {{ fields: readonly Field<any>[], values: any, set: (changed: any) => void, issuesAt?: (path: string) => readonly string[] }} props
 */
export const FieldRows = ({ fields, values, set, issuesAt = () => [] }) =>
  fields
    .filter(({ when }) => when?.(values) !== false)
    .map((field) => <FieldRow key={`${field.name} ${field.label}`} {...{ field, values, set, issuesAt }} />);

/**
 * @param {{ field: Field<V>, values: V, set: (changed: Partial<V>) => void, issuesAt: (path: string) => readonly string[] }} props
 * @template {object} V
 */
function FieldRow({ field, values, set, issuesAt }) {
  const id = useId();
  const { kind = 'text', label, hint, name } = field;
  const issues = (field.paths ?? [name]).flatMap((path) => issuesAt(path));
  /** @param {unknown} value */
  const change = (value) => set(/** @type {Partial<V>} */ ({ [name]: value }));
  if (kind === 'own' || kind === 'many') {
    return (
      <fieldset class="field">
        <legend>{label}</legend>
        {hint === undefined ? null : <p class="hint">{hint}</p>}
        {kind === 'many' ? (
          <div class="many-options">
            <Checks
              options={field.options ?? []}
              chosen={/** @type {readonly string[]} */ (values[name])}
              change={change}
            />
            {field.options?.length ? null : <span class="muted">There are no options.</span>}
          </div>
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

/** The kinds of text of the browser, by those of fields. @type {Readonly<Record<string, string>>} */
const TYPES = { password: 'password', number: 'number', time: 'datetime-local' };

/**
 * @template {object} V
 * @param {{ field: Field<V>, value: unknown, props: Record<string, any>, change: (value: unknown) => void, listId: string }} options
 * @returns {ComponentChildren}
 */
function controlOf({ field, value, props, change, listId }) {
  const text = typeof value === 'string' || typeof value === 'number' ? String(value) : '';
  const typed = { ...props, value: text, autocomplete: field.autocomplete ?? 'off' };
  switch (field.kind) {
    case 'check':
      return (
        <input {...props} type="checkbox" checked={value === true} onChange={() => change(value !== true)} />
      );
    case 'choice':
      return <Choice options={field.options ?? []} value={text} change={change} attributes={props} />;
    case 'long-text':
    case 'lines':
      return <TextArea {...typed} rows={3} change={change} />;
    default:
      return (
        <>
          <TextInput
            {...typed}
            type={TYPES[field.kind ?? ''] ?? 'text'}
            {...(field.suggestions === undefined ? {} : { list: listId })}
            change={(text) =>
              change(field.kind !== 'number' ? text : text === '' ? Number.NaN : Number(text))
            }
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
