/** The start: finds out whether one has to sign in, lets people do so, and opens the page for whoever they are. */
import { signal } from '@preact/signals';
import { render } from 'preact';
import { flagPath } from './changes.jsx';
import { createClient, forgetBegun, messageOf, path, request } from './client.js';
import { createFeed } from './feed.js';
import { closeDialogs, isDialogOpen } from './forms/dialogs.jsx';
import { dropDrafts } from './forms/drafts.js';
import { openKept } from './kept.js';
import { forgetNames } from './names.js';
import { Notices, notice } from './notices.jsx';
import { Page } from './page.jsx';
import { Loading } from './parts/states.jsx';
import { restoreTheme } from './parts/theme.jsx';
import { place } from './place.js';
import { forgetProtected } from './proposals.jsx';
import { holdingsOf, rightsOf, SessionContext, typesOf } from './session.js';
import {
  beginSessionByPassword,
  endAllSessions,
  endSession,
  offeredSignIns,
  takeProblem,
  whenSessionEnds,
} from './sessions.js';
import { newsPath } from './views/home-view.jsx';
import { SignIn, signInAgain } from './views/sign-in.jsx';

/** @import { Session, SignIns } from './types.d.ts' */

/** The id of the caller where authentication is off. */
const NOBODY_ID = -1;

/** @typedef {{ session: Session } | { problem: string | null, offered: SignIns }} State */

/** Null until it is known whether one has to sign in. @type {import('@preact/signals').Signal<State | null>} */
const state = signal(null);

/** Whether the session is being replaced by another: that one ends is expected then. */
let isReplacing = false;

/** How often that has been done. */
let replaced = 0;

/** Lets in everybody who has a session or needs none; the first request tells. */
async function start() {
  const problem = takeProblem();
  try {
    if (!(await open())) await askToSignIn(problem);
    else if (problem !== null) notice('refused', problem);
  } catch (error) {
    await askToSignIn(problem ?? messageOf(error));
  }
}

/** Opens the page for somebody who has just signed in. */
async function enter() {
  if (!(await open())) throw new Error('This browser blocks the session cookie.');
}

/** @param {string | null} problem why nobody is signed in, where that is to be said */
async function askToSignIn(problem) {
  state.value = { problem, offered: await offeredSignIns() };
}

/** Resolves to whether somebody is signed in, or need not be. */
async function open() {
  const client = createClient(renew, () => replaced);
  const { body } = await request('auth/console', { cache: 'no-cache' });
  const { newestEventId, profile, me } = body;
  if (me === null) return false;
  const { projects } = body.projects;
  const { environments } = body.environments;
  const feed = createFeed(client, newestEventId, () => {
    if (!isReplacing) void leave('You are signed out, or your token is no longer valid.');
  });
  /** @type {Session} */
  const session = {
    client,
    profile,
    me,
    open: me.user.id === NOBODY_ID,
    isUser: me.user.id !== NOBODY_ID && !me.user.isAPI,
    feed,
    may: rightsOf(me, profile),
    holds: holdingsOf(me),
    projects: signal(projects),
    environmentTypes: signal(typesOf(environments)),
    signOut: () => signOut(endSession),
    signOutEverywhere: () => signOut(endAllSessions),
    replaceSession,
  };
  openKept(me.user.id);
  const shown = place.value;
  if (shown?.view === 'flags') client.begin(path`/projects/${shown.project}`);
  else if (shown?.view === 'flag') client.begin(flagPath(shown.project, shown.flag));
  else if (shown?.view === 'home') client.begin(newsPath(session));
  forgetBegun();
  state.value = { session };
  feed.begin();
  return true;
}

/** @param {() => Promise<string | null | void>} end resolves to where the browser goes on to sign out, where it does */
async function signOut(end) {
  const next = await end();
  await leave(null);
  if (typeof next === 'string') location.assign(next);
}

/** @type {Session['replaceSession']} */
async function replaceSession(change, next) {
  isReplacing = true;
  try {
    const response = await change();
    await beginSessionByPassword(next).catch((error) => leave(messageOf(error)));
    replaced += 1;
    return response;
  } finally {
    isReplacing = false;
  }
}

/** While somebody is asked to sign in again. @type {Promise<boolean> | null} */
let renewing = null;

/** Has somebody who is in the middle of something sign in above it. @type {() => Promise<boolean>} */
function renew() {
  const current = state.value;
  if (current === null || !('session' in current) || isReplacing) return Promise.resolve(false);
  if (renewing === null && !isDialogOpen()) return Promise.resolve(false);
  renewing ??= askAgain(current.session).finally(() => {
    renewing = null;
  });
  return renewing;
}

/** @param {Session} session */
async function askAgain(session) {
  let isBack = false;
  await signInAgain(await offeredSignIns(), {
    async enter() {
      const { body } = await request('api/admin/user');
      // Somebody else begins with a page of their own.
      if (body.user.id !== session.me.user.id) location.reload();
      isBack = true;
    },
    leave: () => void leave(null),
  });
  return isBack;
}

/** @param {string | null} problem why there is no session any more; null when it was given up */
async function leave(problem) {
  if (state.value === null || !('session' in state.value)) return;
  state.value.session.feed.close();
  state.value = null;
  closeDialogs();
  forgetNames();
  forgetProtected();
  if (problem === null) dropDrafts();
  await askToSignIn(problem);
  if (problem === null) notice('done', 'Signed out.');
}

function App() {
  if (state.value === null) return <Loading />;
  if ('session' in state.value) {
    return (
      <SessionContext.Provider value={state.value.session}>
        <Page />
      </SessionContext.Provider>
    );
  }
  const { problem, offered } = state.value;
  return (
    <>
      <SignIn problem={problem} offered={offered} enter={enter} />
      <Notices />
    </>
  );
}

const root = document.getElementById('app');
if (root !== null) {
  root.replaceChildren();
  restoreTheme();
  whenSessionEnds(() => void leave('You are signed out.'));
  render(<App />, root);
  void start();
}
