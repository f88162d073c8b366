/** A box of what is seldom needed, below a word that opens it. Escape and a press elsewhere close it. */
import { useEffect, useRef, useState } from 'preact/hooks';

/** @import { ComponentChildren, TargetedKeyboardEvent, TargetedMouseEvent } from 'preact' */

/** To the edge of the window, in pixels. */
const MARGIN = 12;

/** To what opens it, in pixels. */
const GAP = 4;

/** @param {{ title: ComponentChildren, label?: string, looks?: string, onOpen?: () => void, children?: ComponentChildren }} props `label`: what it is called where no word opens it */
export function Popover({ title, label, looks = '', onOpen, children }) {
  const details = useRef(/** @type {HTMLDetailsElement | null} */ (null));
  const content = useRef(/** @type {HTMLDivElement | null} */ (null));
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    if (!isOpen) return;
    /** @param {Event} event */
    const onPress = ({ target }) => {
      const element = details.current;
      if (element !== null && target instanceof Node && !element.contains(target)) element.open = false;
    };
    const onMove = () => place(details.current, content.current);
    addEventListener('pointerdown', onPress);
    addEventListener('scroll', onMove, { capture: true, passive: true });
    addEventListener('resize', onMove);
    return () => {
      removeEventListener('pointerdown', onPress);
      removeEventListener('scroll', onMove, { capture: true });
      removeEventListener('resize', onMove);
    };
  }, [isOpen]);
  /**
   * Opens the content, or closes it. The event `toggle` would come after the content was seen elsewhere.
   * @param {TargetedMouseEvent<HTMLElement>} event
   */
  function onClick(event) {
    event.preventDefault();
    const element = details.current;
    if (element === null) return;
    element.open = !element.open;
    if (!element.open) return;
    onOpen?.();
    show();
  }
  /** Above everything, because a table that scrolls would cut it off. */
  function show() {
    content.current?.showPopover();
    place(details.current, content.current);
  }
  /** @param {TargetedKeyboardEvent<HTMLDetailsElement>} event */
  function onKeyDown(event) {
    if (event.key !== 'Escape') return;
    event.currentTarget.open = false;
    event.currentTarget.querySelector('summary')?.focus();
  }
  return (
    <details
      class={`popover ${looks}`}
      ref={details}
      onKeyDown={onKeyDown}
      onToggle={({ currentTarget: { open } }) => {
        setOpen(open);
        if (!open) content.current?.hidePopover();
        // The browser has opened it, because somebody searched in the page.
        else if (content.current?.matches(':popover-open') === false) show();
      }}
    >
      <summary class="button" aria-label={label} title={label} onClick={onClick}>
        {title}
      </summary>
      <div class="popover-content" popover="manual" ref={content}>
        {children}
      </div>
    </details>
  );
}

/** Below what opens it, or above where there is more room, and within the window. @param {HTMLElement | null} opener @param {HTMLElement | null} content */
function place(opener, content) {
  if (opener === null || content === null) return;
  const { left, top, bottom } = opener.getBoundingClientRect();
  const { clientWidth, clientHeight } = document.documentElement;
  const { offsetWidth, offsetHeight } = content;
  const isBelow = bottom + GAP + offsetHeight <= clientHeight || bottom < clientHeight - top;
  content.style.setProperty('--left', `${Math.max(0, Math.min(left, clientWidth - MARGIN - offsetWidth))}px`);
  content.style.setProperty('--top', `${isBelow ? bottom + GAP : top - GAP - offsetHeight}px`);
}
