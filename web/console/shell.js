/** What stands around every view: the way to the others, who is signed in, and whether the server answers. */
import { h, show } from './dom.js';
import { number } from './format.js';
import { hrefOf } from './place.js';
import { brandMark } from './views/sign-in.js';

/** @import { Place, Session, View } from './types.d.ts' */

/** @param {Session} session @param {() => void} signOut */
export function createShell(session, signOut) {
  const projects = h('ul', { class: 'plain' });
  const connection = h('p', { class: 'connection', role: 'alert', hidden: true });
  const main = h('main', { id: 'content', class: 'content', tabindex: '-1' });
  const menu = h('div', { class: 'menu', id: 'menu' }, ...menuParts(session, projects, signOut));
  const toggle = h(
    'button',
    {
      type: 'button',
      class: 'button menu-toggle',
      'aria-expanded': 'false',
      'aria-controls': 'menu',
      onclick: () => setMenu(toggle.getAttribute('aria-expanded') !== 'true'),
    },
    'Menu',
  );
  const bar = h(
    'header',
    { class: 'bar' },
    h('a', { href: '#/', class: 'brand' }, brandMark(), 'Flagstaff'),
    toggle,
    menu,
  );
  /** @param {boolean} open */
  function setMenu(open) {
    toggle.setAttribute('aria-expanded', String(open));
    menu.classList.toggle('menu-open', open);
  }
  /** @param {Event} event */
  function skip(event) {
    event.preventDefault();
    main.focus();
  }
  let shown = false;

  const shell = {
    element: h(
      'div',
      { class: 'shell' },
      h('a', { href: '#content', class: 'skip', onclick: skip }, 'Skip to the content'),
      bar,
      h('div', { class: 'stage' }, connection, main),
    ),
    setProjects() {
      show(projects, ...session.projects.map((project) => projectItem(project)));
    },
    /** Null while all is well. @param {string | null} problem */
    setConnection(problem) {
      connection.hidden = problem === null;
      const text = problem === null ? '' : `${problem} What is shown may be out of date; trying again.`;
      if (connection.textContent !== text) connection.textContent = text;
    },
    /** @param {View} view @param {Place | null} place */
    show(view, place) {
      main.replaceChildren(view.element);
      setMenu(false);
      markCurrent(menu, place);
      scrollTo(0, 0);
      // Whoever follows a link by keyboard or ear goes on where the new view begins; not at the very first one.
      if (shown) main.focus({ preventScroll: true });
      shown = true;
    },
  };
  shell.setProjects();
  return shell;
}

/** @param {Session} session @param {HTMLElement} projects @param {() => void} signOut */
function menuParts(session, projects, signOut) {
  const link = (/** @type {Place} */ place, /** @type {string} */ text) =>
    h('li', null, h('a', { href: hrefOf(place) }, text));
  return [
    h('nav', { 'aria-label': 'Projects' }, h('h2', { class: 'menu-title' }, 'Projects'), projects),
    h(
      'nav',
      { 'aria-label': 'Service' },
      h('h2', { class: 'menu-title' }, 'Service'),
      h(
        'ul',
        { class: 'plain' },
        link({ view: 'events' }, 'Events'),
        link({ view: 'health' }, 'Health'),
        h('li', null, h('a', { href: 'docs' }, 'API')),
      ),
    ),
    h(
      'div',
      { class: 'who' },
      session.open
        ? h('p', { class: 'muted' }, 'Authentication is off: everybody may do everything.')
        : h('p', { class: 'muted' }, `Root role ${session.profile.rootRole.name}`),
      session.open ? null : h('button', { type: 'button', class: 'button', onclick: signOut }, 'Sign out'),
    ),
  ].filter((part) => part !== null);
}

/** @param {Session['projects'][number]} project */
function projectItem({ id, name, featureCount }) {
  return h(
    'li',
    null,
    h(
      'a',
      { href: hrefOf({ view: 'flags', project: id }), 'data-key': `project ${id}` },
      h('span', { class: 'menu-name' }, name),
      h('span', { class: 'menu-count', 'aria-label': `${number(featureCount)} flags` }, number(featureCount)),
    ),
  );
}

/** @param {HTMLElement} menu @param {Place | null} place */
function markCurrent(menu, place) {
  const project =
    place !== null && 'project' in place ? hrefOf({ view: 'flags', project: place.project }) : null;
  const current = project ?? (place === null ? null : hrefOf(place));
  for (const link of menu.querySelectorAll('a')) {
    if (link.getAttribute('href') === current) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
  }
}
