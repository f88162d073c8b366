/** The start: finds out whether a token is needed, asks for one, and opens the page for whoever it stands for. */
import { createClient, messageOf, Refused } from './client.js';
import { ConsolePage } from './console-page.js';
import { notice } from './notices.js';
import { signIn } from './views/sign-in.js';

/** @import { Profile, ProjectSummary } from './types.d.ts' */

const app = document.getElementById('app');

/** Without authentication there is nothing to sign in with: the first request tells. */
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
  const page = new ConsolePage({ client, profile, projects, open: token === null, leave });
  app?.replaceChildren(page.element);
  page.begin();
}

/** @param {string | null} problem why the token is no longer of use; null when it was given up */
function leave(problem) {
  offerSignIn(problem);
  if (problem === null) notice('done', 'Signed out; the token is forgotten.');
}

void start();
