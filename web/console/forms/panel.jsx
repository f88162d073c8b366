/** A dialog in which something is looked at. */
import { Button } from '../parts/button.jsx';
import { SessionContext } from '../session.js';
import { Modal, openDialog } from './dialogs.jsx';

/** @import { ComponentChildren } from 'preact' */
/** @import { Session } from '../types.d.ts' */

/**
 * Resolves once it is closed.
 * @param {Session | null} session for content that reads from the server
 * @param {string} title
 * @param {ComponentChildren} content
 */
export const openPanel = (session, title, content) =>
  openDialog((close) => (
    <SessionContext.Provider value={session}>
      <Modal title={title} close={close} isWide={session !== null}>
        {content}
        <div class="row question-answers">
          <Button data-first act={close}>
            Close
          </Button>
        </div>
      </Modal>
    </SessionContext.Provider>
  ));
