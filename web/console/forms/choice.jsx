/** A choice among few: the browser's own list, which every keyboard and phone knows. */
import { visible } from '../said.jsx';

/** @import { TargetedEvent } from 'preact' */

/**
 * @param {object} props
 * @param {readonly (readonly [value: string, text: string])[]} props.options
 * @param {string} props.value
 * @param {(value: string) => void} props.change
 * @param {Record<string, unknown>} [props.attributes] such as its label
 */
export function Choice({ options, value, change, attributes = {} }) {
  /** @param {TargetedEvent<HTMLSelectElement>} event */
  const onChange = (event) => change(event.currentTarget.value);
  // A value that is none of the options is shown, and not silently taken for the first one.
  /** @type {readonly (readonly [string, string])[]} */
  const known = options.some(([key]) => key === value) ? options : [[value, value], ...options];
  return (
    <select class="input" {...attributes} value={value} onChange={onChange}>
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

/** A choice that is called as its value is. @param {string} name @returns {[string, string]} */
export const asOption = (name) => [name, name];
