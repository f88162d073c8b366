/** A secret, which is shown once and kept by nobody: a token or a link that is copied and handed on. */
import { useRef, useState } from 'preact/hooks';
import { notice } from '../notices.jsx';
import { Button } from '../parts/button.jsx';
import { Sentence } from '../said.jsx';
import { Modal, openDialog } from './dialogs.jsx';

/** Resolves once the dialog is closed. @param {{ title: string, lead: string, label: string, secret: string | null }} of `secret`: null where the response with it was lost */
export async function showSecret({ secret, ...of }) {
  if (secret !== null) return openDialog((close) => <Secret {...of} secret={secret} close={close} />);
  notice('refused', 'It was made, but its secret was lost on the way: delete it, and make another.');
}

/**
 * Copies a text that is shown, or selects it where the browser lets nobody copy.
 * @param {{ readonly current: HTMLElement | null }} shown
 * @param {string} text
 */
export function useCopy(shown, text) {
  const [done, setDone] = useState({ said: '', text });
  async function copy() {
    const { clipboard } = navigator;
    try {
      // Browsers have it on safe pages only.
      if (clipboard === undefined) throw new Error('there is no clipboard here');
      await clipboard.writeText(text);
      setDone({ said: 'Copied.', text });
    } catch {
      if (shown.current !== null) getSelection()?.selectAllChildren(shown.current);
      setDone({ said: 'Selected: copy it with Ctrl C or ⌘ C.', text });
    }
  }
  return { copy, said: done.text === text ? done.said : '' };
}

/** @param {{ title: string, lead: string, label: string, secret: string, close: () => void }} props */
function Secret({ title, lead, label, secret, close }) {
  const shown = useRef(/** @type {HTMLPreElement | null} */ (null));
  const { copy, said } = useCopy(shown, secret);
  return (
    <Modal title={title} close={close}>
      <p>
        <Sentence>{lead}</Sentence>
      </p>
      <pre class="secret" tabIndex={0} role="group" aria-label={label} ref={shown}>
        {secret}
      </pre>
      <p class="muted" role="status">
        {said}
      </p>
      <div class="row question-answers">
        <Button act={() => copy()}>Copy</Button>
        <Button looks="button button-main" data-first act={close}>
          Done
        </Button>
      </div>
    </Modal>
  );
}
