/** A button, which looks like one unless `looks` gives it other classes. */
import { useState } from 'preact/hooks';

/** @import { ButtonHTMLAttributes } from 'preact' */

/** Whether what was begun is not done yet, and what begins something else only then: on a slow server people press again. */
export function useOnce() {
  const [isBusy, setBusy] = useState(false);
  /** @param {() => unknown} act */
  async function once(act) {
    if (isBusy) return;
    setBusy(true);
    try {
      await act();
    } finally {
      setBusy(false);
    }
  }
  return /** @type {const} */ ([isBusy, once]);
}

/** @param {Omit<ButtonHTMLAttributes, 'type' | 'class' | 'onClick'> & { act: () => unknown, looks?: string }} props */
export function Button({ act, looks = 'button', children, ...others }) {
  const [isBusy, once] = useOnce();
  return (
    <button
      type="button"
      aria-busy={isBusy || undefined}
      {...others}
      class={looks}
      onClick={() => void once(act)}
    >
      {children}
    </button>
  );
}
