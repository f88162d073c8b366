/** The page of somebody who is signed in: the view of the current address, and what all views share, kept up to date. */
import { useEffect, useRef } from 'preact/hooks';
import { useEvents } from './feed.js';
import { capitalized } from './format.js';
import { closeDialogs } from './forms/dialogs.jsx';
import { Later, loadRest } from './later.jsx';
import { loadNames, reloadNames } from './names.js';
import { dismissRefusals } from './notices.jsx';
import { Boundary } from './parts/boundary.jsx';
import { Shell } from './parts/shell.jsx';
import { Empty } from './parts/states.jsx';
import { hrefOf, OF_PROJECT, PLAIN, place, withoutQuery } from './place.js';
import { forgetProtected } from './proposals.jsx';
import { typesOf, useSession } from './session.js';
import { FlagView } from './views/flag-view.jsx';
import { FlagsView } from './views/flags-view.jsx';
import { HomeView } from './views/home-view.jsx';

/** @import { EventHead, Place, Session } from './types.d.ts' */

/** Before the rest is loaded where nobody wants it yet, in milliseconds: the first page comes first. */
const REST_PAUSE_MS = 2_000;

export function Page() {
  const session = useSession();
  useSharedNews(session);
  const shown = place.value;
  const key = shown === null ? '' : hrefOf(withoutQuery(shown));
  // Lists of flags and the home name neither segments nor context fields.
  const isNaming = shown?.view !== 'flags' && shown?.view !== 'home';
  useEffect(() => {
    if (isNaming) void loadNames(session);
  }, [session, isNaming]);
  useEffect(() => {
    document.title = `${titleOf(shown)} · Flagstaff`;
    return () => {
      closeDialogs();
      dismissRefusals();
    };
  }, [key]);
  useEffect(() => {
    // What fails is loaded again where it is wanted.
    const timer = setTimeout(() => void loadRest().catch(() => undefined), REST_PAUSE_MS);
    return () => clearTimeout(timer);
  }, []);
  return (
    <Shell place={shown}>
      <Boundary at={shown === null ? '' : hrefOf(shown)}>
        <View key={key} place={shown} />
      </Boundary>
    </Shell>
  );
}

/** @param {{ place: Place | null }} props */
function View({ place }) {
  if (place === null) return <NothingHere />;
  if (place.view === 'home') return <HomeView />;
  if (place.view === 'flags') return <FlagsView project={place.project} />;
  if (place.view === 'flag') return <FlagView project={place.project} name={place.flag} />;
  if (place.view === 'change-request')
    return <Later of="ChangeRequestView" project={place.project} id={place.request} />;
  if ('project' in place) return <Later of={OF_PROJECT[place.view][0]} project={place.project} />;
  return <Later of={PLAIN[place.view]} view={place.view} />;
}

function NothingHere() {
  return (
    <>
      <h1>Page not found</h1>
      <Empty title="There is no page at this address">
        It may be misspelt, or from another version. The projects are in the menu.
      </Empty>
    </>
  );
}

/** @param {Place | null} place */
function titleOf(place) {
  if (place === null) return 'Page not found';
  if (place.view === 'flag') return place.flag;
  if (place.view === 'change-request') return `Change request ${place.request}`;
  if (place.view === 'flags') return place.project;
  if ('project' in place) return `${OF_PROJECT[place.view][1]} ${place.project}`;
  return capitalized(place.view.replaceAll('-', ' '));
}

/** Events that change what the list of projects says: their names, their members, how many flags they have and how well these are. */
const CHANGES_PROJECTS =
  /^(?:project|drop)-|^feature-(?:created|archived|revived|deleted|stale|import|metadata)/;

/** Between two looks at what every view needs, in milliseconds: a server on which others work all the time is not asked after each event. */
const PAUSE_MS = 1_000;

/** @param {Session} session */
function useSharedNews(session) {
  const news = useRef({ timer: 0, events: /** @type {EventHead[]} */ ([]) });
  useEvents(session, (events) => {
    const { current } = news;
    current.events.push(...events);
    if (current.timer !== 0) return;
    const look = () => {
      void refreshShared(session, current.events.splice(0));
      current.timer = 0;
    };
    current.timer = setTimeout(look, PAUSE_MS);
  });
  useEffect(() => () => clearTimeout(news.current.timer), []);
}

/** The state that every view needs, fetched again when an event may have changed it. @param {Session} session @param {readonly EventHead[]} events */
async function refreshShared(session, events) {
  const { client, projects, environmentTypes } = session;
  try {
    if (events.some(({ type }) => CHANGES_PROJECTS.test(type))) {
      projects.value = (await client.get('/projects')).projects;
    }
    if (events.some(({ type }) => type === 'change-request-configuration-updated')) forgetProtected();
    if (events.some(({ type }) => /^(?:segment|context-field)-/.test(type))) reloadNames(session);
    if (events.some(({ type }) => type.startsWith('environment-'))) {
      environmentTypes.value = typesOf((await client.get('/environments')).environments);
    }
  } catch {
    // The feed tells when the server cannot be reached; the names stay as they were.
  }
}
