/** Passwords of others. The server sends no email: the links are handed on. */
import { changing, path } from '../client.js';
import { userName } from '../format.js';
import { openEdit } from '../forms/edit-dialog.jsx';
import { field, newPassword } from '../forms/field.js';
import { showSecret } from '../forms/secret.jsx';
import { said } from '../said.jsx';

/** @import { Session, User } from '../types.d.ts' */

/** @param {string} whose @param {string} secret @param {string} span */
export const showPasswordLink = (whose, secret, span) =>
  showSecret({
    title: `Send this link to ${said(whose)}`,
    lead: `Anyone who opens it within ${span} can set the password of ${said(whose)}. It works once, and is shown only now.`,
    label: 'The link',
    secret,
  });

/** @param {Session} session @param {User} user */
export function setPassword(session, user) {
  const whose = userName(user);
  return openEdit(session, {
    title: `Password of ${said(whose)}`,
    agree: 'Continue',
    fields: [
      field('way', 'Method', 'choice', {
        options: [
          ['link', 'Create a link to set it'],
          ['set', 'Set it here'],
        ],
        paths: ['id'],
      }),
      newPassword('New password', { when: ({ way }) => way === 'set' }),
    ],
    values: { way: 'link', password: '' },
    sentence: ({ way }) =>
      way === 'set'
        ? `${said(whose)} signs in with this password and is signed out of all current sessions.`
        : `You get a link that works once, within 24 hours. Earlier links stop working; the password stays valid until a new one is chosen.`,
    change: ({ way, password }) =>
      way === 'set'
        ? changing('POST', path`/user-admin/${user.id}/change-password`, { password })
        : changing('POST', '/user-admin/reset-password', { id: user.username || user.email || '' }),
    done: ({ way }) => (way === 'set' ? `The password of ${said(whose)} is set.` : 'The link is created.'),
    after: (response, { way }) => {
      if (way === 'set') return;
      const { resetPasswordUrl } = /** @type {{ resetPasswordUrl: string }} */ (response);
      void showPasswordLink(whose, resetPasswordUrl, '24 hours');
    },
  });
}
