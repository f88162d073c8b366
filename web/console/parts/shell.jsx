/** The frame around every view: the way to the others, who is signed in, and whether the server answers. */
import { useEffect, useId, useMemo, useRef, useState } from 'preact/hooks';
import { number } from '../format.js';
import { Dialogs } from '../forms/dialogs.jsx';
import { keepGroup, keepProject, kept } from '../kept.js';
import { loadRest } from '../later.jsx';
import { ALL_PROJECTS, DAILY, GROUPS } from '../menu.js';
import { Notices, noticeRefusal } from '../notices.jsx';
import { flagsOf, hrefOf, withoutQuery } from '../place.js';
import { Name, visible } from '../said.jsx';
import { markSeen, scrollPage } from '../scroll.js';
import { callerName, useSession } from '../session.js';
import { BrandMark } from './brand.jsx';
import { Button } from './button.jsx';
import { Icon } from './icon.jsx';
import { usePageKeys } from './keys.jsx';
import { findWaiting, useRequests, waiting } from './request-state.jsx';
import { ThemeChoice } from './theme.jsx';

/** @import { ComponentChildren } from 'preact' */
/** @import { MenuPage } from '../menu.js' */
/** @import { Place, ProjectSummary, Session } from '../types.d.ts' */

/** Projects that the menu lists; the others are on the page of all projects. */
const PROJECTS_LISTED = 6;

/** Projects for somebody who has opened none, and belongs to none. */
const FIRST_LISTED = 3;

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
        <a href="#/" class="line brand">
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

/** Opens the finder with what is typed until it is there. @param {Session} session */
async function find(session) {
  let typed = '';
  /** @param {KeyboardEvent} event */
  const onKey = (event) => {
    if (event.key.length !== 1 || event.ctrlKey || event.metaKey || event.altKey) return;
    typed += event.key;
    event.preventDefault();
    event.stopImmediatePropagation();
  };
  addEventListener('keydown', onKey, true);
  const { openFinder } = await loadRest().finally(() => removeEventListener('keydown', onKey, true));
  await openFinder(session, typed);
}

/** The button of the finder in the menu, and its keys. */
function FinderButton() {
  const session = useSession();
  useEffect(() => {
    /** @param {KeyboardEvent} event */
    const onKey = (event) => {
      if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== 'k') return;
      event.preventDefault();
      find(session).catch(noticeRefusal);
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, [session]);
  return (
    <Button looks="button find" aria-keyshortcuts="Control+K Meta+K" act={() => find(session)}>
      Find<kbd aria-hidden="true">Ctrl K</kbd>
    </Button>
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

/** The favorites of the caller, the projects that they opened last, and those that they belong to; else the first. @param {Session} session @param {string | null} current */
function usedProjects({ projects, profile }, current) {
  const all = projects.value;
  const { recent } = kept.value;
  /** @param {ProjectSummary} project */
  const rank = ({ id, favorite }) =>
    id === current ? 4 : favorite ? 3 : recent.includes(id) ? 2 : profile.projects.includes(id) ? 1 : 0;
  const used = all.filter((one) => rank(one) > 0).sort((one, other) => rank(other) - rank(one));
  const first = used.slice(0, PROJECTS_LISTED);
  return first.length === 0 ? all.slice(0, FIRST_LISTED) : all.filter((one) => first.includes(one));
}

/** @param {{ place: Place | null }} props */
function Menu({ place }) {
  const session = useSession();
  const current = place !== null && 'project' in place ? place.project : null;
  useEffect(() => {
    if (current !== null && session.projects.value.some(({ id }) => id === current)) keepProject(current);
  }, [current]);
  const isHome = place?.view === 'home';
  const found = useRequests(findWaiting, [], isHome ? 0 : undefined);
  useEffect(() => {
    waiting.value = found;
  }, [found]);
  const count =
    found === null || found.total === 0 ? null : (
      <Count looks="menu-waiting" of={found.total} words={['waits for you', 'wait for you']} />
    );
  return (
    <>
      <nav aria-label="Daily work">
        <ul class="plain">
          {DAILY.map((page) => (
            <MenuLink
              key={page[2]}
              page={page}
              place={place}
              count={page[2] === 'change-requests' ? count : null}
            />
          ))}
        </ul>
      </nav>
      <nav aria-label="Projects">
        <h2 class="menu-title">Projects</h2>
        <ul class="plain">
          {usedProjects(session, current).map((project) => (
            <MenuEntry
              key={project.id}
              href={hrefOf(flagsOf(project.id))}
              icon="project"
              text={project.name}
              isCurrent={project.id === current}
              count={<Count looks="hint" of={project.featureCount} words={['flag', 'flags']} />}
            />
          ))}
          <MenuLink page={ALL_PROJECTS} place={place} />
        </ul>
      </nav>
      {GROUPS.map(([title, icon, pages, isForAdmins]) =>
        isForAdmins && !session.may('admin') ? null : (
          <Group key={title} title={title} icon={icon} pages={pages} place={place} />
        ),
      )}
      <Who />
    </>
  );
}

/** A title that leads to the first page of its group, and the others while one of them is shown or wanted. @param {{ title: string, icon: string, pages: readonly MenuPage[], place: Place | null }} props */
function Group({ title, icon, pages, place }) {
  const session = useSession();
  const list = useId();
  const isHere = place !== null && !('project' in place) && pages.some(([, , view]) => view === place.view);
  const isUnfolded = kept.value.unfolded.includes(title);
  const isOpen = isHere || isUnfolded;
  const offered = pages.filter(([, , , isForAdmins]) => isForAdmins !== true || session.may('admin'));
  return (
    <nav aria-label={title} class="menu-group">
      <div class="line menu-group-title">
        <a href={hrefOf({ view: offered[0]?.[2] ?? 'home' })} onClick={() => keepGroup(title, true)}>
          <Icon name={icon} />
          <span class="grow cut">{title}</span>
        </a>
        <Button
          looks="quiet"
          aria-label={`Pages of ${title}`}
          aria-expanded={isOpen}
          aria-controls={list}
          disabled={isHere}
          act={() => keepGroup(title, !isUnfolded)}
        >
          <Icon name={isOpen ? 'unfolded' : 'folded'} />
        </Button>
      </div>
      <ul class="plain" id={list} hidden={!isOpen}>
        {offered.map((page) => (
          <MenuLink key={page[2]} page={page} place={place} />
        ))}
      </ul>
    </nav>
  );
}

/** @param {{ page: MenuPage, place: Place | null, count?: ComponentChildren }} props */
const MenuLink = ({ page: [text, icon, view], place, count = null }) => (
  <MenuEntry
    href={hrefOf({ view })}
    icon={icon}
    text={text}
    isCurrent={place !== null && hrefOf(withoutQuery(place)) === hrefOf({ view })}
    count={count}
  />
);

/** @param {{ href: string, icon: string, text: string, isCurrent: boolean, count: ComponentChildren }} props */
const MenuEntry = ({ href, icon, text, isCurrent, count }) => (
  <li>
    <a href={href} aria-current={isCurrent ? 'page' : undefined}>
      <Icon name={icon} />
      <span class="grow cut" title={visible(text)}>
        <Name text={text} />
      </span>
      {count}
    </a>
  </li>
);

/** @param {{ looks: string, of: number, words: readonly [one: string, many: string] }} props `words`: for those who hear the page */
const Count = ({ looks, of, words: [one, many] }) => (
  <span class={`number ${looks}`}>
    {number(of)}
    <span class="unseen">{` ${of === 1 ? one : many}`}</span>
  </span>
);

function Who() {
  const session = useSession();
  const { profile, signOut } = session;
  return (
    <div class="who">
      {session.open ? (
        <p class="muted">Authentication is off: anyone can do everything.</p>
      ) : (
        <>
          <p class="strong">
            <a href={hrefOf({ view: 'account' })} title="Your account">
              <Name text={callerName(session)} />
            </a>
          </p>
          <p class="muted" title={visible(profile.rootRole.description)}>
            <Name text={`Root role ${profile.rootRole.name}`} />
          </p>
        </>
      )}
      <p class="row">
        <a href="docs/manual/">Manual</a>
        <a href="docs">API</a>
      </p>
      <div class="line above">
        <ThemeChoice />
        {session.open ? null : (
          <Button looks="button button-small" act={() => signOut()}>
            Sign out
          </Button>
        )}
      </div>
    </div>
  );
}
