/** Asks before something that many people would notice. Enter is on "Cancel". */
import { Button } from '../parts/button.jsx';
import { Sentence } from '../said.jsx';
import { Modal, openDialog } from './dialogs.jsx';

/** @import { ComponentChildren } from 'preact' */

/**
 * Resolves to true when it is agreed to; to false on "Cancel", Escape, and when the page moves on.
 * @param {{ title: string, agree: string, danger?: boolean, other?: { text: string, act: () => unknown }, body: ComponentChildren }} question `other`: what may be done in place of it
 * @returns {Promise<boolean>}
 */
export async function ask({ title, agree, danger = false, other, body }) {
  let agreed = false;
  await openDialog((close) => {
    const confirm = () => {
      agreed = true;
      close();
    };
    const tone = danger ? 'button-danger' : 'button-main';
    return (
      <Modal title={title} close={close}>
        <div>
          <Sentence>{body}</Sentence>
        </div>
        <div class="row question-answers">
          <Button data-first act={close}>
            Cancel
          </Button>
          {other === undefined ? null : (
            <Button
              act={() => {
                close();
                return other.act();
              }}
            >
              {other.text}
            </Button>
          )}
          <Button looks={`button ${tone}`} act={confirm}>
            {agree}
          </Button>
        </div>
      </Modal>
    );
  });
  return agreed;
}
