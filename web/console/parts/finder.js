/** Finds flags of all projects, projects and pages by a few letters: Ctrl or ⌘ with K, or the button in the menu. */
import { h } from 'preact';
import { useEffect, useId, useState } from 'preact/hooks';
import { Modal, openDialog } from '../forms/dialogs.js';
import { flagsOf, hrefOf } from '../place.js';
import { useSession } from '../session.js';

/** @import { TargetedEvent, TargetedKeyboardEvent } from 'preact' */
/** @import { FoundFlag, Place, Session } from '../types.d.ts' */

/** After the last key, in milliseconds. */
const TYPING_MS = 120;
/** Of each kind that are shown. */
const SHOWN_MAX = 8;

/** @typedef {{ href: string, name: string, kind: string }} Hit */

/** @type {readonly (readonly [string, Place])[]} */
const PAGES = [
  ['All projects', { view: 'projects' }],
  ['Segments', { view: 'segments' }],
  ['Context fields', { view: 'context-fields' }],
  ['Environments', { view: 'environments' }],
  ['Users', { view: 'users' }],
  ['Tokens', { view: 'tokens' }],
  ['Your account', { view: 'account' }],
  ['Events', { view: 'events' }],
  ['Health', { view: 'health' }],
];

/** Whether the finder is open: the keys open no second one. */
let isOpen = false;

/** @param {Session} session */
async function openFinder(session) {
  if (isOpen) return;
  isOpen = true;
  await openDialog((close) => h(Finder, { session, close }));
  isOpen = false;
}

/** The button in the menu, and the keys. */
export function FinderButton() {
  const session = useSession();
  useEffect(() => {
    /** @param {KeyboardEvent} event */
    const onKey = (event) => {
      if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== 'k') return;
      event.preventDefault();
      void openFinder(session);
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, [session]);
  return h(
    'button',
    {
      type: 'button',
      class: 'button find',
      'aria-keyshortcuts': 'Control+K Meta+K',
      onClick: () => void openFinder(session),
    },
    'Find',
    h('kbd', { 'aria-hidden': 'true' }, 'Ctrl K'),
  );
}

/** @param {{ session: Session, close: () => void }} props */
function Finder({ session, close }) {
  const [text, setText] = useState('');
  const [chosen, setChosen] = useState(0);
  const flags = useFoundFlags(session, text);
  const hits = [...flags, ...projectsFor(session, text), ...pagesFor(session, text)];
  const list = useId();
  /** @param {TargetedEvent<HTMLInputElement>} event */
  const onInput = (event) => {
    setText(event.currentTarget.value);
    setChosen(0);
  };
  /** @param {Hit | undefined} hit */
  const open = (hit) => {
    if (hit === undefined) return;
    close();
    location.hash = hit.href;
  };
  /** @param {TargetedKeyboardEvent<HTMLInputElement>} event */
  const onKeyDown = (event) => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (step !== 0) setChosen((chosen + step + hits.length) % Math.max(1, hits.length));
    else if (event.key === 'Enter') open(hits[chosen]);
    else return;
    event.preventDefault();
  };
  return h(
    Modal,
    { title: 'Find', close },
    h('input', {
      type: 'search',
      class: 'input',
      'data-first': true,
      role: 'combobox',
      'aria-label': 'Find flags, projects and pages',
      'aria-expanded': hits.length > 0,
      'aria-controls': list,
      'aria-activedescendant': hits.length > 0 ? `${list}-${chosen}` : undefined,
      placeholder: 'A part of a name, a description or a tag',
      autocomplete: 'off',
      spellcheck: false,
      value: text,
      onInput,
      onKeyDown,
    }),
    h(
      'ul',
      { class: 'plain hits', role: 'listbox', id: list, 'aria-label': 'Found' },
      hits.map((hit, index) =>
        h(
          'li',
          {
            key: hit.href,
            id: `${list}-${index}`,
            role: 'option',
            'aria-selected': index === chosen,
            onClick: () => open(hit),
          },
          h('span', { class: 'hit-name' }, hit.name),
          h('span', { class: 'muted' }, hit.kind),
        ),
      ),
    ),
    hits.length === 0 ? h('p', { class: 'muted', role: 'status' }, 'Nothing is called so.') : null,
  );
}

/** @param {Session} session @param {string} text @returns {readonly Hit[]} */
function useFoundFlags({ client }, text) {
  const [found, setFound] = useState(/** @type {readonly Hit[]} */ ([]));
  const wanted = text.trim();
  useEffect(() => {
    // A response that comes after more was typed is of no use.
    let isWanted = true;
    const timer = setTimeout(async () => {
      const query = new URLSearchParams({ query: wanted, limit: String(SHOWN_MAX) });
      const { features } =
        wanted === ''
          ? { features: [] }
          : await client.get(`/search/features?${query}`).catch(() => ({ features: [] }));
      if (isWanted) setFound(features.map(hitOf));
    }, TYPING_MS);
    return () => {
      isWanted = false;
      clearTimeout(timer);
    };
  }, [client, wanted]);
  return found;
}

/** @param {FoundFlag} flag @returns {Hit} */
const hitOf = ({ name, project }) => ({
  href: hrefOf({ view: 'flag', project, flag: name }),
  name,
  kind: `flag of ${project}`,
});

/** @param {Session} session @param {string} text @returns {readonly Hit[]} */
function projectsFor({ projects }, text) {
  return projects.value
    .filter(({ id, name }) => isIn(`${name} ${id}`, text))
    .slice(0, SHOWN_MAX)
    .map(({ id, name }) => ({ href: hrefOf(flagsOf(id)), name, kind: 'project' }));
}

/** @param {Session} session @param {string} text @returns {readonly Hit[]} */
function pagesFor(session, text) {
  return PAGES.filter(
    ([name, { view }]) => isIn(name, text) && (view !== 'users' || session.may('admin')),
  ).map(([name, place]) => ({ href: hrefOf(place), name, kind: 'page' }));
}

/** @param {string} name @param {string} text */
const isIn = (name, text) => name.toLowerCase().includes(text.trim().toLowerCase());
