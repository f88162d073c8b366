/** The environments in which applications run, and the applications that have asked. */
import { changing, path } from '../client.js';
import { changeAtOnce } from '../edit/remove.jsx';
import { number } from '../format.js';
import { field } from '../forms/field.js';
import { ApplicationLink } from '../parts/application.jsx';
import { LastTime } from '../parts/time-ago.jsx';
import { said } from '../said.jsx';
import { DESCRIPTION, NAME, switchItem, textsOf } from './kind.js';

/** @import { Application, Environment, Session } from '../types.d.ts' */
/** @import { Kind } from './kind.js' */

const ENVIRONMENT_TYPES = ['development', 'test', 'preproduction', 'production'];

/** @type {Kind<Environment>} */
export const ENVIRONMENTS = {
  one: 'environment',
  title: 'Environments',
  lead: 'Where applications run. Each flag has its own switch and strategies in each.',
  none: 'Create one for each place where applications run.',
  right: 'admin',
  at: '/environments',
  listIn: ({ environments }) => environments,
  columns: [
    [
      'Type',
      ({ type }) => (type === 'production' ? <span class="badge badge-production">production</span> : type),
    ],
    ['State', ({ enabled }) => (enabled ? 'on' : 'off')],
    ['Projects', ({ projectCount }) => number(projectCount)],
    ['Flags that are on', ({ enabledToggleCount }) => number(enabledToggleCount)],
    ['API tokens', ({ apiTokenCount }) => number(apiTokenCount)],
  ],
  fields: (_, isNew) => [
    { ...NAME, hint: 'Letters, digits, “_”, “.”, “~” and “-”.', when: () => isNew },
    field('type', 'Type', 'text', {
      suggestions: ENVIRONMENT_TYPES,
      hint: 'Changes to production environments need confirmation.',
      required: true,
    }),
    field('sortOrder', 'Position', 'number', { hint: 'Lower ones come first.', when: () => !isNew }),
  ],
  isRead: true,
  valuesOf: (environment) => ({
    name: environment?.name ?? '',
    type: environment?.type ?? 'development',
    sortOrder: environment?.sortOrder ?? 0,
  }),
  bodyOf: ({ name, type, sortOrder }, isNew) => (isNew ? { name, type } : { type, sortOrder }),
  changeAt: ({ name }) => path`/environments/update/${name}`,
  edit: (_, environment) => ({
    ...(environment === null ? {} : { environment: () => environment.name }),
    sentence: ({ name, type }) =>
      `The environment ${said(name || '…')} ${environment === null ? 'exists, with' : 'has'} the type ${said(type || '…')}.`,
  }),
  loses: 'This also deletes the strategies and switches of every flag there, and cannot be undone.',
  actions: (session, environment, { environments }) => [
    switchItem(
      session,
      environment.name,
      environment.enabled,
      (isOn) => changing('POST', path`/environments/${environment.name}/${isOn ? 'on' : 'off'}`),
      {
        title: `Switch ${environment.name} off?`,
        agree: 'Switch off',
        text: `New projects do not get ${environment.name} while it is off.`,
      },
    ),
    environments[0] === environment
      ? null
      : ['Move up', 'up', () => moveUp(session, environments, environment)],
  ],
};

/** @param {Session} session @param {readonly Environment[]} all @param {Environment} moved */
function moveUp(session, all, moved) {
  const at = all.indexOf(moved);
  /** @param {readonly Environment[]} list */
  const order = (list) =>
    changing(
      'PUT',
      '/environments/sort-order',
      Object.fromEntries(list.map(({ name }, index) => [name, index + 1])),
    );
  const next = [...all.slice(0, at - 1), moved, ...all.slice(at - 1).filter((one) => one !== moved)];
  return changeAtOnce(session, {
    change: order(next),
    undo: order(all),
    done: `${moved.name} moved up.`,
  });
}

/** @type {Kind<Application>} */
export const APPLICATIONS = {
  one: 'application',
  title: 'Applications',
  lead: 'Applications that read flags from this server, as their SDKs report them.',
  none: 'An application is listed here once its SDK has connected.',
  right: 'admin',
  at: '/metrics/applications',
  listIn: ({ applications }) => applications,
  pathOf: ({ appName }) => path`/metrics/applications/${appName}`,
  nameOf: ({ appName }) => appName,
  link: ({ appName }) => <ApplicationLink name={appName} />,
  columns: [
    ['Description', ({ description }) => description],
    ['Projects', ({ usage }) => usage.map(({ project }) => project).join(', ')],
    [
      'Environments',
      ({ usage }) => [...new Set(usage.flatMap(({ environments }) => environments))].join(', '),
    ],
    ['Strategies', ({ strategies }) => strategies.join(', ')],
    ['First seen', ({ createdAt }) => <LastTime iso={createdAt} />],
  ],
  fields: () => [DESCRIPTION, field('url', 'URL', 'text', { hint: 'Link to its code or description.' })],
  isRead: true,
  valuesOf: (application) => ({
    name: application?.appName ?? '',
    ...textsOf(application, 'description', 'url'),
  }),
  bodyOf: ({ description, url }) => ({ description, url }),
  isReported: true,
  changeBy: 'POST',
  loses: 'It is listed again when its SDK next connects.',
};
