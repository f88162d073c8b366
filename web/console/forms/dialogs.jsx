/** Dialogs above the page. The newest lies on top; the browser keeps the focus in it and gives it back after. */
import { signal } from '@preact/signals';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';
import { Sentence } from '../said.jsx';

/** @import { ComponentChildren } from 'preact' */

/** @typedef {{ id: number, render: (close: () => void) => ComponentChildren, closed: () => void }} Opened */

/** @type {import('@preact/signals').Signal<readonly Opened[]>} */
const opened = signal([]);
let lastId = 0;

/**
 * Resolves once the dialog is closed, which also happens when the page moves on.
 * @param {(close: () => void) => ComponentChildren} render
 * @returns {Promise<void>}
 */
export function openDialog(render) {
  lastId += 1;
  const id = lastId;
  return new Promise((resolve) => {
    opened.value = [...opened.value, { id, render, closed: resolve }];
  });
}

/** @param {number} id */
function close(id) {
  const one = opened.value.find((dialog) => dialog.id === id);
  opened.value = opened.value.filter((dialog) => dialog.id !== id);
  one?.closed();
}

/** Whether something is being made, edited or asked. */
export const isDialogOpen = () => opened.value.length > 0;

export function closeDialogs() {
  for (const { id } of opened.value) close(id);
}

export function Dialogs() {
  return opened.value.map(({ id, render }) => <div key={id}>{render(() => close(id))}</div>);
}

/**
 * @param {{ title: string, close: () => void, isWide?: boolean, isFirm?: boolean, children?: ComponentChildren }} props `isFirm`: whether Escape leaves it open
 */
export function Modal({ title, close, isWide = false, isFirm = false, children }) {
  const dialog = useRef(/** @type {HTMLDialogElement | null} */ (null));
  const heading = useId();
  useLayoutEffect(() => {
    const element = dialog.current;
    const before = document.activeElement;
    element?.showModal();
    const first = element?.querySelector('[data-first]');
    if (first instanceof HTMLElement) first.focus();
    return () => {
      // As long as it is open, nothing beside it takes the focus.
      element?.close();
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  return (
    <dialog
      ref={dialog}
      class={`question${isWide ? ' question-wide' : ''}`}
      aria-labelledby={heading}
      onClose={close}
      onCancel={(event) => {
        if (isFirm) event.preventDefault();
      }}
    >
      <h2 id={heading}>
        <Sentence>{title}</Sentence>
      </h2>
      {children}
    </dialog>
  );
}
