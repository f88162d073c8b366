/** What can be begun from anywhere, by its name. */
import { place } from '../place.js';
import { changeOwnPassword } from './account-edits.js';
import { createFlag } from './flag-edits.jsx';
import { createProject } from './project-edits.jsx';
import { createEnvironment, editContextField, editSegment } from './service-edits.jsx';
import { createApiToken, createPersonalToken } from './token-edits.js';
import { createInvitation, createUser } from './user-edits.jsx';

/** @import { Session } from '../types.d.ts' */

const nothing = () => undefined;

/** Those that the caller may take where they are. @param {Session} session @returns {readonly { name: string, act: () => unknown }[]} */
export function actionsOf(session) {
  const at = place.value;
  const project = at !== null && 'project' in at ? at.project : null;
  const isAdmin = session.may('admin');
  const mayTarget = session.may('targeting');
  /** @type {readonly [isOffered: boolean, name: string, act: () => unknown][]} */
  const all = [
    [
      project !== null && session.may('flags', project),
      `New flag in ${project}`,
      () => createFlag(session, project ?? ''),
    ],
    [session.may('create-project'), 'New project', () => createProject(session)],
    [mayTarget, 'New segment', () => editSegment(session, null)],
    [mayTarget, 'New context field', () => editContextField(session, null)],
    [isAdmin, 'New environment', () => createEnvironment(session)],
    [isAdmin, 'New user', () => createUser(session)],
    [isAdmin, 'New invitation', () => createInvitation(session, nothing)],
    [isAdmin, 'New API token', () => createApiToken(session, null, nothing)],
    [
      session.isUser,
      'New personal token',
      () => createPersonalToken(session, '/user/tokens', 'you', nothing),
    ],
    [session.isUser, 'Change your password', () => changeOwnPassword(session, nothing)],
    [!session.open, 'Sign out', () => session.signOut()],
  ];
  return all.filter(([isOffered]) => isOffered).map(([, name, act]) => ({ name, act }));
}
