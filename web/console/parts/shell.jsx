/** What stands around every view: the way to the others, who is signed in, and whether the server answers. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { number } from '../format.js';
import { Dialogs } from '../forms/dialogs.jsx';
import { Notices } from '../notices.jsx';
import { flagsOf, hrefOf } from '../place.js';
import { callerName, useSession } from '../session.js';
import { BrandMark } from './brand.jsx';
import { FinderButton } from './finder.jsx';

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
  return (
    <div class="shell">
      <a href="#content" class="skip" onClick={skip}>
        Skip to the content
      </a>
      <header class="bar">
        <a href="#/" class="brand">
          <BrandMark />
          Flagstaff
        </a>
        <button
          type="button"
          class="button menu-toggle"
          aria-expanded={isOpen}
          aria-controls="menu"
          onClick={() => setOpen(!isOpen)}
        >
          Menu
        </button>
        <div class={`menu${isOpen ? ' menu-open' : ''}`} id="menu">
          <FinderButton />
          <Menu place={place} />
        </div>
      </header>
      <div class="stage">
        <Connection />
        <main id="content" class="content" tabIndex={-1} ref={main}>
          {children}
        </main>
      </div>
      <Notices />
      <Dialogs />
    </div>
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
  return (
    <p class="connection" role="alert" hidden={problem.value === null}>
      {text}
    </p>
  );
}

/** @param {{ place: Place | null }} props */
function Menu({ place }) {
  const session = useSession();
  const current = place !== null && 'project' in place ? place.project : null;
  const projects = listed(session.projects.value, current);
  const rest = session.projects.value.length - projects.length;
  /** @param {Place} to @param {string} text */
  const link = (to, text) => (
    <MenuLink key={text} to={to} place={place}>
      <span class="menu-name">{text}</span>
    </MenuLink>
  );
  const isAdmin = session.may('admin');
  return (
    <>
      <nav aria-label="Projects">
        <h2 class="menu-title">Projects</h2>
        <ul class="plain">
          {projects.map((project) => (
            <ProjectLink key={project.id} project={project} isCurrent={project.id === current} />
          ))}
          {link(
            { view: 'projects' },
            rest > 0 ? `All ${number(session.projects.value.length)} projects` : 'All projects',
          )}
        </ul>
      </nav>
      <nav aria-label="Service">
        <h2 class="menu-title">Service</h2>
        <ul class="plain">
          {link({ view: 'segments' }, 'Segments')}
          {link({ view: 'context-fields' }, 'Context fields')}
          {link({ view: 'environments' }, 'Environments')}
          {isAdmin ? link({ view: 'users' }, 'Users') : null}
          {link({ view: 'tokens' }, 'Tokens')}
          {link({ view: 'events' }, 'Events')}
          {link({ view: 'health' }, 'Health')}
          <li>
            <a href="docs">API</a>
          </li>
        </ul>
      </nav>
      <Who />
    </>
  );
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
  return (
    <li>
      <a href={hrefOf(to)} aria-current={isCurrent ? 'page' : undefined}>
        {children}
      </a>
    </li>
  );
}

/** @param {{ project: ProjectSummary, isCurrent: boolean }} props */
function ProjectLink({ project: { id, name, featureCount }, isCurrent }) {
  return (
    <li>
      <a href={hrefOf(flagsOf(id))} aria-current={isCurrent ? 'page' : undefined}>
        <span class="menu-name" title={name}>
          {name}
        </span>
        <span class="menu-count">
          {number(featureCount)}
          <span class="unseen">{featureCount === 1 ? ' flag' : ' flags'}</span>
        </span>
      </a>
    </li>
  );
}

function Who() {
  const session = useSession();
  const { profile, signOut } = session;
  if (session.open) {
    return (
      <div class="who">
        <p class="muted">Authentication is off: everybody may do everything.</p>
      </div>
    );
  }
  return (
    <div class="who">
      <p class="who-name">
        <a href={hrefOf({ view: 'account' })} title="Your account">
          {callerName(session)}
        </a>
      </p>
      <p class="muted" title={profile.rootRole.description}>{`Root role ${profile.rootRole.name}`}</p>
      <button type="button" class="button" onClick={() => void signOut()}>
        Sign out
      </button>
    </div>
  );
}
