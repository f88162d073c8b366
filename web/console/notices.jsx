/** Short messages at the foot of the page: what a click did, and how to take it back; or why it did not. */
import { effect, signal } from '@preact/signals';
import { useEffect, useState } from 'preact/hooks';
import { isReachable, messageOf, Refused } from './client.js';
import { Button } from './parts/button.jsx';
import { Sentence } from './said.jsx';

/** How long a message stays, in milliseconds: undoing takes a decision. A refusal stays until it is dismissed, or the page is left. */
const STAYS_MS = { done: 3_500, undo: 10_000 };

/** @import { ComponentChildren } from 'preact' */

/**
 * @typedef {object} Notice
 * @property {number} id
 * @property {'done' | 'refused'} kind
 * @property {ComponentChildren} text
 * @property {(() => Promise<void>) | null} undo
 * @property {boolean} isOutage whether it only says that the server cannot be reached
 */

/** @type {import('@preact/signals').Signal<readonly Notice[]>} */
const notices = signal([]);
let lastId = 0;

/** @param {Notice['kind']} kind @param {ComponentChildren} text @param {Notice['undo']} [undo] @param {boolean} [isOutage] */
export function notice(kind, text, undo = null, isOutage = false) {
  lastId += 1;
  const id = lastId;
  // What was done before is no longer news, and one Undo at a time leaves no doubt what it takes back.
  notices.value = [...notices.value.filter((one) => one.kind !== kind), { id, kind, text, undo, isOutage }];
}

/** Says why something was not done. @param {unknown} error */
export function noticeRefusal(error) {
  notice('refused', messageOf(error), null, error instanceof Refused && error.status === 0);
}

// Whatever a press begins may be refused: the form that it opens loads what it offers.
addEventListener('unhandledrejection', (event) => {
  if (!(event.reason instanceof Refused)) return;
  event.preventDefault();
  noticeRefusal(event.reason);
});

effect(() => {
  if (isReachable.value) notices.value = notices.peek().filter(({ isOutage }) => !isOutage);
});

/** Drops what was said about one page when another is shown. */
export function dismissRefusals() {
  notices.value = notices.value.filter(({ kind }) => kind !== 'refused');
}

/** @param {number} id */
function dismiss(id) {
  notices.value = notices.value.filter((one) => one.id !== id);
}

export function Notices() {
  return (
    <div class="notices" role="status" aria-live="polite">
      {notices.value.map((one) => (
        <NoticeItem key={one.id} of={one} />
      ))}
    </div>
  );
}

/** @param {{ of: Notice }} props */
function NoticeItem({ of: { id, kind, text, undo } }) {
  const [isHeld, setHeld] = useState(false);
  useEffect(() => {
    if (isHeld || kind === 'refused') return;
    const timer = setTimeout(() => dismiss(id), STAYS_MS[undo === null ? 'done' : 'undo']);
    return () => clearTimeout(timer);
  }, [isHeld]);
  // Whoever points at it, or has the focus on it, is not hurried.
  const held = {
    onPointerEnter: () => setHeld(true),
    onPointerLeave: () => setHeld(false),
    onFocusIn: () => setHeld(true),
    onFocusOut: () => setHeld(false),
  };
  const takeBack = () => {
    dismiss(id);
    void undo?.();
  };
  return (
    <div class={`notice notice-${kind}`} {...held} {...(kind === 'refused' ? { role: 'alert' } : {})}>
      <span>
        <Sentence>{text}</Sentence>
      </span>
      {undo === null ? null : (
        <Button looks="notice-action" act={takeBack}>
          Undo
        </Button>
      )}
      <Button looks="notice-close" aria-label="Dismiss" act={() => dismiss(id)}>
        ×
      </Button>
    </div>
  );
}
