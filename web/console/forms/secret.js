/** What is shown once and kept by nobody: a token or a link that is copied and handed on. */
import { h } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { Modal, openDialog } from './dialogs.js';

/**
 * Resolves once the dialog is closed.
 * @param {{ title: string, lead: string, label: string, secret: string }} of
 */
export const showSecret = (of) => openDialog((close) => h(Secret, { ...of, close }));

/** @param {{ title: string, lead: string, label: string, secret: string, close: () => void }} props */
function Secret({ title, lead, label, secret, close }) {
  const shown = useRef(/** @type {HTMLPreElement | null} */ (null));
  const [said, setSaid] = useState('');
  async function copy() {
    const { clipboard } = navigator;
    try {
      // Browsers have it on safe pages only.
      if (clipboard === undefined) throw new Error('there is no clipboard here');
      await clipboard.writeText(secret);
      setSaid('Copied.');
    } catch {
      if (shown.current !== null) getSelection()?.selectAllChildren(shown.current);
      setSaid('It is selected: copy it with Ctrl C or ⌘ C.');
    }
  }
  return h(
    Modal,
    { title, close },
    h('p', null, lead),
    h('pre', { class: 'secret', tabIndex: 0, role: 'group', 'aria-label': label, ref: shown }, secret),
    h('p', { class: 'muted', role: 'status' }, said),
    h(
      'div',
      { class: 'question-answers' },
      h('button', { type: 'button', class: 'button', onClick: () => void copy() }, 'Copy'),
      h(
        'button',
        { type: 'button', class: 'button button-main', 'data-first': true, onClick: close },
        'I have it',
      ),
    ),
  );
}
