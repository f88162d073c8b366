/** Finds flags of all projects, projects, pages and actions by a few letters: Ctrl or ⌘ with K, or the button in the menu. */
import { distance } from 'fastest-levenshtein';
import { useEffect, useId, useState } from 'preact/hooks';
import { actionsOf, deedIn, flagActions, projectActions } from '../edit/actions.js';
import { userName } from '../format.js';
import { Modal, openDialog } from '../forms/dialogs.jsx';
import { TextInput } from '../forms/inputs.jsx';
import { pagesOf } from '../menu.js';
import { loadNames, names } from '../names.js';
import { noticeRefusal } from '../notices.jsx';
import { flagsOf, hrefOf, OF_PROJECT, place } from '../place.js';
import { useDelayed } from '../resource.jsx';
import { Name } from '../said.jsx';

/** @import { TargetedKeyboardEvent } from 'preact' */
/** @import { Action } from '../edit/actions.js' */
/** @import { ViewOfProject } from '../place.js' */
/** @import { FoundFlag, FoundUser, PlainView, Session } from '../types.d.ts' */

/** After the last key, in milliseconds. */
const TYPING_MS = 120;
/** The most of each kind that are shown. */
const SHOWN_MAX = 8;
/** Flags among which those are chosen. */
const FOUND_MAX = 100;
/** Letters that are looked for where the rest may be mistyped. */
const BEGINNING = 3;

/** @typedef {{ key: string, name: string, kind: string, open: () => unknown, isAsked?: boolean }} Hit `isAsked`: whether the text asks for it by a verb */

/** Pages beside the console. */
const OTHER_PAGES = /** @type {const} */ ([
  ['Manual', 'docs/manual/'],
  ['API reference', 'docs'],
]);

/** Whether the finder is open: the keys open no second one. */
let isOpen = false;

/** @param {Session} session @param {string} typed what it begins with */
export async function openFinder(session, typed) {
  if (isOpen) return;
  isOpen = true;
  await openDialog((close) => <Finder session={session} typed={typed} close={close} />);
  isOpen = false;
}

/** @param {{ session: Session, typed: string, close: () => void }} props */
function Finder({ session, typed, close }) {
  const [text, setText] = useState(typed);
  const [chosen, setChosen] = useState(0);
  useEffect(() => void loadNames(session), [session]);
  const found = useFound(session, text);
  const hits = best([...found, ...placesFor(session, text), ...actionHits(actionsOf(session), text)], text);
  const list = useId();
  /** @param {string} next */
  const type = (next) => {
    setText(next);
    setChosen(0);
  };
  /** @param {Hit | undefined} hit */
  const open = (hit) => {
    if (hit === undefined) return;
    close();
    Promise.resolve(hit.open()).catch(noticeRefusal);
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
      <TextInput
        type="search"
        data-first
        role="combobox"
        aria-label="Find flags, projects, pages and actions"
        aria-expanded={hits.length > 0}
        aria-controls={list}
        aria-activedescendant={hits.length > 0 ? `${list}-${chosen}` : undefined}
        placeholder="A name, or: switch a-flag off in staging"
        value={text}
        change={type}
        onKeyDown={onKeyDown}
      />
      <ul class="plain hits" role="listbox" id={list} aria-label="Found">
        {hits.map((hit, index) => (
          <li
            key={hit.key}
            id={`${list}-${index}`}
            role="option"
            class="row spread"
            aria-selected={index === chosen}
            onClick={() => open(hit)}
          >
            <span class="hit-name">
              <Name text={hit.name} />
            </span>
            <span class="muted">{hit.kind}</span>
          </li>
        ))}
      </ul>
      {hits.length === 0 ? (
        <p class="muted" role="status">
          Nothing found. Try fewer letters.
        </p>
      ) : null}
    </Modal>
  );
}

/** The finds of the server: flags, and people for those who may list them. @param {Session} session @param {string} text @returns {readonly Hit[]} */
function useFound(session, text) {
  const [found, setFound] = useState(/** @type {readonly Hit[]} */ ([]));
  const wanted = text.trim();
  const find = async () =>
    wanted === '' ? [] : (await Promise.all([flagsFor(session, wanted), peopleFor(session, wanted)])).flat();
  useDelayed(TYPING_MS, find, setFound, [session, wanted]);
  return found;
}

/** Flags, and before them what the text asks to be done to flags. @param {Session} session @param {string} text @returns {Promise<readonly Hit[]>} */
async function flagsFor(session, text) {
  const deed = deedIn(session, wordsOf(text));
  const [meant, named] = await Promise.all([
    deed === null ? [] : foundFlags(session, deed.flag),
    foundFlags(session, text),
  ]);
  const flags = named.length > 0 ? named : meant;
  const asked = meant.flatMap((flag) =>
    (deed === null ? [] : flagActions(session, flag, deed)).map(({ name, act }) => ({
      ...{ key: `do ${name}`, name, kind: `in ${flag.project}`, open: act, isAsked: true },
    })),
  );
  return [...asked.slice(0, SHOWN_MAX), ...flags.map(hitOf)];
}

/** The server takes one part of a text, so it gets the longest word; and the beginning of that where somebody mistyped the rest. @param {Session} session @param {string} text @returns {Promise<readonly FoundFlag[]>} */
async function foundFlags({ client }, text) {
  const longest = wordsOf(text).reduce((best, word) => (word.length > best.length ? word : best), '');
  for (const query of new Set([longest, longest.slice(0, BEGINNING)])) {
    const parameters = new URLSearchParams({ query, limit: String(FOUND_MAX), sortBy: 'name' });
    /** @type {{ features: readonly FoundFlag[] }} */
    const { features } = await client.get(`/search/features?${parameters}`).catch(() => ({ features: [] }));
    const found = features.filter((flag) => isIn(textOf(flag), text));
    if (found.length > 0) return best(found, text).slice(0, SHOWN_MAX);
  }
  return [];
}

/** @param {FoundFlag} flag */
const textOf = ({ name, description, project, tags }) =>
  [name, description ?? '', project, ...(tags ?? []).map(({ value }) => value)].join(' ');

/** @param {Session} session @param {string} text */
async function peopleFor(session, text) {
  if (!session.may('admin')) return [];
  const query = new URLSearchParams({ q: text });
  /** @type {readonly FoundUser[]} */
  const users = await session.client.get(`/user-admin/search?${query}`).catch(() => []);
  return users.slice(0, SHOWN_MAX).map((user) => ({
    ...placeHit(hrefOf({ view: 'users' }), userName(user), 'person'),
    key: `user ${user.id}`,
  }));
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

/** Projects with their pages and actions, segments, context fields, environments and pages. @param {Session} session @param {string} text */
function placesFor(session, text) {
  const current = place.value !== null && 'project' in place.value ? place.value.project : null;
  const isAny = text.trim() === '';
  const all = session.projects.value;
  const projects = all
    .filter(({ id, name }) => isIn(`${name} ${id}`, text))
    .map(({ id, name }) => placeHit(hrefOf(flagsOf(id)), name, 'project'));
  const inProjects = all
    .filter(({ id }) => id === current || !isAny)
    .sort((one, other) => Number(other.id === current) - Number(one.id === current));
  const pagesOfProjects = inProjects.flatMap(({ id, name }) =>
    Object.entries(OF_PROJECT)
      .map(([view, [, title]]) =>
        placeHit(
          hrefOf({ view: /** @type {ViewOfProject} */ (view), project: id }),
          `${title} ${name}`,
          'page',
        ),
      )
      .filter((hit) => isIn(hit.name, text)),
  );
  const actions = inProjects.flatMap((project) => actionHits(projectActions(session, project), text));
  /** @param {Iterable<readonly [key: unknown, name: string]>} list @param {PlainView} view @param {string} kind */
  const things = (list, view, kind) =>
    [...list]
      .filter(([, name]) => !isAny && isIn(name, text))
      .map(([key, name]) => ({ ...placeHit(hrefOf({ view }), name, kind), key: `${kind} ${key}` }));
  const { segments, fields } = names.value;
  const pages = pagesOf(session)
    .map(([name, , view]) => placeHit(hrefOf({ view }), name, 'page'))
    .concat(
      OTHER_PAGES.map(([name, at]) => ({
        ...{ key: at, name, kind: 'page' },
        open: () => location.assign(at),
      })),
    );
  return [
    projects,
    things(segments, 'segments', 'segment'),
    things((fields ?? new Set()).entries(), 'context-fields', 'context field'),
    things(new Set(session.environmentTypes.value.keys()).entries(), 'environments', 'environment'),
    pagesOfProjects,
    actions,
  ]
    .flatMap((hits) => best(hits, text).slice(0, SHOWN_MAX))
    .concat(pages.filter(({ name }) => isIn(name, text)));
}

/** @param {readonly Action[]} actions @param {string} text @returns {readonly Hit[]} */
const actionHits = (actions, text) =>
  actions
    .filter(({ name, also = '' }) => isIn(`${name} ${also}`, text))
    .map(({ name, act }) => ({ key: `do ${name}`, name, kind: 'action', open: act }));

/**
 * Sorts finds: things of that name go before those whose names begin so or have it within, and the others; what is asked for by a verb goes first.
 * @template {{ readonly name: string, readonly isAsked?: boolean }} Found
 * @param {readonly Found[]} hits
 * @param {string} text
 */
function best(hits, text) {
  const wanted = text.trim().toLowerCase();
  /** @param {Found} hit */
  const rank = ({ name, isAsked = false }) => {
    if (isAsked) return -1;
    const lower = name.toLowerCase();
    if (lower === wanted) return 0;
    return lower.startsWith(wanted) ? 1 : lower.includes(wanted) ? 2 : 3;
  };
  return [...hits].sort((one, other) => rank(one) - rank(other));
}

/** @param {string} text */
const wordsOf = (text) => text.toLowerCase().split(/\s+/).filter(Boolean);

/** Whether each word stands in a text, or nearly so. @param {string} of @param {string} text */
function isIn(of, text) {
  const lower = of.toLowerCase();
  return wordsOf(text).every((word) => lower.includes(word) || isNearlyIn(lower, word));
}

/** Whether a word of a text begins so, but for one letter in four or more, or two in eight or more. @param {string} lower @param {string} word */
function isNearlyIn(lower, word) {
  const faults = word.length >= 8 ? 2 : word.length >= 4 ? 1 : 0;
  if (faults === 0) return false;
  return lower
    .split(/[^\p{L}\p{N}]+/u)
    .some((token) => [-1, 0, 1].some((more) => distance(word, token.slice(0, word.length + more)) <= faults));
}
