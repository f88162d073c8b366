/** The start: finds out whether a token is needed, asks for one, and opens the page for whoever it stands for. */
import { signal } from '@preact/signals';
import { h, render } from 'preact';
import { beginSession, createClient, endSession, messageOf, Refused, whenSessionEnds } from './client.js';
import { createFeed } from './feed.js';
import { closeDialogs } from './forms/dialogs.js';
import { Notices, notice } from './notices.js';
import { Page } from './page.js';
import { Loading } from './parts/states.js';
import { rightsOf, SessionContext } from './session.js';
import { SignIn } from './views/sign-in.js';

/** @import { Session } from './types.d.ts' */

/** Of the caller where authentication is off. */
const NOBODY_ID = -1;

/** @typedef {{ session: Session } | { problem: string | null }} State */

/** Null until it is known whether a token is needed. @type {import('@preact/signals').Signal<State | null>} */
const state = signal(null);

/** Whoever has a session, or needs none, is let in; the first request tells. */
async function start() {
  try {
    await open();
  } catch (error) {
    const isExpected = error instanceof Refused && error.status === 401;
    state.value = { problem: isExpected ? null : messageOf(error) };
  }
}

/** Rejects when the token is not good. @param {string} token */
async function enter(token) {
  await beginSession(token);
  await open();
}

async function open() {
  const client = createClient();
  const profile = await client.get('/user/profile');
  const [me, { projects }, { environments }] = await Promise.all([
    client.get('/user'),
    client.get('/projects'),
    client.get('/environments'),
  ]);
  const feed = createFeed(client, () => leave('You are signed out, or your token is no longer valid.'));
  /** @type {[string, string][]} */
  const types = environments.map((/** @type {{ name: string, type: string }} */ { name, type }) => [
    name,
    type,
  ]);
  /** @type {Session} */
  const session = {
    client,
    profile,
    me,
    open: me.user.id === NOBODY_ID,
    isUser: me.user.id !== NOBODY_ID && !me.user.isAPI,
    feed,
    may: rightsOf(me, profile),
    projects: signal(projects),
    environmentTypes: signal(new Map(types)),
    signOut: () => void signOut(),
  };
  state.value = { session };
  void feed.look();
}

async function signOut() {
  try {
    await endSession();
    leave(null);
  } catch (error) {
    notice('refused', messageOf(error));
  }
}

/** @param {string | null} problem why the token is no longer of use; null when it was given up */
function leave(problem) {
  if (state.value !== null && 'session' in state.value) state.value.session.feed.close();
  closeDialogs();
  state.value = { problem };
  if (problem === null) notice('done', 'Signed out.');
}

function App() {
  if (state.value === null) return h(Loading, null);
  if ('session' in state.value) {
    return h(SessionContext.Provider, { value: state.value.session }, h(Page, null));
  }
  return [h(SignIn, { key: 'form', problem: state.value.problem, enter }), h(Notices, { key: 'notices' })];
}

const root = document.getElementById('app');
if (root !== null) {
  root.replaceChildren();
  whenSessionEnds(() => leave('You are signed out.'));
  render(h(App, null), root);
  void start();
}
