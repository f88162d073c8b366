/** A choice among few: the browser's own list, which every keyboard and phone knows. */
import { useQuery } from '../place.js';
import { visible } from '../said.jsx';

/**
 * @param {{ options: readonly (readonly [value: string, text: string])[], value: string, change: (value: string) => void, disabled?: boolean, attributes?: Record<string, unknown> }} props `attributes`: such as its label
 */
export function Choice({ options, value, change, disabled = false, attributes = {} }) {
  // A value that is none of the options is shown, and not silently taken for the first one.
  /** @type {readonly (readonly [string, string])[]} */
  const known = options.some(([key]) => key === value) ? options : [[value, value], ...options];
  return (
    <select
      class="input"
      {...attributes}
      disabled={disabled}
      value={value}
      onChange={({ currentTarget }) => change(currentTarget.value)}
    >
      {known.map(([key, text]) => (
        <option key={key} value={key} selected={key === value}>
          {visible(text)}
        </option>
      ))}
    </select>
  );
}

/** A choice beside a list or a figure, of which its label says what it does. @param {{ label: string } & Omit<Parameters<typeof Choice>[0], 'attributes'>} props */
export const Filter = ({ label, ...props }) => (
  <Choice {...props} attributes={{ class: 'filter', 'aria-label': label }} />
);

/**
 * The same of a part of the query of the address; `any`: what it is called, and what it says while it is not set.
 * @param {{ name: string, any: string, options: readonly (readonly [string, string])[], label?: string }} props
 */
export function QueryFilter({ name, any, options, label = any }) {
  const { get, set } = useQuery();
  return (
    <Filter
      label={label}
      options={[['', any], ...options]}
      value={get(name)}
      change={(value) => set({ [name]: value })}
    />
  );
}

/**
 * A choice of things that are called by a name, and meant by an id.
 * @param {readonly { readonly id: string | number, readonly name: string }[]} list
 * @returns {[string, string][]}
 */
export const asOptions = (list) => list.map(({ id, name }) => [String(id), name]);

/** A choice that is called as its value is. @param {string} name @returns {[string, string]} */
export const asOption = (name) => [name, name];
