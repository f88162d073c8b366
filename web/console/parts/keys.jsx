/** Keys that work everywhere: “/” for the search of a page, and “?” for what keys there are. */
import { useEffect, useState } from 'preact/hooks';
import { Check } from '../forms/inputs.jsx';
import { openPanel } from '../forms/panel.jsx';

/** @type {readonly (readonly [keys: string, what: string])[]} */
const KEYS = [
  ['Ctrl K or ⌘ K', 'Find flags, projects, pages and actions'],
  ['/', 'Search on this page'],
  ['?', 'Show these shortcuts'],
  ['Tab, Shift Tab', 'Go to the next or the previous control'],
  ['Space', 'Switch the flag that has the focus'],
  ['Escape', 'Close a dialog; what you typed is kept'],
];

/** Whether keys of one letter do nothing: for whoever dictates, and may say such a letter by chance. Kept as the theme is. */
let areOff = history.state?.areKeysOff === true;

/** @param {boolean} off */
function keep(off) {
  areOff = off;
  history.replaceState({ ...history.state, areKeysOff: off }, '');
}

addEventListener('hashchange', () => areOff && keep(true));

/** The keys, and whether those of one letter work. */
export const showKeys = () => openPanel('Keyboard shortcuts', <Keys />, false);

function Keys() {
  const [isOn, setOn] = useState(!areOff);
  return (
    <>
      <dl class="keys">
        {KEYS.map(([keys, what]) => (
          <div key={keys} class="row">
            <dt>
              <kbd>{keys}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <p>
        <Check
          text="Enable single-letter shortcuts"
          checked={isOn}
          change={(on) => {
            keep(!on);
            setOn(on);
          }}
        />
      </p>
    </>
  );
}

/** Whether keys are letters where somebody types. @param {EventTarget | null} target */
const isTyping = (target) =>
  target instanceof HTMLElement &&
  (/^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName) || target.closest('dialog') !== null);

export function usePageKeys() {
  useEffect(() => {
    /** @param {KeyboardEvent} event */
    const onKey = (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || areOff || isTyping(event.target)) return;
      if (event.key === '?') void showKeys();
      else if (event.key === '/') {
        const search = document.querySelector('main input[type=search]');
        if (!(search instanceof HTMLElement)) return;
        search.focus();
      } else return;
      event.preventDefault();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
}
