/** The edits of one's own account. */
import { changing } from '../client.js';
import { ask } from '../forms/ask.jsx';
import { openEdit } from '../forms/edit-dialog.jsx';
import { field, newPassword } from '../forms/field.js';
import { notice, noticeRefusal } from '../notices.jsx';
import { endOneSession } from '../sessions.js';

/** @import { OwnSession, Session } from '../types.d.ts' */

/** @param {Session} session @param {() => void} after */
export function changeOwnPassword(session, after) {
  const { username, email } = session.me.user;
  return openEdit(session, {
    title: 'Change your password',
    agree: 'Change',
    fields: [
      field('oldPassword', 'Current password', 'password', {
        required: true,
        autocomplete: 'current-password',
      }),
      newPassword('New password'),
      field('confirmPassword', 'Confirm new password', 'password', {
        required: true,
        autocomplete: 'new-password',
      }),
    ],
    values: { oldPassword: '', password: '', confirmPassword: '' },
    sentence: () => 'You stay signed in here and are signed out everywhere else.',
    change: (body) => changing('POST', '/user/change-password', body),
    send: (change, { password }) =>
      session.replaceSession(() => session.client.change(change), {
        username: username ?? email ?? '',
        password,
      }),
    done: () => 'Your password was changed.',
    after,
  });
}

/** @param {OwnSession} one @param {() => void} after */
export async function endSessionOf({ id }, after) {
  try {
    await endOneSession(id);
    notice('done', 'The session has ended.');
  } catch (error) {
    noticeRefusal(error);
  }
  after();
}

/** @param {Session} session */
export async function endEverySession(session) {
  const agreed = await ask({
    title: 'End all your sessions?',
    agree: 'End all',
    danger: true,
    body: 'You are signed out in every browser, including this one. Your tokens keep working.',
  });
  if (agreed) await session.signOutEverywhere();
}
