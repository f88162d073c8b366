/** Asks before something that many people would notice. */
import { h } from './dom.js';

/**
 * Resolves to true when it is agreed to; to false on "Cancel", Escape, and when the page moves on.
 * @param {{ title: string, agree: string, danger?: boolean }} question
 * @param {...(Node | string)} body
 * @returns {Promise<boolean>}
 */
export function ask({ title, agree, danger = false }, ...body) {
  const heading = h('h2', { id: 'question' }, title);
  const cancel = h('button', { type: 'button', class: 'button', onclick: () => dialog.close() }, 'Cancel');
  const confirm = h(
    'button',
    {
      type: 'button',
      class: `button ${danger ? 'button-danger' : 'button-main'}`,
      onclick: () => dialog.close('yes'),
    },
    agree,
  );
  const dialog = h(
    'dialog',
    { class: 'question', 'aria-labelledby': 'question' },
    heading,
    h('div', { class: 'question-body' }, ...body),
    h('div', { class: 'question-answers' }, cancel, confirm),
  );
  return new Promise((resolve) => {
    dialog.addEventListener('close', () => {
      dialog.remove();
      resolve(dialog.returnValue === 'yes');
    });
    document.body.append(dialog);
    dialog.showModal();
    cancel.focus();
  });
}
