/** The parts of strategies, and those by which flags are sorted: segments, context fields, types of strategies and of tags. */
import { changing, path } from '../client.js';
import { changeAtOnce } from '../edit/remove.jsx';
import { showUses } from '../edit/uses.jsx';
import { counted } from '../format.js';
import { constraintsField } from '../forms/constraints-editor.jsx';
import { field } from '../forms/field.js';
import { inputOf } from '../operators.js';
import { Constraints } from '../parts/strategy.jsx';
import { said } from '../said.jsx';
import { DESCRIPTION, linesOf, NAME, textsOf } from './kind.js';

/** @import { ContextField, Segment, StrategyType, TagType } from '../types.d.ts' */
/** @import { Kind } from './kind.js' */

/** @type {Kind<Segment, readonly ContextField[]>} */
export const SEGMENTS = {
  one: 'segment',
  title: 'Segments',
  lead: 'Groups of users that strategies of any project can select.',
  none: 'A segment is a group of users that many strategies can select.',
  right: 'targeting',
  at: '/segments',
  listIn: ({ segments }) => segments,
  noteOf: ({ description = '' }) => description,
  columns: [
    [
      'Users',
      ({ constraints }) => (constraints.length === 0 ? 'Everyone' : <Constraints of={constraints} />),
    ],
    ['Used by', ({ usedInFeatures }) => counted(usedInFeatures, 'flag')],
  ],
  prepare: ({ client }) => client.get('/context'),
  fields: (fields) => [
    NAME,
    field('description', 'Description'),
    constraintsField('Users for whom all of this is true', fields),
  ],
  isRead: true,
  valuesOf: (segment) => ({
    ...textsOf(segment, 'name', 'description'),
    constraints: (segment?.constraints ?? []).map(inputOf),
  }),
  bodyOf: (values, _, segment) => ({
    ...values,
    ...(segment?.project === undefined ? {} : { project: segment.project }),
  }),
  edit: (_, segment) => ({
    wide: true,
    sentence({ name, constraints: { length } }) {
      const who =
        length === 0
          ? 'everyone'
          : `those for whom ${counted(length, 'constraint is', 'constraints are')} true`;
      const used =
        segment === null ? '' : ` ${counted(segment.usedInFeatures, 'flag uses', 'flags use')} it.`;
      return `${said(name || '…')} is ${who}.${used}`;
    },
  }),
  loses: 'This cannot be undone. A segment in use cannot be deleted.',
  actions: (_, { id, name }) => [
    ['Uses', 'branch', () => showUses(path`/segments/${id}/strategies`, `Strategies that use ${said(name)}`)],
  ],
};

/** Values of a context field that its row names. */
const VALUES_NAMED = 12;

/** A value with its description, which is set apart by a colon. @param {string} line */
function legalValueOf(line) {
  const [, value = line, description] = /^(.*?): +(.*)$/.exec(line) ?? [];
  return description === undefined ? { value } : { value, description };
}

/** @type {Kind<ContextField>} */
export const CONTEXT_FIELDS = {
  one: 'context field',
  title: 'Context fields',
  lead: 'What applications send about a user, for constraints to compare.',
  none: 'Define one for each user attribute that you want to target.',
  right: 'targeting',
  at: '/context',
  listIn: (fields) => fields,
  noteOf: ({ description }) => description,
  columns: [
    [
      'Values',
      ({ legalValues }) =>
        legalValues
          .map(({ value }) => value)
          .slice(0, VALUES_NAMED)
          .join(', ') || 'any',
    ],
    ['Sticky', ({ stickiness }) => (stickiness ? 'yes' : 'no')],
    ['Used by', ({ usedInFeatures }) => counted(usedInFeatures, 'flag')],
  ],
  isPermanent: ({ createdAt }) => createdAt === null,
  fields: (_, isNew) => [
    { ...NAME, fixed: !isNew },
    field('description', 'Description'),
    field('legalValues', 'Values to choose from', 'lines', {
      hint: 'One per line, optionally with a description after a colon. Leave empty for any value.',
    }),
    field('stickiness', 'Can be used for stickiness', 'check'),
  ],
  isRead: true,
  valuesOf: (field) => ({
    ...textsOf(field, 'name', 'description'),
    stickiness: field?.stickiness ?? false,
    legalValues: (field?.legalValues ?? [])
      .map(({ value, description = '' }) => (description === '' ? value : `${value}: ${description}`))
      .join('\n'),
  }),
  bodyOf: ({ name, description, stickiness, legalValues }, isNew) => ({
    ...(isNew ? { name } : {}),
    ...{ description, stickiness, legalValues: linesOf(legalValues).map(legalValueOf) },
  }),
  edit: () => ({
    sentence({ name, legalValues }) {
      const { length } = linesOf(legalValues);
      return `Constraints on ${said(name || '…')} ${length === 0 ? 'take any value' : `offer ${counted(length, 'value')}`}.`;
    },
  }),
  loses: ({ usedInFeatures }) =>
    `${counted(usedInFeatures, 'flag uses', 'flags use')} it. Constraints on it keep working; forms no longer offer it.`,
  actions: (_, { name }) => [
    [
      'Uses',
      'branch',
      () => showUses(path`/context/${name}/strategies`, `Strategies with a constraint on ${said(name)}`),
    ],
  ],
};

/** @type {Kind<TagType>} */
export const TAG_TYPES = {
  one: 'tag type',
  title: 'Tag types',
  lead: 'What the part of a tag before the colon means.',
  none: 'Create one to say what a tag such as “team: checkout” means.',
  right: 'targeting',
  at: '/tag-types',
  listIn: ({ tagTypes }) => tagTypes,
  columns: [
    ['Description', ({ description }) => description],
    ['Icon', ({ icon }) => icon ?? ''],
    ['Color', ({ color }) => color ?? ''],
  ],
  isFixed: ({ name }) => name === 'simple',
  fields: (_, isNew) => [
    { ...NAME, fixed: !isNew, hint: 'Letters, digits, “_”, “.”, “~” and “-”.' },
    DESCRIPTION,
    field('icon', 'Icon', 'text', { hint: 'A letter, or the name of an icon.' }),
    field('color', 'Color', 'text', { hint: 'Such as #1a2b3c. Leave empty for none.' }),
  ],
  valuesOf: (type) => textsOf(type, 'name', 'description', 'icon', 'color'),
  bodyOf: ({ name, description, icon, color }, isNew) => ({
    ...(isNew ? { name } : {}),
    ...{ description, icon: icon === '' ? null : icon, color: color === '' ? null : color },
  }),
  loses: 'Flags keep their tags of this type.',
};

/** Such as `share: percentage, required`. @param {StrategyType['parameters'][number]} parameter */
const parameterLine = ({ name, type, required }) => `${name}: ${type}${required ? ', required' : ''}`;

/** @type {Kind<StrategyType>} */
export const STRATEGY_TYPES = {
  one: 'strategy type',
  title: 'Strategy types',
  lead: 'Rules that strategies can use. Your applications implement those that you define here.',
  none: 'Define one that your applications evaluate themselves.',
  right: 'targeting',
  at: '/strategies',
  listIn: ({ strategies }) => strategies,
  columns: [
    ['Description', ({ description }) => description],
    ['Parameters', ({ parameters }) => parameters.map(({ name }) => name).join(', ')],
    ['State', ({ deprecated }) => (deprecated ? 'deprecated' : 'offered')],
  ],
  isFixed: ({ editable }) => !editable,
  fields: (_, isNew) => [
    { ...NAME, fixed: !isNew, hint: 'As the application’s code names it.' },
    DESCRIPTION,
    field('parameters', 'Parameters', 'lines', {
      hint: 'One per line: name, colon, and string, number, percentage, list or boolean; add “, required” if it is.',
    }),
  ],
  valuesOf: (type) => ({
    ...textsOf(type, 'name', 'description'),
    parameters: (type?.parameters ?? []).map(parameterLine).join('\n'),
  }),
  bodyOf: ({ name, description, parameters }) => ({
    ...{ name, description },
    parameters: linesOf(parameters).map((line) => {
      const [, parameter = line, type = 'string', required] =
        /^(.*?)\s*:\s*(\w+)\s*(,\s*required)?$/.exec(line) ?? [];
      return { name: parameter, type, required: required !== undefined };
    }),
  }),
  loses: 'A strategy type in use cannot be deleted.',
  actions(session, { name, deprecated }) {
    const deprecate = changing('POST', path`/strategies/${name}/deprecate`);
    const reactivate = changing('POST', path`/strategies/${name}/reactivate`);
    const [change, undo] = deprecated ? [reactivate, deprecate] : [deprecate, reactivate];
    const state = deprecated ? 'offered again' : 'deprecated: forms no longer offer it';
    const done = `The strategy type ${said(name)} is ${state}.`;
    return [
      [
        deprecated ? 'Offer again' : 'Deprecate',
        deprecated ? 'check' : 'archive',
        () => changeAtOnce(session, { change, undo, done }),
      ],
    ];
  },
};
