/** Tokens: of people and programs, and of applications. Each is shown once, when it is made. */
import { path } from '../client.js';
import { date } from '../format.js';
import { asOption } from '../forms/choice.jsx';
import { field } from '../forms/field.js';
import { showSecret } from '../forms/secret.jsx';
import { LastTime } from '../parts/time-ago.jsx';
import { said } from '../said.jsx';

/** @import { ApiToken, PersonalToken, Session } from '../types.d.ts' */
/** @import { Kind } from './kind.js' */

/** Days until a personal token expires, unless something else is chosen. */
const DAYS = 90;

/** A time as forms take it. @param {string} iso */
const formTime = (iso) => iso.slice(0, 16);

/** The same of a time to come. @param {number} days */
export const inDays = (days) => formTime(new Date(Date.now() + days * 86_400_000).toISOString());

/** A time of a form, which is in UTC, as the interface takes it. @param {string} time */
export const isoOf = (time) => (time === '' ? null : `${time}:00.000Z`);

/** @param {{ secret: string }} response */
const showToken = ({ secret }) =>
  showSecret({
    title: 'Copy this token now',
    lead: 'It is shown only now: the server does not store it.',
    label: 'The token',
    secret,
  });

/** @param {string} at where they are made @param {string | null} whose null for those of the caller @returns {Kind<PersonalToken>} */
export const personalTokens = (at, whose) => ({
  one: 'personal token',
  title: whose === null ? 'Your tokens' : 'Tokens',
  none: `A program with one can do anything that ${whose === null ? 'you' : said(whose)} can.`,
  ...(whose === null ? {} : { right: /** @type {const} */ ('admin') }),
  at,
  listIn: ({ pats }) => pats,
  nameOf: ({ id, description }) => description || `Token ${id}`,
  columns: [
    ['Expires', ({ expiresAt }) => date(expiresAt)],
    ['Last used', ({ seenAt }) => <LastTime iso={seenAt} />],
  ],
  fields: () => [
    field('description', 'What it is for', 'text', { required: true }),
    field('expiresAt', 'Expires (UTC)', 'time', { required: true }),
  ],
  isWrittenOnce: true,
  valuesOf: () => ({ description: '', expiresAt: inDays(DAYS) }),
  bodyOf: ({ description, expiresAt }) => ({ description, expiresAt: isoOf(expiresAt) }),
  edit: () => ({
    sentence: ({ expiresAt }) =>
      `Anyone who has it can do anything that ${whose === null ? 'you' : said(whose)} can, until ${expiresAt.replace('T', ' ') || '…'}.`,
    done: () => 'The token is created.',
    after: (response) => void showToken(response),
  }),
  loses: 'Anyone using it is refused immediately.',
});

/** @param {string | null} project null for the tokens of all projects */
export const apiTokensPath = (project) =>
  project === null ? '/api-tokens' : path`/projects/${project}/api-tokens`;

/** @param {string | null} of a project, for whose Owners they are; null for all @returns {Kind<ApiToken, Session>} */
export const apiTokens = (of) => ({
  one: 'API token',
  title: 'API tokens',
  none: 'Each application needs one to read its flags.',
  right: of === null ? 'admin' : 'project',
  ...(of === null ? {} : { project: of }),
  at: apiTokensPath(of),
  listIn: ({ tokens }) => tokens,
  pathOf: ({ digest, secret }) => apiTokensPath(of) + path`/${digest || secret}`,
  nameOf: ({ tokenName }) => tokenName,
  columns: [
    ['Type', ({ type }) => type],
    ['Projects', ({ projects }) => projects.join(', ')],
    ['Environment', ({ environment }) => environment],
    ['Expires', ({ expiresAt }) => (expiresAt === null ? 'never' : date(expiresAt))],
    ['Last used', ({ seenAt }) => <LastTime iso={seenAt} />],
  ],
  prepare: async (session) => session,
  fields: (session, isNew) => (isNew ? tokenFields(session, of) : [EXPIRES]),
  // The interface changes them for Admins alone.
  isWrittenOnce: of !== null,
  valuesOf: (token) => ({
    tokenName: token?.tokenName ?? '',
    type: 'client',
    project: of ?? '*',
    environment: '',
    expiresAt: formTime(token?.expiresAt ?? ''),
  }),
  bodyOf: ({ tokenName, type, project, environment, expiresAt }, isNew) =>
    isNew
      ? {
          ...{ tokenName, type },
          ...(type === 'admin' ? {} : { projects: [project], environment }),
          ...(expiresAt === '' ? {} : { expiresAt: isoOf(expiresAt) }),
        }
      : { expiresAt: isoOf(expiresAt) },
  edit: (session, token) =>
    token === null
      ? {
          values: {
            ...{ tokenName: '', type: 'client', project: of ?? '*', expiresAt: '' },
            environment: [...session.environmentTypes.value.keys()][0] ?? '',
          },
          sentence: ({ type, project, environment }) =>
            type === 'admin'
              ? 'Anyone who has it can do everything.'
              : `Anyone who has it can read the flags of ${project === '*' ? 'every project' : project} in ${environment}.`,
          done: ({ tokenName }) => `The token ${said(tokenName)} is created.`,
          after: (response) => void showToken(response),
          undo: null,
        }
      : {
          sentence: ({ expiresAt }) =>
            `The token ${said(token.tokenName)} ${expiresAt === '' ? 'never expires' : `expires on ${expiresAt.replace('T', ' at ')}`}.`,
        },
  loses: 'Applications using it are refused immediately.',
});

const EXPIRES = field('expiresAt', 'Expires (UTC)', 'time', { hint: 'Leave empty for no expiry.' });

/** @param {Session} session @param {string | null} of @returns {readonly import('../types.d.ts').Field<any>[]} */
const tokenFields = ({ projects, environmentTypes }, of) => [
  field('tokenName', 'Name', 'text', { hint: 'The application that uses it.', required: true }),
  field('type', 'For', 'choice', {
    options: [
      ['client', 'Servers (client)'],
      ['frontend', 'Browsers and phones (frontend)'],
      ...(of === null ? [/** @type {const} */ (['admin', 'Administration (admin)'])] : []),
    ],
  }),
  field('project', 'Project', 'choice', {
    options: [['*', 'Every project'], ...projects.value.map(({ id }) => asOption(id))],
    when: ({ type }) => of === null && type !== 'admin',
    paths: ['project', 'projects'],
  }),
  field('environment', 'Environment', 'choice', {
    options: [...environmentTypes.value.keys()].map(asOption),
    when: ({ type }) => type !== 'admin',
  }),
  EXPIRES,
];
