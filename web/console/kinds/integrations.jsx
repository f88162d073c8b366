/** Integrations: the services that receive events, and the state of their deliveries. */
import { changing, path } from '../client.js';
import { counted } from '../format.js';
import { field } from '../forms/field.js';
import { DeliveryState, showDeliveries } from '../parts/deliveries.jsx';
import { said } from '../said.jsx';
import { NOTICED } from '../words.js';
import { DESCRIPTION, switchItem } from './kind.js';

/** @import { Addon, AddonProvider, Environment, Field, ProjectSummary } from '../types.d.ts' */
/** @import { Kind } from './kind.js' */

/** @typedef {{ providers: readonly AddonProvider[], projects: readonly ProjectSummary[], environments: readonly Environment[] }} Choices */

/** The name in the form of a parameter: providers share names. @param {string} provider @param {string} parameter */
const fieldName = (provider, parameter) => `${provider}/${parameter}`;

/** @param {AddonProvider} provider @returns {readonly Field<any>[]} */
const fieldsOf = ({ name: provider, parameters, events }) => [
  ...parameters.map(({ name, displayName, type, required, sensitive, placeholder = '', description }) => {
    const kinds = { text: sensitive ? 'password' : 'text', textfield: 'long-text', url: 'text' };
    const example = placeholder === '' || placeholder.includes('\n') ? '' : ` For example, ${placeholder}`;
    return /** @type {Field<any>} */ ({
      name: fieldName(provider, name),
      label: displayName,
      kind: kinds[type],
      hint: description + example,
      required,
      isSecret: sensitive,
      ...(kinds[type] === 'password' ? { autocomplete: 'new-password' } : {}),
      paths: [`parameters/${name}`],
      when: (now) => now.provider === provider,
    });
  }),
  field('events', 'Events', 'many', {
    options: events.map((type) => [type, type]),
    when: (now) => now.provider === provider,
  }),
];

/** @param {readonly string[]} names no names, or `*`, stand for all @param {string} one @param {string} many */
const choiceText = (names, one, many) =>
  isAll(names)
    ? `all ${many}`
    : names.length === 1
      ? `the ${one} ${said(names[0] ?? '')}`
      : counted(names.length, one, many);

/** @param {readonly string[]} names */
const isAll = (names) => names.length === 0 || names.includes('*');

/** @type {Kind<Addon, Choices>} */
export const INTEGRATIONS = {
  one: 'integration',
  title: 'Integrations',
  lead: 'Send changes to chat, monitoring, or a webhook of your own.',
  none: 'Create one to see changes in Slack, Microsoft Teams or elsewhere.',
  right: 'admin',
  isForAdmins: true,
  at: '/addons',
  listIn: ({ addons }) => addons,
  nameOf: ({ id, provider, description }) => description || `${provider} ${id}`,
  columns: [
    [
      'Sends to',
      ({ provider }, { providers }) => {
        const { displayName, deprecated } = providers.find(
          (/** @type {AddonProvider} */ one) => one.name === provider,
        );
        return deprecated === undefined ? displayName : `${displayName} (deprecated)`;
      },
    ],
    ['Events', ({ events }) => counted(events.length, 'type')],
    ['Projects', ({ projects }) => (isAll(projects) ? 'all' : projects.join(', '))],
    ['Environments', ({ environments }) => (isAll(environments) ? 'all' : environments.join(', '))],
    ['State', ({ id, enabled }) => (enabled ? <DeliveryState id={id} /> : 'off')],
  ],
  prepare: async ({ client, projects }) => {
    const [{ providers }, { environments }] = await Promise.all([
      client.get('/addons'),
      client.get('/environments'),
    ]);
    return { providers, environments, projects: projects.value };
  },
  fields: ({ providers, projects, environments }, isNew) => [
    field('provider', 'Sends to', 'choice', {
      options: providers
        .filter(({ deprecated }) => !isNew || deprecated === undefined)
        .map(({ name, displayName }) => [name, displayName]),
      fixed: !isNew,
    }),
    DESCRIPTION,
    ...providers.flatMap(fieldsOf),
    field('projects', 'Projects', 'many', {
      hint: 'None selected: all.',
      options: projects.map(({ id, name }) => [id, name]),
    }),
    field('environments', 'Environments', 'many', {
      hint: 'None selected: all. Events that belong to no environment are always sent.',
      options: environments.map(({ name }) => [name, name]),
    }),
  ],
  valuesOf: (one) => ({
    provider: one?.provider ?? 'webhook',
    description: one?.description ?? '',
    events: one?.events ?? NOTICED,
    projects: one === null || isAll(one.projects) ? [] : one.projects,
    environments: one === null || isAll(one.environments) ? [] : one.environments,
    ...Object.fromEntries(
      Object.entries(one?.parameters ?? {}).map(([name, value]) => [
        fieldName(one?.provider ?? '', name),
        value,
      ]),
    ),
  }),
  bodyOf: ({ provider, description, events, projects, environments, ...others }) => ({
    ...{ provider, description, events, projects, environments },
    parameters: Object.fromEntries(
      Object.entries(others).flatMap(([name, value]) => {
        const [of, parameter = ''] = name.split('/');
        return of === provider ? [[parameter, value]] : [];
      }),
    ),
  }),
  edit: (_, one, { providers }) => ({
    wide: true,
    sentence: ({ provider, events, projects, environments }) => {
      const to = providers.find(({ name }) => name === provider)?.displayName ?? said(provider);
      const where = `${choiceText(projects, 'project', 'projects')} and ${choiceText(environments, 'environment', 'environments')}`;
      return `${to} receives ${counted(events.length, 'type')} of events from ${where}.`;
    },
    done: () => `The integration is ${one === null ? 'created' : 'changed'}.`,
  }),
  loses: 'It no longer receives events.',
  actions: (session, one) => [
    ['Deliveries', 'history', () => showDeliveries(one)],
    switchItem(session, 'The integration', one.enabled, (enabled) => ({
      ...changing('PUT', path`/addons/${one.id}`, { provider: one.provider, enabled }),
    })),
  ],
};
