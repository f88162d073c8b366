/** The small controls that forms and lists are made of. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { useQuery } from '../place.js';
import { Name } from '../said.jsx';

/** @import { ComponentChildren } from 'preact' */

/** @param {{ change: (text: string) => void } & Record<string, any>} props with attributes of the element */
export const TextInput = ({ change, ...others }) => (
  <input
    {...{ type: 'text', class: 'input', autocomplete: 'off', spellcheck: false, ...others }}
    onInput={({ currentTarget: { value } }) => change(value)}
  />
);

/** The same of many lines. @param {{ change: (text: string) => void } & Record<string, any>} props with attributes of the element */
export const TextArea = ({ change, ...others }) => (
  <textarea
    {...{ class: 'input', spellcheck: false, ...others }}
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

/** Milliseconds without a key after which the address has what is typed: a search may read the whole log. */
const TYPING_MS = 250;

/** Words that narrow what is listed, as the part `query` of the query of the address. @param {{ label: string, placeholder: string }} props */
export function QuerySearch(props) {
  const { get, set } = useQuery();
  const stands = get('query');
  /** Typed text that the address does not have yet. */
  const [typed, setTyped] = useState(/** @type {string | null} */ (null));
  const timer = useRef(0);
  // A link may have led to another one.
  useEffect(
    () => () => {
      setTyped(null);
      clearTimeout(timer.current);
    },
    [stands],
  );
  /** @param {string} text */
  function change(text) {
    setTyped(text);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => {
      setTyped(null);
      set({ query: text });
    }, TYPING_MS);
  }
  return <SearchBox {...props} value={typed ?? stands} change={change} />;
}

/** @param {{ text: ComponentChildren, checked: boolean, change: (checked: boolean) => void, title?: string | undefined }} props */
export const Check = ({ text, checked, change, title }) => (
  <label class="check" title={title}>
    <input type="checkbox" checked={checked} onChange={() => change(!checked)} />
    {text}
  </label>
);

/**
 * The things that are chosen among some, in their order; chosen ones that are not offered stay so.
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
