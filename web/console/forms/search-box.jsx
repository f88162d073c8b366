/** A field for words that narrow what is listed. */

/** @import { TargetedEvent } from 'preact' */

/** @param {{ label: string, placeholder: string, value: string, change: (value: string) => void }} props */
export function SearchBox({ label, placeholder, value, change }) {
  /** @param {TargetedEvent<HTMLInputElement>} event */
  const onInput = (event) => change(event.currentTarget.value);
  return (
    <input
      type="search"
      class="filter"
      placeholder={placeholder}
      aria-label={label}
      autocomplete="off"
      spellcheck={false}
      value={value}
      onInput={onInput}
    />
  );
}
