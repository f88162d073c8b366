/** Asks before something that many people would notice. Enter is on "Cancel". */
import { h } from 'preact';
import { Modal, openDialog } from './dialogs.js';

/** @import { ComponentChildren } from 'preact' */

/**
 * Resolves to true when it is agreed to; to false on "Cancel", Escape, and when the page moves on.
 * @param {{ title: string, agree: string, danger?: boolean, body: ComponentChildren }} question
 * @returns {Promise<boolean>}
 */
export async function ask({ title, agree, danger = false, body }) {
  let agreed = false;
  await openDialog((close) => {
    const confirm = () => {
      agreed = true;
      close();
    };
    const tone = danger ? 'button-danger' : 'button-main';
    return h(
      Modal,
      { title, close },
      h('div', { class: 'question-body' }, body),
      h(
        'div',
        { class: 'question-answers' },
        h('button', { type: 'button', class: 'button', 'data-first': true, onClick: close }, 'Cancel'),
        h('button', { type: 'button', class: `button ${tone}`, onClick: confirm }, agree),
      ),
    );
  });
  return agreed;
}
