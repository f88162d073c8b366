/** Short messages at the foot of the page: what a click did, or why it did not. */
import { h } from './dom.js';

/** How long a message stays, in milliseconds; a refusal has more to read. */
const STAYS_MS = { done: 3_500, refused: 9_000 };

/** @param {keyof typeof STAYS_MS} kind @param {string} text */
export function notice(kind, text) {
  const region = document.getElementById('notices');
  if (region === null) return;
  const remove = () => element.remove();
  const close = h(
    'button',
    { type: 'button', class: 'notice-close', 'aria-label': 'Dismiss', onclick: remove },
    '×',
  );
  const element = h(
    'div',
    { class: `notice notice-${kind}`, role: kind === 'refused' ? 'alert' : null },
    text,
    close,
  );
  region.append(element);
  setTimeout(remove, STAYS_MS[kind]);
}
