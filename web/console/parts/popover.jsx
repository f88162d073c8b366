/** What is seldom needed, below a word that opens it. Escape and a press elsewhere close it. */
import { useEffect, useRef } from 'preact/hooks';

/** @import { ComponentChildren, TargetedKeyboardEvent, TargetedMouseEvent } from 'preact' */

/** To the edge of the window, in pixels. */
const MARGIN = 12;

/** @param {{ title: ComponentChildren, label?: string, looks?: string, onOpen?: () => void, children?: ComponentChildren }} props `label`: what it is called where no word opens it */
export function Popover({ title, label, looks = '', onOpen, children }) {
  const details = useRef(/** @type {HTMLDetailsElement | null} */ (null));
  useEffect(() => {
    /** @param {Event} event */
    const onPress = ({ target }) => {
      const element = details.current;
      if (element !== null && target instanceof Node && !element.contains(target)) element.open = false;
    };
    addEventListener('pointerdown', onPress);
    return () => removeEventListener('pointerdown', onPress);
  }, []);
  /**
   * Opens the content within the window, or closes it. The event `toggle` would come after the content was seen elsewhere.
   *
   * @param {TargetedMouseEvent<HTMLElement>} event
   */
  function onClick(event) {
    event.preventDefault();
    const element = details.current;
    const content = element?.querySelector('.popover-content');
    if (!element || !(content instanceof HTMLElement)) return;
    element.open = !element.open;
    if (element.open) onOpen?.();
    content.style.setProperty('--shift', '0px');
    const over = content.getBoundingClientRect().right + MARGIN - document.documentElement.clientWidth;
    content.style.setProperty('--shift', `${Math.max(0, over)}px`);
  }
  /** @param {TargetedKeyboardEvent<HTMLDetailsElement>} event */
  function onKeyDown(event) {
    if (event.key !== 'Escape') return;
    event.currentTarget.open = false;
    event.currentTarget.querySelector('summary')?.focus();
  }
  return (
    <details class={`popover ${looks}`} ref={details} onKeyDown={onKeyDown}>
      <summary class="button" aria-label={label} title={label} onClick={onClick}>
        {title}
      </summary>
      <div class="popover-content">{children}</div>
    </details>
  );
}
