/**
 * The page of somebody who is signed in. Each view lives from the moment its address is shown until another one is;
 * new events are handed to the view, which decides what they change.
 */

import { messageOf, Refused } from './client.js';
import { createFeed } from './feed.js';
import { empty } from './loading.js';
import { placeOf } from './place.js';
import { createShell } from './shell.js';
import { renewTimes } from './time-ago.js';
import { archiveView } from './views/archive-view.js';
import { EventsView } from './views/events-view.js';
import { FlagView } from './views/flag-view.js';
import { FlagsView } from './views/flags-view.js';
import { healthView } from './views/health-view.js';

/** @import { Client } from './client.js' */
/** @import { LoggedEvent, Place, Profile, ProjectSummary, Session, View } from './types.d.ts' */

/** Root roles that may write flags in every project. */
const WRITERS = ['Admin', 'Editor', 'Owner', 'Member'];

/**
 * @typedef {object} Entry
 * @property {Client} client
 * @property {Profile} profile
 * @property {readonly ProjectSummary[]} projects
 * @property {boolean} open whether anybody may do everything here
 * @property {(problem: string | null) => void} leave
 */

export class ConsolePage {
  /** @type {Session} */
  #session;
  #shell;
  #leave;
  #stopRenewing;
  /** @type {View | null} */
  #view = null;
  #go = () => this.#show(placeOf(location.hash) ?? firstPlace(this.#session));

  /** @param {Entry} entry */
  constructor({ client, profile, projects, open, leave }) {
    const feed = createFeed(client, {
      onEvents: (events) => this.#onEvents(events),
      onWell: () => this.#shell.setConnection(null),
      onFault: (error) => this.#onFault(error),
    });
    const mayWrite = (/** @type {string} */ project) =>
      WRITERS.includes(profile.rootRole.name) || profile.projects.includes(project);
    this.#session = { client, profile, open, feed, projects, mayWrite };
    this.#leave = leave;
    this.#shell = createShell(this.#session, () => this.#end(null));
    this.#stopRenewing = renewTimes(this.#shell.element);
  }

  get element() {
    return this.#shell.element;
  }

  begin() {
    addEventListener('hashchange', this.#go);
    this.#go();
    void this.#session.feed.look();
  }

  /** @param {string | null} problem */
  #end(problem) {
    removeEventListener('hashchange', this.#go);
    this.#view?.close?.();
    this.#stopRenewing();
    this.#session.feed.close();
    this.#leave(problem);
  }

  /** @param {Place | null} place */
  #show(place) {
    this.#view?.close?.();
    this.#view = place === null ? nothingView() : viewOf(this.#session, place);
    document.title = `${this.#view.title} · Flagstaff`;
    this.#shell.show(this.#view, place);
  }

  /** @param {readonly LoggedEvent[]} events */
  #onEvents(events) {
    this.#view?.onEvents?.(events);
    if (events.some(({ type }) => /^(?:project|feature)-/.test(type))) void this.#refreshProjects();
  }

  /** @param {unknown} error */
  #onFault(error) {
    if (error instanceof Refused && error.status === 401) this.#end('The token is no longer valid.');
    else this.#shell.setConnection(messageOf(error));
  }

  async #refreshProjects() {
    try {
      this.#session.projects = (await this.#session.client.get('/projects')).projects;
      this.#shell.setProjects();
    } catch {
      // The feed tells when the server cannot be reached; the names stay as they were.
    }
  }
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
      return new FlagsView(session, place.project);
    case 'archive':
      return archiveView(session, place.project);
    case 'flag':
      return new FlagView(session, place.project, place.flag);
    case 'events':
      return new EventsView(session);
    case 'health':
      return healthView(session);
  }
}

/** @returns {View} */
function nothingView() {
  return { title: 'No projects', element: empty('No projects yet', 'They are created through the API.') };
}
