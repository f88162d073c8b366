/**
 * The console: who is signed in, what is shown, and what keeps it up to date. Each view lives from the moment its
 * address is shown until another one is; new events are handed to the view, which decides what they change.
 */
import { archiveView } from './archive-view.js';
import { createClient, messageOf, Refused } from './client.js';
import { eventsView } from './events-view.js';
import { createFeed } from './feed.js';
import { flagView } from './flag-view.js';
import { flagsView } from './flags-view.js';
import { healthView } from './health-view.js';
import { empty } from './loading.js';
import { keepMoments } from './moment.js';
import { notice } from './notices.js';
import { placeOf } from './place.js';
import { createShell } from './shell.js';
import { signIn } from './sign-in.js';

/** @import { Place, Profile, ProjectSummary, Session, View } from './types.d.ts' */

/** Root roles that may write flags in every project. */
const WRITERS = ['Admin', 'Editor', 'Owner', 'Member'];

const app = document.getElementById('app');

/** Without authentication there is nothing to sign in with. */
async function start() {
  try {
    await enter(null);
  } catch (error) {
    const expected = error instanceof Refused && error.status === 401;
    offerSignIn(expected ? null : messageOf(error));
  }
}

/** @param {string | null} problem */
function offerSignIn(problem) {
  document.title = 'Sign in · Flagstaff';
  const form = signIn(problem, enter);
  app?.replaceChildren(form.element);
  form.focus();
}

/** Rejects when the token is not good. @param {string | null} token */
async function enter(token) {
  const client = createClient(token);
  /** @type {Profile} */
  const profile = await client.get('/user/profile');
  /** @type {{ projects: ProjectSummary[] }} */
  const { projects } = await client.get('/projects');
  const console = openConsole(token === null, client, profile, projects);
  app?.replaceChildren(console.element);
  console.begin();
}

/**
 * @param {boolean} open
 * @param {Session['client']} client
 * @param {Profile} profile
 * @param {readonly ProjectSummary[]} projects
 */
function openConsole(open, client, profile, projects) {
  /** @type {View | null} */
  let view = null;
  const feed = createFeed(client, {
    onEvents(events) {
      view?.onEvents?.(events);
      if (events.some(({ type }) => /^(?:project|feature)-/.test(type))) refreshProjects();
    },
    onWell: () => shell.setConnection(null),
    onFault(error) {
      if (error instanceof Refused && error.status === 401) leave('The token is no longer valid.');
      else shell.setConnection(messageOf(error));
    },
  });
  /** @type {Session} */
  const session = {
    client,
    profile,
    open,
    feed,
    projects,
    mayWrite: (project) => WRITERS.includes(profile.rootRole.name) || profile.projects.includes(project),
  };
  const shell = createShell(session, () => leave(null));

  const stopMoments = keepMoments(shell.element);

  async function refreshProjects() {
    try {
      session.projects = (await client.get('/projects')).projects;
      shell.setProjects();
    } catch {
      // The feed tells when the server cannot be reached; the names stay as they were.
    }
  }

  function go() {
    const place = placeOf(location.hash) ?? firstPlace(session);
    view?.close?.();
    view = place === null ? nothingView() : viewOf(session, place);
    document.title = `${view.title} · Flagstaff`;
    shell.show(view, place);
  }

  /** @param {string | null} problem */
  function leave(problem) {
    removeEventListener('hashchange', go);
    view?.close?.();
    feed.close();
    stopMoments();
    offerSignIn(problem);
    if (problem === null) notice('done', 'Signed out; the token is forgotten.');
  }

  return {
    element: shell.element,
    begin() {
      addEventListener('hashchange', go);
      go();
      void feed.look();
    },
  };
}

/** @param {Session} session @returns {Place | null} */
function firstPlace({ projects }) {
  const first = projects.find(({ id }) => id === 'default') ?? projects[0];
  return first === undefined ? null : { view: 'flags', project: first.id };
}

/** @param {Session} session @param {Place} place @returns {View} */
function viewOf(session, place) {
  switch (place.view) {
    case 'flags':
      return flagsView(session, place.project);
    case 'archive':
      return archiveView(session, place.project);
    case 'flag':
      return flagView(session, place.project, place.flag);
    case 'events':
      return eventsView(session);
    case 'health':
      return healthView(session);
  }
}

/** @returns {View} */
function nothingView() {
  return {
    title: 'No projects',
    element: empty('No projects yet', 'They are created through the interface.'),
  };
}

void start();
