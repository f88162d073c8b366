/** The small controls that forms and lists are made of. */
import { Name } from '../said.jsx';

/** @import { ComponentChildren } from 'preact' */

/** @param {{ change: (text: string) => void } & Record<string, any>} props with attributes of the element */
export const TextInput = ({ change, ...others }) => (
  <input
    {...{ type: 'text', class: 'input', autocomplete: 'off', spellcheck: false, ...others }}
    onInput={({ currentTarget: { value } }) => change(value)}
  />
);

/**
 * For words that narrow what is listed.
 * @param {{ label: string, placeholder: string, value: string, change: (text: string) => void }} props
 */
export const SearchBox = ({ label, ...others }) => (
  <TextInput type="search" class="filter" aria-label={label} {...others} />
);

/** @param {{ text: ComponentChildren, checked: boolean, change: (checked: boolean) => void, title?: string | undefined }} props */
export const Check = ({ text, checked, change, title }) => (
  <label class="check" title={title}>
    <input type="checkbox" checked={checked} onChange={() => change(!checked)} />
    {text}
  </label>
);

/**
 * Those that are chosen among some, in their order; chosen ones that are not offered stay so.
 * @param {{ options: readonly (readonly [key: string, text: string])[], chosen: readonly string[], change: (chosen: string[]) => void }} props
 */
export function Checks({ options, chosen, change }) {
  const keys = options.map(([key]) => key);
  const others = chosen.filter((one) => !keys.includes(one));
  return options.map(([key, text]) => (
    <Check
      key={key}
      text={<Name text={text} />}
      checked={chosen.includes(key)}
      change={(isOn) =>
        change([...others, ...keys.filter((one) => (one === key ? isOn : chosen.includes(one)))])
      }
    />
  ));
}
