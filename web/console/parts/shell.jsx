/** The frame around every view: the way to the others, who is signed in, and whether the server answers. */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { number } from '../format.js';
import { Dialogs } from '../forms/dialogs.jsx';
import { pagesOf, SECTIONS } from '../menu.js';
import { Notices } from '../notices.jsx';
import { flagsOf, hrefOf, withoutQuery } from '../place.js';
import { Name, visible } from '../said.jsx';
import { markSeen, scrollPage } from '../scroll.js';
import { callerName, useSession } from '../session.js';
import { BrandMark } from './brand.jsx';
import { Button } from './button.jsx';
import { FinderButton } from './finder.jsx';
import { Icon } from './icon.jsx';
import { usePageKeys } from './keys.jsx';
import { useRequests } from './request-state.jsx';
import { ThemeChoice } from './theme.jsx';

/** @import { ComponentChildren } from 'preact' */
/** @import { Place, ProjectSummary } from '../types.d.ts' */

/** Projects that the menu lists; the others are on the page of all projects. */
const PROJECTS_LISTED = 6;

/** @param {{ place: Place | null, children: ComponentChildren }} props */
export function Shell({ place, children }) {
  usePageKeys();
  const main = useRef(/** @type {HTMLElement | null} */ (null));
  const [isOpen, setOpen] = useState(false);
  const href = place === null ? '' : hrefOf(withoutQuery(place));
  // A filter in the address changes nothing in it.
  const menu = useMemo(() => <Menu place={place} />, [href]);
  const isFirst = useRef(true);
  useEffect(() => {
    setOpen(false);
    // Whoever follows a link by keyboard or ear goes on where the new view begins; not at the very first one.
    if (isFirst.current) markSeen();
    else if (main.current !== null) {
      scrollPage(main.current);
      main.current.focus({ preventScroll: true });
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
        <Button
          looks="button menu-toggle"
          aria-expanded={isOpen}
          aria-controls="menu"
          act={() => setOpen(!isOpen)}
        >
          Menu
        </Button>
        <div class={`menu${isOpen ? ' menu-open' : ''}`} id="menu">
          <FinderButton />
          {menu}
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
  const count = session.projects.value.length;
  const offered = new Set(pagesOf(session));
  return (
    <>
      <nav aria-label="Projects">
        <h2 class="menu-title">Projects</h2>
        <ul class="plain">
          {projects.map((project) => (
            <ProjectLink key={project.id} project={project} isCurrent={project.id === current} />
          ))}
          <MenuLink to={{ view: 'projects' }} place={place} icon="project">
            {count > projects.length ? `All ${number(count)} projects` : 'All projects'}
          </MenuLink>
        </ul>
      </nav>
      {SECTIONS.map(([title, links]) => (
        <nav key={title} aria-label={title}>
          <h2 class="menu-title">{title}</h2>
          <ul class="plain">
            {links.map((link) =>
              offered.has(link) ? (
                <MenuLink
                  key={link[2]}
                  to={{ view: link[2] }}
                  place={place}
                  icon={link[1]}
                  count={link[2] === 'change-requests' ? <WaitingCount /> : null}
                >
                  {link[0]}
                </MenuLink>
              ) : null,
            )}
            {title === 'Service'
              ? Object.entries({ docs: 'API', 'docs/manual/': 'Manual' }).map(([address, name]) => (
                  <li key={address}>
                    <a href={address}>
                      <Icon name="reference" />
                      <span class="menu-name">{name}</span>
                    </a>
                  </li>
                ))
              : null}
          </ul>
        </nav>
      ))}
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

/** @param {{ to: Place, place: Place | null, icon: string, count?: ComponentChildren, children: ComponentChildren }} props */
function MenuLink({ to, place, icon, count = null, children }) {
  const isCurrent = place !== null && hrefOf(withoutQuery(place)) === hrefOf(to);
  return (
    <li>
      <a href={hrefOf(to)} aria-current={isCurrent ? 'page' : undefined}>
        <Icon name={icon} />
        <span class="menu-name">{children}</span>
        {count}
      </a>
    </li>
  );
}

/** How many change requests wait for whoever is signed in. */
function WaitingCount() {
  const found = useRequests(
    ({ client }) => client.get('/search/change-requests?actionable=IS:true&limit=1'),
    [],
  );
  const total = found?.total ?? 0;
  if (total === 0) return null;
  return (
    <span class="menu-count">
      {number(total)}
      <span class="unseen">{total === 1 ? ' waits for you' : ' wait for you'}</span>
    </span>
  );
}

/** @param {{ project: ProjectSummary, isCurrent: boolean }} props */
function ProjectLink({ project: { id, name, featureCount }, isCurrent }) {
  return (
    <li>
      <a href={hrefOf(flagsOf(id))} aria-current={isCurrent ? 'page' : undefined}>
        <Icon name="project" />
        <span class="menu-name" title={visible(name)}>
          <Name text={name} />
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
        <p class="muted">Authentication is off: anyone can do everything.</p>
        <ThemeChoice />
      </div>
    );
  }
  return (
    <div class="who">
      <p class="who-name">
        <a href={hrefOf({ view: 'account' })} title="Your account">
          <Name text={callerName(session)} />
        </a>
      </p>
      <p class="muted" title={visible(profile.rootRole.description)}>
        <Name text={`Root role ${profile.rootRole.name}`} />
      </p>
      <div class="row who-row">
        <ThemeChoice />
        <Button looks="button button-small" act={() => signOut()}>
          Sign out
        </Button>
      </div>
    </div>
  );
}
