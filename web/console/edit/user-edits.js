/** People and their tokens. */
import { h } from 'preact';
import { path } from '../client.js';
import { asOption } from '../forms/choice.js';
import { Modal, openDialog } from '../forms/dialogs.js';
import { openEdit } from '../forms/edit-dialog.js';
import { removeAfterAsking } from './remove.js';

/** @import { ApiToken, Edit, PersonalToken, Session, User } from '../types.d.ts' */

/** Root roles by id. @type {readonly (readonly [string, string])[]} */
export const ROOT_ROLES = [
  ['1', 'Admin'],
  ['2', 'Editor'],
  ['3', 'Viewer'],
  ['4', 'Owner'],
  ['5', 'Member'],
];

/** @typedef {{ name: string, email: string, username: string, rootRole: string }} UserValues */

/** @param {Session} session @param {User | null} user null for a new one */
export function editUser(session, user) {
  /** @type {UserValues} */
  const values = {
    name: user?.name ?? '',
    email: user?.email ?? '',
    username: user?.username ?? '',
    rootRole: String(user?.rootRole ?? 3),
  };
  const at = user === null ? '/user-admin' : path`/user-admin/${user.id}`;
  /** @type {Edit<UserValues>} */
  const edit = {
    title: user === null ? 'New user' : `Edit ${userName(user)}`,
    agree: user === null ? 'Create' : 'Save',
    fields: [
      { name: 'name', label: 'Name' },
      { name: 'email', label: 'Email', hint: 'An email or a username is needed.' },
      { name: 'username', label: 'Username' },
      {
        name: 'rootRole',
        label: 'Root role',
        kind: 'choice',
        options: ROOT_ROLES,
        hint: 'What they may do in every project.',
      },
    ],
    values,
    sentence: ({ name, email, username, rootRole }) => [
      h('b', null, name || username || email || '…'),
      ` is ${ROOT_ROLES.find(([id]) => id === rootRole)?.[1] ?? '…'} of the service.`,
    ],
    change: (now) => ({ method: user === null ? 'POST' : 'PUT', path: at, body: userBody(now) }),
    done: ({ name, email, username }) =>
      `${name || username || email} is ${user === null ? 'a user now' : 'changed'}.`,
    undo: user === null ? null : { method: 'PUT', path: at, body: userBody(values) },
  };
  return openEdit(session, edit);
}

/** Only what is filled in: an empty text is no name and no email. @param {UserValues} values */
function userBody({ name, email, username, rootRole }) {
  return {
    rootRole: Number(rootRole),
    name,
    ...(email === '' ? {} : { email }),
    ...(username === '' ? {} : { username }),
  };
}

/** @param {User} user */
export const userName = ({ name, username, email, id }) => name || username || email || `user ${id}`;

/** @param {Session} session @param {User} user */
export const deleteUser = (session, user) =>
  removeAfterAsking(session, {
    title: `Delete ${userName(user)}?`,
    agree: 'Delete for good',
    text: 'Their personal tokens stop working at once, and their memberships end.',
    change: { method: 'DELETE', path: path`/user-admin/${user.id}` },
    done: `${userName(user)} is deleted.`,
  });

/** Days until a token expires, unless something else is chosen. */
const DAYS = 90;

const inDays = () => new Date(Date.now() + DAYS * 86_400_000).toISOString().slice(0, 16);

/** A time of a form, which is in UTC, as the interface takes it. @param {string} time */
const isoOf = (time) => (time === '' ? null : `${time}:00.000Z`);

/** @param {Session} session @param {string} at where personal tokens are made @param {string} whose @param {() => void} after */
export function createPersonalToken(session, at, whose, after) {
  /** @type {Edit<{ description: string, expiresAt: string }>} */
  const edit = {
    title: `New personal token for ${whose}`,
    agree: 'Create',
    fields: [
      { name: 'description', label: 'What it is for', required: true },
      { name: 'expiresAt', label: 'Expires (UTC)', kind: 'time', required: true },
    ],
    values: { description: '', expiresAt: inDays() },
    sentence: ({ expiresAt }) =>
      `Whoever has it may do what ${whose} may, until ${expiresAt.replace('T', ' ') || '…'}.`,
    change: ({ description, expiresAt }) => ({
      method: 'POST',
      path: at,
      body: { description, expiresAt: isoOf(expiresAt) },
    }),
    done: () => 'The token is created.',
    after: (response) => {
      after();
      void showSecret(response);
    },
  };
  return openEdit(session, edit);
}

/** @param {Session} session @param {readonly string[]} projects @param {() => void} after */
export function createApiToken(session, projects, after) {
  const environments = [...session.environmentTypes.value.keys()];
  /** @type {Edit<{ tokenName: string, type: string, project: string, environment: string, expiresAt: string }>} */
  const edit = {
    title: 'New API token',
    agree: 'Create',
    fields: [
      { name: 'tokenName', label: 'Name', hint: 'The application that uses it.', required: true },
      {
        name: 'type',
        label: 'For',
        kind: 'choice',
        options: [
          ['client', 'Servers (client)'],
          ['frontend', 'Browsers and phones (frontend)'],
          ['admin', 'Administration (admin)'],
        ],
      },
      {
        name: 'project',
        label: 'Project',
        kind: 'choice',
        options: [['*', 'Every project'], ...projects.map(asOption)],
        when: ({ type }) => type !== 'admin',
        paths: ['project', 'projects'],
      },
      {
        name: 'environment',
        label: 'Environment',
        kind: 'choice',
        options: environments.map(asOption),
        when: ({ type }) => type !== 'admin',
      },
      { name: 'expiresAt', label: 'Expires (UTC)', kind: 'time', hint: 'Empty: never.' },
    ],
    values: {
      tokenName: '',
      type: 'client',
      project: '*',
      environment: environments[0] ?? '',
      expiresAt: '',
    },
    sentence: ({ type, project, environment }) =>
      type === 'admin'
        ? 'Whoever has it may do everything.'
        : `Whoever has it reads the flags of ${project === '*' ? 'every project' : project} in ${environment}.`,
    change: ({ tokenName, type, project, environment, expiresAt }) => ({
      method: 'POST',
      path: '/api-tokens',
      body: {
        tokenName,
        type,
        ...(type === 'admin' ? {} : { projects: [project], environment }),
        ...(expiresAt === '' ? {} : { expiresAt: isoOf(expiresAt) }),
      },
    }),
    done: ({ tokenName }) => `The token ${tokenName} is created.`,
    after: (response) => {
      after();
      void showSecret(response);
    },
  };
  return openEdit(session, edit);
}

/** It is shown once: nothing keeps it. @param {unknown} response */
function showSecret(response) {
  const { secret } = /** @type {{ secret: string }} */ (response);
  return openDialog((close) =>
    h(
      Modal,
      { title: 'Copy this token now', close },
      h('p', null, 'It is shown only this once. The server keeps nothing that it could be read from.'),
      h('pre', { class: 'secret', tabIndex: 0, role: 'group', 'aria-label': 'The token' }, secret),
      h(
        'div',
        { class: 'question-answers' },
        h(
          'button',
          { type: 'button', class: 'button', onClick: () => void navigator.clipboard?.writeText(secret) },
          'Copy',
        ),
        h(
          'button',
          { type: 'button', class: 'button button-main', 'data-first': true, onClick: close },
          'I have it',
        ),
      ),
    ),
  );
}

/** @param {Session} session @param {ApiToken} token */
export const deleteApiToken = (session, { tokenName, secret, digest }) =>
  removeAfterAsking(session, {
    title: `Delete the token ${tokenName}?`,
    agree: 'Delete for good',
    text: 'Applications that use it are refused at once.',
    change: { method: 'DELETE', path: path`/api-tokens/${digest || secret}` },
    done: `The token ${tokenName} is deleted.`,
  });

/** @param {Session} session @param {PersonalToken} token @param {string} at where it is */
export const deletePersonalToken = (session, { id, description }, at) =>
  removeAfterAsking(session, {
    title: `Delete the token “${description}”?`,
    agree: 'Delete for good',
    text: 'Whoever uses it is refused at once.',
    change: { method: 'DELETE', path: at + path`/${id}` },
    done: `The token “${description}” is deleted.`,
  });
