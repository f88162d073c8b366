/** A box of what is seldom needed, below a word that opens it. Escape and a press elsewhere close it. */
import { useEffect, useId, useRef, useState } from 'preact/hooks';

/** @import { ComponentChildren } from 'preact' */

/** To the edge of the window, in pixels. */
const MARGIN = 12;

/** To what opens it, in pixels. */
const GAP = 4;

/** @param {{ title: ComponentChildren, label?: string, looks?: string, isBusy?: boolean, onOpen?: () => void, children?: ComponentChildren }} props `label`: what it is called where no word opens it */
export function Popover({ title, label, looks = '', isBusy = false, onOpen, children }) {
  const id = useId();
  const opener = useRef(/** @type {HTMLButtonElement | null} */ (null));
  const content = useRef(/** @type {HTMLDivElement | null} */ (null));
  const [isOpen, setOpen] = useState(false);
  const onMove = () => place(opener.current, content.current);
  useEffect(() => {
    if (!isOpen) return;
    addEventListener('scroll', onMove, { capture: true, passive: true });
    addEventListener('resize', onMove);
    return () => {
      removeEventListener('scroll', onMove, { capture: true });
      removeEventListener('resize', onMove);
    };
  }, [isOpen]);
  /** The event that comes before it is open: the one that comes after would let it be seen elsewhere first. @param {ToggleEvent} event */
  function onBeforeToggle({ newState }) {
    setOpen(newState === 'open');
    if (newState !== 'open') return;
    onOpen?.();
    requestAnimationFrame(onMove);
  }
  return (
    <div class={`popover ${looks}`}>
      <button
        type="button"
        class="button"
        popovertarget={id}
        aria-busy={isBusy || undefined}
        aria-label={label}
        title={label}
        ref={opener}
      >
        {title}
      </button>
      <div class="popover-content" id={id} popover="auto" ref={content} onBeforeToggle={onBeforeToggle}>
        {children}
      </div>
    </div>
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
