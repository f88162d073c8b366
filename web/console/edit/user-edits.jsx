/** Users, their passwords, and the invitations by which people become users. The server sends no email: links are handed on. */
import { path } from '../client.js';
import { openEdit } from '../forms/edit-dialog.jsx';
import { showSecret } from '../forms/secret.jsx';
import { Said, said } from '../said.jsx';
import { changeAtOnce, removeAfterAsking } from './remove.jsx';
import { inDays, isoOf } from './token-edits.js';

/** @import { Edit, Invitation, Role, Session, User } from '../types.d.ts' */

export const PASSWORD_HINT =
  'At least 10 characters, with a lowercase and an uppercase letter, a digit and another character; or at least 20 of any kind.';

/** Until an invitation expires, unless something else is chosen. */
const INVITATION_DAYS = 7;

/** @typedef {{ name: string, email: string, username: string, rootRole: string, password: string }} UserValues */

/** Of the role that new users have unless something else is chosen. */
const VIEWER_ROLE_ID = 3;

/** @param {Session} session */
export async function createUser(session) {
  const { rootRoles } = await session.client.get('/user-admin');
  await editUser(session, null, rootRoles);
}

/** @param {Session} session @param {User | null} user null for a new one @param {readonly Role[]} rootRoles */
export function editUser(session, user, rootRoles) {
  /** @type {UserValues} */
  const values = {
    name: user?.name ?? '',
    email: user?.email ?? '',
    username: user?.username ?? '',
    rootRole: String(user?.rootRole ?? VIEWER_ROLE_ID),
    password: '',
  };
  const at = user === null ? '/user-admin' : path`/user-admin/${user.id}`;
  /** @param {string} id */
  const roleOf = (id) => rootRoles.find((role) => String(role.id) === id);
  /** @type {Edit<UserValues>} */
  const edit = {
    title: user === null ? 'New user' : `Edit ${said(userName(user))}`,
    agree: user === null ? 'Create' : 'Save',
    fields: [
      { name: 'name', label: 'Name' },
      { name: 'email', label: 'Email', hint: 'An email or a username is needed.' },
      { name: 'username', label: 'Username' },
      {
        name: 'rootRole',
        label: 'Root role',
        kind: 'choice',
        options: rootRoles.map(({ id, name }) => [String(id), name]),
        hint: 'What they may do in every project.',
      },
      {
        name: 'password',
        label: 'Password',
        kind: 'password',
        autocomplete: 'new-password',
        hint: 'Empty: you get a link to send, with which they choose one.',
        when: () => user === null,
      },
    ],
    values,
    sentence: ({ name, email, username, rootRole }) => (
      <>
        <Said text={name || username || email || '…'} />
        {` is ${roleOf(rootRole)?.name ?? '…'} of the service. ${roleOf(rootRole)?.description ?? ''}`}
      </>
    ),
    change: (now) => ({ method: user === null ? 'POST' : 'PUT', path: at, body: userBody(now) }),
    done: ({ name, email, username }) =>
      `${said(name || username || email)} is ${user === null ? 'now a user' : 'changed'}.`,
    undo:
      user === null
        ? (_, { id }) => ({ method: 'DELETE', path: path`/user-admin/${id}` })
        : { method: 'PUT', path: at, body: userBody(values) },
    after: (response, { name, email, username }) => {
      const { inviteLink } = /** @type {{ inviteLink?: string }} */ (response);
      if (inviteLink !== undefined) void showPasswordLink(name || username || email, inviteLink, '3 days');
    },
  };
  return openEdit(session, edit);
}

/** Only what is filled in: an empty text is no name and no email. @param {UserValues} values */
function userBody({ name, email, username, rootRole, password }) {
  return {
    rootRole: Number(rootRole),
    name,
    ...(email === '' ? {} : { email }),
    ...(username === '' ? {} : { username }),
    ...(password === '' ? {} : { password }),
  };
}

/** @param {string} whose @param {string} secret @param {string} span */
const showPasswordLink = (whose, secret, span) =>
  showSecret({
    title: `Send this link to ${said(whose)}`,
    lead: `Whoever opens it within ${span} chooses the password of ${said(whose)}. It works once, and is shown only now.`,
    label: 'The link',
    secret,
  });

/** @param {User} user */
export const userName = ({ name, username, email, id }) => name || username || email || `user ${id}`;

/** @typedef {{ way: 'link' | 'set', password: string }} PasswordChoice */

/** @param {Session} session @param {User} user */
export function setPassword(session, user) {
  const whose = userName(user);
  /** @type {Edit<PasswordChoice>} */
  const edit = {
    title: `Password of ${said(whose)}`,
    agree: 'Continue',
    fields: [
      {
        name: 'way',
        label: 'Way',
        kind: 'choice',
        options: [
          ['link', 'Create a link with which they choose it'],
          ['set', 'Set it here'],
        ],
        paths: ['id'],
      },
      {
        name: 'password',
        label: 'New password',
        kind: 'password',
        autocomplete: 'new-password',
        hint: PASSWORD_HINT,
        when: ({ way }) => way === 'set',
      },
    ],
    values: { way: 'link', password: '' },
    sentence: ({ way }) =>
      way === 'set'
        ? `${said(whose)} signs in with this password, and is signed out wherever they are signed in now.`
        : `You get a link that works once, within 24 hours. Earlier links stop working; the password stays valid until a new one is chosen.`,
    change: ({ way, password }) =>
      way === 'set'
        ? { method: 'POST', path: path`/user-admin/${user.id}/change-password`, body: { password } }
        : {
            method: 'POST',
            path: '/user-admin/reset-password',
            body: { id: user.username || user.email || '' },
          },
    done: ({ way }) => (way === 'set' ? `The password of ${said(whose)} is set.` : 'The link is created.'),
    after: (response, { way }) => {
      if (way === 'set') return;
      const { resetPasswordUrl } = /** @type {{ resetPasswordUrl: string }} */ (response);
      void showPasswordLink(whose, resetPasswordUrl, '24 hours');
    },
  };
  return openEdit(session, edit);
}

/** @param {Session} session @param {User} user */
export const deleteUser = (session, user) =>
  removeAfterAsking(session, {
    title: `Delete ${said(userName(user))}?`,
    agree: 'Delete for good',
    text: 'Their personal tokens stop working at once, and their memberships end.',
    change: { method: 'DELETE', path: path`/user-admin/${user.id}` },
    done: `${said(userName(user))} is deleted.`,
  });

const INVITATIONS = '/invite-link/tokens';

/** @param {Session} session @param {() => void} after */
export function createInvitation(session, after) {
  /** @type {Edit<{ name: string, expiresAt: string }>} */
  const edit = {
    title: 'New invitation',
    agree: 'Create',
    fields: [
      { name: 'name', label: 'Name', hint: 'For whom it is: a team, an occasion.', required: true },
      { name: 'expiresAt', label: 'Expires (UTC)', kind: 'time', required: true },
    ],
    values: { name: '', expiresAt: inDays(INVITATION_DAYS) },
    sentence: ({ expiresAt }) =>
      `Whoever has the link becomes a user with the root role Viewer, until ${expiresAt.replace('T', ' ') || '…'}.`,
    change: ({ name, expiresAt }) => ({
      method: 'POST',
      path: INVITATIONS,
      body: { name, expiresAt: isoOf(expiresAt) },
    }),
    done: ({ name }) => `The invitation ${said(name)} is created.`,
    after: (response) => {
      after();
      void showSecret({
        title: 'Send this invitation',
        lead: 'It is shown only now. You can disable the invitation at any time.',
        label: 'The link',
        secret: /** @type {{ url: string }} */ (response).url,
      });
    },
  };
  return openEdit(session, edit);
}

/** @param {Session} session @param {Invitation} invitation */
export function turnInvitation(session, { secret, name, enabled }) {
  const at = INVITATIONS + path`/${secret}`;
  return changeAtOnce(session, {
    change: { method: 'PUT', path: at, body: { enabled: !enabled } },
    undo: { method: 'PUT', path: at, body: { enabled } },
    done: `The invitation ${said(name)} is ${enabled ? 'off' : 'on'}.`,
  });
}
