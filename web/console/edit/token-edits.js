/** Tokens: of people, and of applications. */
import { path } from '../client.js';
import { asOption } from '../forms/choice.jsx';
import { openEdit } from '../forms/edit-dialog.jsx';
import { showSecret } from '../forms/secret.jsx';
import { said } from '../said.jsx';
import { removeAfterAsking } from './remove.jsx';

/** @import { ApiToken, Edit, PersonalToken, Session } from '../types.d.ts' */

/** Days until a token expires, unless something else is chosen. */
const DAYS = 90;

/** As forms take a time. @param {number} days */
export const inDays = (days) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 16);

/** A time of a form, which is in UTC, as the interface takes it. @param {string} time */
export const isoOf = (time) => (time === '' ? null : `${time}:00.000Z`);

/** @param {Session} session @param {string} at where personal tokens are made @param {string} whose @param {() => void} after */
export function createPersonalToken(session, at, whose, after) {
  /** @type {Edit<{ description: string, expiresAt: string }>} */
  const edit = {
    title: `New personal token for ${whose === 'you' ? whose : said(whose)}`,
    agree: 'Create',
    fields: [
      { name: 'description', label: 'What it is for', required: true },
      { name: 'expiresAt', label: 'Expires (UTC)', kind: 'time', required: true },
    ],
    values: { description: '', expiresAt: inDays(DAYS) },
    sentence: ({ expiresAt }) =>
      `Whoever has it may do what ${whose === 'you' ? whose : said(whose)} may, until ${expiresAt.replace('T', ' ') || '…'}.`,
    change: ({ description, expiresAt }) => ({
      method: 'POST',
      path: at,
      body: { description, expiresAt: isoOf(expiresAt) },
    }),
    done: () => 'The token is created.',
    after: (response) => {
      after();
      void showToken(response);
    },
  };
  return openEdit(session, edit);
}

/** @param {string | null} project null for the tokens of all projects */
export const apiTokensPath = (project) =>
  project === null ? '/api-tokens' : path`/projects/${project}/api-tokens`;

/** @param {Session} session @param {string | null} of a project, for whose Owners it is; null for any @param {() => void} after */
export function createApiToken(session, of, after) {
  const environments = [...session.environmentTypes.value.keys()];
  const projects = session.projects.value.map(({ id }) => id);
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
          ...(of === null ? [/** @type {const} */ (['admin', 'Administration (admin)'])] : []),
        ],
      },
      {
        name: 'project',
        label: 'Project',
        kind: 'choice',
        options: [['*', 'Every project'], ...projects.map(asOption)],
        when: ({ type }) => of === null && type !== 'admin',
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
      project: of ?? '*',
      environment: environments[0] ?? '',
      expiresAt: '',
    },
    sentence: ({ type, project, environment }) =>
      type === 'admin'
        ? 'Whoever has it may do everything.'
        : `Whoever has it reads the flags of ${project === '*' ? 'every project' : project} in ${environment}.`,
    change: ({ tokenName, type, project, environment, expiresAt }) => ({
      method: 'POST',
      path: apiTokensPath(of),
      body: {
        tokenName,
        type,
        ...(type === 'admin' ? {} : { projects: [project], environment }),
        ...(expiresAt === '' ? {} : { expiresAt: isoOf(expiresAt) }),
      },
    }),
    done: ({ tokenName }) => `The token ${said(tokenName)} is created.`,
    after: (response) => {
      after();
      void showToken(response);
    },
  };
  return openEdit(session, edit);
}

/** @param {unknown} response */
const showToken = (response) =>
  showSecret({
    title: 'Copy this token now',
    lead: 'It is shown only now: the server does not store it.',
    label: 'The token',
    secret: /** @type {{ secret: string }} */ (response).secret,
  });

/** @param {Session} session @param {ApiToken} token @param {string | null} of the project in whose list it stands; null for that of all */
export const deleteApiToken = (session, { tokenName, secret, digest }, of) =>
  removeAfterAsking(session, {
    title: `Delete the token ${said(tokenName)}?`,
    agree: 'Delete for good',
    text: 'Applications that use it are refused at once.',
    change: { method: 'DELETE', path: apiTokensPath(of) + path`/${digest || secret}` },
    done: `The token ${said(tokenName)} is deleted.`,
  });

/** @param {Session} session @param {PersonalToken} token @param {string} at where it is */
export const deletePersonalToken = (session, { id, description }, at) =>
  removeAfterAsking(session, {
    title: `Delete the token ${said(description)}?`,
    agree: 'Delete for good',
    text: 'Whoever uses it is refused at once.',
    change: { method: 'DELETE', path: at + path`/${id}` },
    done: `The token ${said(description)} is deleted.`,
  });
