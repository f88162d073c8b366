/** What stands around every view: the way to the others, who is signed in, and whether the server answers. */
import { h } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { number } from '../format.js';
import { Dialogs } from '../forms/dialogs.js';
import { Notices } from '../notices.js';
import { flagsOf, hrefOf } from '../place.js';
import { callerName, useSession } from '../session.js';
import { BrandMark } from './brand.js';
import { FinderButton } from './finder.js';

/** @import { ComponentChildren } from 'preact' */
/** @import { Place, ProjectSummary } from '../types.d.ts' */

/** Projects that the menu lists; the others are on the page of all projects. */
const PROJECTS_LISTED = 6;

/** @param {{ place: Place | null, children: ComponentChildren }} props */
export function Shell({ place, children }) {
  const main = useRef(/** @type {HTMLElement | null} */ (null));
  const [isOpen, setOpen] = useState(false);
  const href = place === null ? '' : hrefOf(withoutQuery(place));
  const isFirst = useRef(true);
  useEffect(() => {
    setOpen(false);
    // Whoever follows a link by keyboard or ear goes on where the new view begins; not at the very first one.
    if (!isFirst.current) {
      scrollTo(0, 0);
      main.current?.focus({ preventScroll: true });
    }
    isFirst.current = false;
  }, [href]);
  /** @param {Event} event */
  function skip(event) {
    event.preventDefault();
    main.current?.focus();
  }
  return h(
    'div',
    { class: 'shell' },
    h('a', { href: '#content', class: 'skip', onClick: skip }, 'Skip to the content'),
    h(
      'header',
      { class: 'bar' },
      h('a', { href: '#/', class: 'brand' }, h(BrandMark, null), 'Flagstaff'),
      h(
        'button',
        {
          type: 'button',
          class: 'button menu-toggle',
          'aria-expanded': isOpen,
          'aria-controls': 'menu',
          onClick: () => setOpen(!isOpen),
        },
        'Menu',
      ),
      h(
        'div',
        { class: `menu${isOpen ? ' menu-open' : ''}`, id: 'menu' },
        h(FinderButton, null),
        h(Menu, { place }),
      ),
    ),
    h(
      'div',
      { class: 'stage' },
      h(Connection, null),
      h('main', { id: 'content', class: 'content', tabIndex: -1, ref: main }, children),
    ),
    h(Notices, null),
    h(Dialogs, null),
  );
}

/** @param {Place} place @returns {Place} */
function withoutQuery(place) {
  return place.view === 'flags' ? flagsOf(place.project) : place;
}

function Connection() {
  const { problem } = useSession().feed;
  const text =
    problem.value === null ? '' : `${problem.value} What is shown may be out of date; trying again.`;
  return h('p', { class: 'connection', role: 'alert', hidden: problem.value === null }, text);
}

/** @param {{ place: Place | null }} props */
function Menu({ place }) {
  const session = useSession();
  const current = place !== null && 'project' in place ? place.project : null;
  const projects = listed(session.projects.value, current);
  const rest = session.projects.value.length - projects.length;
  /** @param {Place} to @param {string} text */
  const link = (to, text) =>
    h(MenuLink, { key: text, to, place, children: h('span', { class: 'menu-name' }, text) });
  const isAdmin = session.may('admin');
  return [
    h(
      'nav',
      { key: 'projects', 'aria-label': 'Projects' },
      h('h2', { class: 'menu-title' }, 'Projects'),
      h(
        'ul',
        { class: 'plain' },
        projects.map((project) =>
          h(ProjectLink, { key: project.id, project, isCurrent: project.id === current }),
        ),
        link(
          { view: 'projects' },
          rest > 0 ? `All ${number(session.projects.value.length)} projects` : 'All projects',
        ),
      ),
    ),
    h(
      'nav',
      { key: 'service', 'aria-label': 'Service' },
      h('h2', { class: 'menu-title' }, 'Service'),
      h(
        'ul',
        { class: 'plain' },
        link({ view: 'segments' }, 'Segments'),
        link({ view: 'context-fields' }, 'Context fields'),
        link({ view: 'environments' }, 'Environments'),
        isAdmin ? link({ view: 'users' }, 'Users') : null,
        link({ view: 'tokens' }, 'Tokens'),
        link({ view: 'events' }, 'Events'),
        link({ view: 'health' }, 'Health'),
        h('li', null, h('a', { href: 'docs' }, 'API')),
      ),
    ),
    h(Who, { key: 'who' }),
  ];
}

/** Favorites and the first ones, with the current one among them. @param {readonly ProjectSummary[]} all @param {string | null} current */
function listed(all, current) {
  const first = [...all]
    .sort((one, other) => Number(other.favorite) - Number(one.favorite))
    .slice(0, PROJECTS_LISTED);
  const wanted = all.find(({ id }) => id === current);
  return wanted === undefined || first.includes(wanted) ? first : [wanted, ...first.slice(0, -1)];
}

/** @param {{ to: Place, place: Place | null, children: ComponentChildren }} props */
function MenuLink({ to, place, children }) {
  const isCurrent = place !== null && hrefOf(place) === hrefOf(to);
  return h(
    'li',
    null,
    h('a', { href: hrefOf(to), 'aria-current': isCurrent ? 'page' : undefined }, children),
  );
}

/** @param {{ project: ProjectSummary, isCurrent: boolean }} props */
function ProjectLink({ project: { id, name, featureCount }, isCurrent }) {
  return h(
    'li',
    null,
    h(
      'a',
      { href: hrefOf(flagsOf(id)), 'aria-current': isCurrent ? 'page' : undefined },
      h('span', { class: 'menu-name', title: name }, name),
      h(
        'span',
        { class: 'menu-count' },
        number(featureCount),
        h('span', { class: 'unseen' }, featureCount === 1 ? ' flag' : ' flags'),
      ),
    ),
  );
}

function Who() {
  const session = useSession();
  const { profile, signOut } = session;
  if (session.open) {
    return h(
      'div',
      { class: 'who' },
      h('p', { class: 'muted' }, 'Authentication is off: everybody may do everything.'),
    );
  }
  return h(
    'div',
    { class: 'who' },
    h(
      'p',
      { class: 'who-name' },
      h('a', { href: hrefOf({ view: 'account' }), title: 'Your account' }, callerName(session)),
    ),
    h('p', { class: 'muted', title: profile.rootRole.description }, `Root role ${profile.rootRole.name}`),
    h('button', { type: 'button', class: 'button', onClick: () => void signOut() }, 'Sign out'),
  );
}
