/** How people come in and go out: the ways that the server offers, and the sessions that begin by them. */
import { path, request } from './client.js';

/** @import { OwnSession, SignIns } from './types.d.ts' */

/** All tabs share the session, and its end. */
const tabs = new BroadcastChannel('flagstaff-session');

/** Calls `listener` when another tab has ended the session. @param {() => void} listener */
export function whenSessionEnds(listener) {
  tabs.onmessage = listener;
}

/** Tokens are taken always, so they are offered where the server does not say. @returns {Promise<SignIns>} */
export async function offeredSignIns() {
  try {
    return (await request('auth/sign-ins')).body;
  } catch {
    return { token: true, password: false, provider: null };
  }
}

/** Rejects when the token is not good. @param {string} token */
export const beginSession = (token) =>
  request('auth/session', { method: 'POST', headers: { authorization: token } });

/** Rejects when they are wrong. @param {{ username: string, password: string }} body */
export const beginSessionByPassword = (body) => request('auth/simple/login', { method: 'POST', body });

/** Resolves to where the browser signs out at the provider too; null for nowhere. */
export async function endSession() {
  const { headers } = await request('auth/session', { method: 'DELETE' });
  tabs.postMessage('ended');
  return headers.get('flagstaff-sign-out-at');
}

/** @returns {Promise<readonly OwnSession[]>} */
export const ownSessions = async () => (await request('auth/sessions')).body.sessions;

/** @param {number} id */
export const endOneSession = (id) => request(path`auth/sessions/${id}`, { method: 'DELETE' });

export async function endAllSessions() {
  await request('auth/sessions', { method: 'DELETE' });
  tabs.postMessage('ended');
}

/** The reasons why a sign-in failed at the provider, by the word in the address that the server sends the browser back to. */
const PROBLEMS = new Map([
  [
    'unreachable',
    'The provider cannot be reached at the moment. Try again in a while, or sign in another way.',
  ],
  ['denied', 'The provider did not sign you in.'],
  ['expired', 'The sign-in was started in another browser or more than ten minutes ago. Start again.'],
  ['failed', 'The provider sent an invalid response. Try again; the server log says why.'],
  ['busy', 'Many people are signing in right now. Try again in a few seconds.'],
  ['refused', 'You may not sign in: none of your groups has a role here. Ask an Admin for one.'],
  ['taken', 'Another user has your email or your name already. Ask an Admin which of them you are.'],
]);

/** The problem in the address, which it is taken out of; null for none. */
export function takeProblem() {
  const word = new URLSearchParams(location.search).get('problem');
  if (word === null) return null;
  history.replaceState(null, '', `${location.pathname}${location.hash}`);
  return PROBLEMS.get(word) ?? 'You could not be signed in.';
}
