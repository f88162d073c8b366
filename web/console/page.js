/** The page of somebody who is signed in: the view of the current address, and what all views share, kept up to date. */
import { h } from 'preact';
import { useEffect } from 'preact/hooks';
import { useEvents } from './feed.js';
import { closeDialogs } from './forms/dialogs.js';
import { dismissRefusals } from './notices.js';
import { Shell } from './parts/shell.js';
import { Empty } from './parts/states.js';
import { flagsOf, hrefOf, place } from './place.js';
import { useSession } from './session.js';
import { AccountView } from './views/account-view.js';
import { ArchiveView } from './views/archive-view.js';
import { EventsView } from './views/events-view.js';
import { FlagView } from './views/flag-view.js';
import { FlagsView } from './views/flags-view.js';
import { HealthView } from './views/health-view.js';
import { ProjectsView } from './views/projects-view.js';
import { SettingsView } from './views/settings-view.js';
import { ContextFieldsView, EnvironmentsView, SegmentsView } from './views/shared-views.js';
import { TokensView } from './views/tokens-view.js';
import { UsersView } from './views/users-view.js';

/** @import { EventHead, Place, Session } from './types.d.ts' */

export function Page() {
  const session = useSession();
  useEvents(session, (events) => void refreshShared(session, events));
  const shown = place.value ?? firstPlace(session);
  const key = shown === null ? '' : hrefOf(shown.view === 'flags' ? flagsOf(shown.project) : shown);
  useEffect(() => {
    document.title = `${titleOf(shown)} · Flagstaff`;
    return () => {
      closeDialogs();
      dismissRefusals();
    };
  }, [key]);
  return h(Shell, { place: shown, children: h(View, { key, place: shown }) });
}

/** @param {Session} session @returns {Place | null} null for an address that names nothing */
function firstPlace({ projects }) {
  if (location.hash.replace(/^#?\/?/, '') !== '') return null;
  const first = projects.value.find(({ id }) => id === 'default') ?? projects.value[0];
  return first === undefined ? { view: 'projects' } : flagsOf(first.id);
}

/** @param {{ place: Place | null }} props */
function View({ place }) {
  switch (place?.view) {
    case 'flags':
      return h(FlagsView, { project: place.project });
    case 'archive':
      return h(ArchiveView, { project: place.project });
    case 'flag':
      return h(FlagView, { project: place.project, name: place.flag });
    case 'settings':
      return h(SettingsView, { project: place.project });
    case 'history':
      return h(EventsView, { of: place.project });
    case 'projects':
      return h(ProjectsView, null);
    case 'environments':
      return h(EnvironmentsView, null);
    case 'segments':
      return h(SegmentsView, null);
    case 'context-fields':
      return h(ContextFieldsView, null);
    case 'account':
      return h(AccountView, null);
    case 'users':
      return h(UsersView, null);
    case 'tokens':
      return h(TokensView, null);
    case 'events':
      return h(EventsView, null);
    case 'health':
      return h(HealthView, null);
    default:
      return h(NothingHere, null);
  }
}

function NothingHere() {
  return [
    h('h1', { key: 'title' }, 'Nothing is here'),
    h(
      Empty,
      { key: 'why', title: 'This address names no page of the console' },
      'It may be misspelt, or from another version. The projects are in the menu.',
    ),
  ];
}

/** @param {Place | null} place */
function titleOf(place) {
  if (place === null) return 'Nothing is here';
  switch (place.view) {
    case 'flags':
      return place.project;
    case 'archive':
      return `Archive of ${place.project}`;
    case 'settings':
      return `Settings of ${place.project}`;
    case 'history':
      return `History of ${place.project}`;
    case 'flag':
      return place.flag;
    default:
      return place.view.charAt(0).toUpperCase() + place.view.slice(1).replaceAll('-', ' ');
  }
}

/** Events that change what the list of projects says: their names, their members, how many flags they have and how well these are. */
const CHANGES_PROJECTS =
  /^(?:project|drop)-|^feature-(?:created|archived|revived|deleted|stale|import|metadata)/;

/** What every view needs, fetched again when an event may have changed it. @param {Session} session @param {readonly EventHead[]} events */
async function refreshShared({ client, projects, environmentTypes }, events) {
  try {
    if (events.some(({ type }) => CHANGES_PROJECTS.test(type))) {
      projects.value = (await client.get('/projects')).projects;
    }
    if (events.some(({ type }) => type.startsWith('environment-'))) {
      const { environments } = await client.get('/environments');
      environmentTypes.value = new Map(
        environments.map((/** @type {{ name: string, type: string }} */ { name, type }) => [name, type]),
      );
    }
  } catch {
    // The feed tells when the server cannot be reached; the names stay as they were.
  }
}
