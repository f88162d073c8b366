/** Finds flags of all projects, projects, pages and actions by a few letters: Ctrl or ⌘ with K, or the button in the menu. */
import { useEffect, useId, useState } from 'preact/hooks';
import { messageOf } from '../client.js';
import { actionsOf } from '../edit/actions.js';
import { Modal, openDialog } from '../forms/dialogs.jsx';
import { notice } from '../notices.jsx';
import { flagsOf, hrefOf } from '../place.js';
import { useSession } from '../session.js';

/** @import { TargetedEvent, TargetedKeyboardEvent } from 'preact' */
/** @import { FoundFlag, Place, Session } from '../types.d.ts' */

/** After the last key, in milliseconds. */
const TYPING_MS = 120;
/** Of each kind that are shown. */
const SHOWN_MAX = 8;
/** Flags among which those are chosen. */
const FOUND_MAX = 100;

/** @typedef {{ key: string, name: string, kind: string, open: () => unknown }} Hit */

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
  await openDialog((close) => <Finder session={session} close={close} />);
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
  return (
    <button
      type="button"
      class="button find"
      aria-keyshortcuts="Control+K Meta+K"
      onClick={() => void openFinder(session)}
    >
      Find<kbd aria-hidden="true">Ctrl K</kbd>
    </button>
  );
}

/** @param {{ session: Session, close: () => void }} props */
function Finder({ session, close }) {
  const [text, setText] = useState('');
  const [chosen, setChosen] = useState(0);
  const flags = useFoundFlags(session, text);
  const hits = best(
    [...flags, ...projectsFor(session, text), ...pagesFor(session, text), ...actionsFor(session, text)],
    text,
  );
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
    void Promise.resolve(hit.open()).catch((error) => notice('refused', messageOf(error)));
  };
  /** @param {TargetedKeyboardEvent<HTMLInputElement>} event */
  const onKeyDown = (event) => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (step !== 0) setChosen((chosen + step + hits.length) % Math.max(1, hits.length));
    else if (event.key === 'Enter') open(hits[chosen]);
    else return;
    event.preventDefault();
  };
  return (
    <Modal title="Find" close={close}>
      <input
        type="search"
        class="input"
        data-first
        list={undefined}
        role="combobox"
        aria-label="Find flags, projects, pages and actions"
        aria-expanded={hits.length > 0}
        aria-controls={list}
        aria-activedescendant={hits.length > 0 ? `${list}-${chosen}` : undefined}
        placeholder="A part of a name, a description or a tag"
        autocomplete="off"
        spellcheck={false}
        value={text}
        onInput={onInput}
        onKeyDown={onKeyDown}
      />
      <ul class="plain hits" role="listbox" id={list} aria-label="Found">
        {hits.map((hit, index) => (
          <li
            key={hit.key}
            id={`${list}-${index}`}
            role="option"
            aria-selected={index === chosen}
            onClick={() => open(hit)}
          >
            <span class="hit-name">{hit.name}</span>
            <span class="muted">{hit.kind}</span>
          </li>
        ))}
      </ul>
      {hits.length === 0 ? (
        <p class="muted" role="status">
          Nothing is called so.
        </p>
      ) : null}
    </Modal>
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
      const query = new URLSearchParams({ query: wanted, limit: String(FOUND_MAX), sortBy: 'name' });
      const { features } =
        wanted === ''
          ? { features: [] }
          : await client.get(`/search/features?${query}`).catch(() => ({ features: [] }));
      if (isWanted) setFound(best(features.map(hitOf), wanted).slice(0, SHOWN_MAX));
    }, TYPING_MS);
    return () => {
      isWanted = false;
      clearTimeout(timer);
    };
  }, [client, wanted]);
  return found;
}

/** @param {string} key @param {string} name @param {string} kind @returns {Hit} */
const placeHit = (key, name, kind) => ({
  ...{ key, name, kind },
  open: () => {
    location.hash = key;
  },
});

/** @param {FoundFlag} flag */
const hitOf = ({ name, project }) =>
  placeHit(hrefOf({ view: 'flag', project, flag: name }), name, `flag of ${project}`);

/** @param {Session} session @param {string} text */
function projectsFor({ projects }, text) {
  const found = projects.value
    .filter(({ id, name }) => isIn(`${name} ${id}`, text))
    .map(({ id, name }) => placeHit(hrefOf(flagsOf(id)), name, 'project'));
  return best(found, text).slice(0, SHOWN_MAX);
}

/** @param {Session} session @param {string} text */
const pagesFor = (session, text) =>
  PAGES.filter(([name, { view }]) => isIn(name, text) && (view !== 'users' || session.may('admin'))).map(
    ([name, place]) => placeHit(hrefOf(place), name, 'page'),
  );

/** @param {Session} session @param {string} text @returns {readonly Hit[]} */
const actionsFor = (session, text) =>
  actionsOf(session)
    .filter(({ name }) => isIn(name, text))
    .map(({ name, act }) => ({ key: `do ${name}`, name, kind: 'action', open: act }));

/** What is called so goes before what begins so, has it in its name, or was found by something else. @param {readonly Hit[]} hits @param {string} text */
function best(hits, text) {
  const wanted = text.trim().toLowerCase();
  /** @param {Hit} hit */
  const rank = ({ name }) => {
    const lower = name.toLowerCase();
    if (lower === wanted) return 0;
    return lower.startsWith(wanted) ? 1 : lower.includes(wanted) ? 2 : 3;
  };
  return [...hits].sort((one, other) => rank(one) - rank(other));
}

/** @param {string} name @param {string} text */
const isIn = (name, text) => name.toLowerCase().includes(text.trim().toLowerCase());
