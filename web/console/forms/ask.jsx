/** Asks before something that many people would notice. Enter is on "Cancel". */
import { Modal, openDialog } from './dialogs.jsx';

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
    return (
      <Modal title={title} close={close}>
        <div class="question-body">{body}</div>
        <div class="question-answers">
          <button type="button" class="button" data-first onClick={close}>
            Cancel
          </button>
          <button type="button" class={`button ${tone}`} onClick={confirm}>
            {agree}
          </button>
        </div>
      </Modal>
    );
  });
  return agreed;
}
