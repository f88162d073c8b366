/** The button below rows that adds another one, which gets the focus. */

/** @import { TargetedMouseEvent } from 'preact' */

/** @param {{ text: string, add: () => void, looks?: string }} props */
export function AddRow({ text, add, looks = 'button' }) {
  /** @param {TargetedMouseEvent<HTMLButtonElement>} event */
  function onClick({ currentTarget }) {
    add();
    setTimeout(() => {
      const rows = currentTarget.parentElement?.querySelectorAll(':scope > [role=group]');
      const field = [...(rows ?? [])].at(-1)?.querySelector('input');
      field?.focus();
    });
  }
  return (
    <button type="button" class={`${looks} row-add`} onClick={onClick}>
      {text}
    </button>
  );
}
