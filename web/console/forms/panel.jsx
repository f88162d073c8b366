/** A dialog in which something is looked at. */
import { Button } from '../parts/button.jsx';
import { Modal, openDialog } from './dialogs.jsx';

/** @import { ComponentChildren } from 'preact' */

/**
 * Resolves once it is closed.
 * @param {string} title
 * @param {ComponentChildren} content
 * @param {boolean} [isWide]
 */
export const openPanel = (title, content, isWide = true) =>
  openDialog((close) => (
    <Modal title={title} close={close} isWide={isWide}>
      {content}
      <div class="row question-answers">
        <Button data-first act={close}>
          Close
        </Button>
      </div>
    </Modal>
  ));
