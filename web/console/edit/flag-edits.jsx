/** The edits of a flag as a whole: create, copy, describe, tag, and make it depend on another. */
import { flagPath, tryChangeFlag } from '../changes.jsx';
import { changing, path } from '../client.js';
import { asOption, asOptions } from '../forms/choice.jsx';
import { openEdit } from '../forms/edit-dialog.jsx';
import { field } from '../forms/field.js';
import { valuesIn } from '../forms/rows.js';
import { keepStart, kept } from '../kept.js';
import { hrefOf } from '../place.js';
import { protectedIn } from '../proposals.jsx';
import { code, said } from '../said.jsx';
import { isProduction } from '../session.js';
import { FLAG_TYPES } from '../words.js';
import { pinnedFlag } from './pinned.js';
import { everyone } from './strategy-edits.jsx';

/** @import { Change } from '../client.js' */
/** @import { Field, Flag, Session } from '../types.d.ts' */

const NAME_HINT =
  'Letters, digits, “_”, “.”, “~” and “-”; unique across all projects. Cannot be changed later.';

/** @typedef {{ name: string, description: string, type: string, impressionData: boolean, onIn: readonly string[] }} NewFlag */

/** @param {Session} session @param {string} project */
export async function createFlag(session, project) {
  const offered = await placesToStart(session, project);
  return openEdit(session, {
    title: 'New flag',
    agree: 'Create',
    fields: [
      field('name', 'Name', 'text', { hint: NAME_HINT, required: true, paths: ['name', 'changes/0'] }),
      field('onIn', 'On for everyone in', 'many', {
        options: offered.map(asOption),
        // What the server refuses of them belongs to no single box.
        paths: [],
        when: () => offered.length > 0,
      }),
      field('description', 'Description', 'long-text', { paths: ['description', 'changes/1'] }),
      field('type', 'Type', 'choice', { options: FLAG_TYPES }),
      IMPRESSIONS,
    ],
    values: {
      ...{ name: '', description: '', type: 'release', impressionData: false },
      onIn: offered.filter((name) => kept.value.startsIn.includes(name)),
    },
    sentence: ({ name, type, onIn }) =>
      `${typeText(type, true)} flag ${code(name || '…')} exists in ${code(project)}, ${onIn.length === 0 ? 'off in every environment' : `on for everyone in ${onIn.join(' and ')}, and off elsewhere`}.`,
    change: (values) => creating(project, values),
    done: ({ name, onIn }) =>
      `${name} is created${onIn.length === 0 ? '' : `, and on in ${onIn.join(' and ')}`}.`,
    undo: ({ name }) => changing('DELETE', flagPath(project, name)),
    after(_, { name, onIn }) {
      if (offered.length > 0) keepStart(offered, onIn);
      goTo(project, name);
    },
  });
}

/** The environments in which a new flag may be on at once; production is a decision of its own, on the flag's page. @param {Session} session @param {string} project @returns {Promise<readonly string[]>} */
async function placesToStart(session, project) {
  const all = session.projects.value.find(({ id }) => id === project)?.environments ?? [];
  // Where that is not known, the flag is switched on later.
  const guarded = await protectedIn(session, project).catch(() => null);
  return all.filter(
    (environment) =>
      !isProduction(session, environment) &&
      guarded?.every((one) => one.environment !== environment) &&
      session.holds('UPDATE_FEATURE_ENVIRONMENT', { project, environment }),
  );
}

/** Creates a flag, and switches it on with it: both, or neither. @param {string} project @param {NewFlag} values @returns {Change} */
function creating(project, { onIn, ...values }) {
  const at = path`/projects/${project}`;
  if (onIn.length === 0) return changing('POST', `${at}/features`, values);
  const { name: flag, description, type, impressionData } = values;
  /** @param {string | null} environment @param {string} field @param {unknown} before @param {unknown} after */
  const part = (environment, field, before, after) => ({ flag, environment, field, before, after });
  return changing('POST', `${at}/flags-as-code`, {
    changes: [
      part(null, 'presence', 'absent', 'active'),
      part(null, 'description', '', description),
      part(null, 'type', 'release', type),
      part(null, 'impressionData', false, impressionData),
      ...onIn.flatMap((environment) => [
        part(environment, 'strategies', [], [everyone(flag)]),
        part(environment, 'enabled', false, true),
      ]),
    ],
  });
}

const IMPRESSIONS = field('impressionData', 'Report each evaluation (impression data)', 'check');

/** Such as: a release. @param {string} type @param {boolean} [isFirst] whether it begins a sentence */
function typeText(type, isFirst = false) {
  const text = FLAG_TYPES.find(([key]) => key === type)?.[1].toLowerCase() ?? type;
  return `${isFirst ? 'A' : 'a'}${/^[aeiou]/.test(text) ? 'n' : ''} ${text}`;
}

/** @param {string} project @param {string} flag */
function goTo(project, flag) {
  location.hash = hrefOf({ view: 'flag', project, flag });
}

/** @param {Session} session @param {Flag} flag */
export function copyFlag(session, { project, name }) {
  return openEdit(session, {
    title: `Copy ${name}`,
    agree: 'Copy',
    fields: [
      field('name', 'Name of the copy', 'text', { hint: NAME_HINT, required: true }),
      field('replaceGroupId', 'Bucket users differently than the original', 'check', {
        hint: 'Strategies in the group of the original flag move to the group of the new one.',
      }),
    ],
    values: { name: `${name}-copy`, replaceGroupId: true },
    sentence: (values) =>
      `${code(values.name || '…')} has the strategies and variants of ${code(name)}, and is off in every environment.`,
    change: (body) => changing('POST', `${flagPath(project, name)}/clone`, body),
    done: (values) => `${values.name} is a copy of ${name}.`,
    after: (_, values) => goTo(project, values.name),
  });
}

/** The field for the project to which flags are moved. @param {readonly { id: string, name: string }[]} projects @returns {Field<{ newProjectId: string }>} */
export const projectField = (projects) =>
  field('newProjectId', 'Project', 'choice', { options: asOptions(projects) });

/** @param {Session} session @param {Flag} flag */
export function moveFlag(session, { project, name }) {
  const others = session.projects.value.filter(({ id }) => id !== project);
  return openEdit(session, {
    title: `Move ${name} to another project`,
    agree: 'Move',
    fields: [projectField(others)],
    values: { newProjectId: others[0]?.id ?? '' },
    sentence: ({ newProjectId }) =>
      `${code(name)} leaves ${code(project)} for ${code(newProjectId)}, with its strategies and its history. Tokens of one project alone no longer read it.`,
    change: (body) => changing('POST', `${flagPath(project, name)}/changeProject`, body),
    done: ({ newProjectId }) => `${name} is in ${newProjectId}.`,
    after: (_, { newProjectId }) => goTo(newProjectId, name),
  });
}

/** @typedef {{ description: string, type: string, stale: boolean, impressionData: boolean }} Metadata */

/** @param {Flag} flag @returns {Metadata} */
const metadataOf = ({ description, type, stale, impressionData }) => ({
  description: description ?? '',
  type,
  stale,
  impressionData,
});

/** @param {Session} session @param {Flag} flag @param {string} etag */
export function describeFlag(session, flag, etag) {
  const { project, name } = flag;
  return openEdit(session, {
    title: `Edit ${name}`,
    fields: [
      field('description', 'Description', 'long-text'),
      field('type', 'Type', 'choice', { options: FLAG_TYPES }),
      field('stale', 'Stale: should be removed from the code', 'check'),
      IMPRESSIONS,
    ],
    values: metadataOf(flag),
    sentence: ({ type, stale }) =>
      `${code(name)} is ${typeText(type)} flag${stale ? ', and stale' : ''}. Who gets it does not change.`,
    change: (body) => changing('PUT', flagPath(project, name), body),
    done: () => `${name} is changed.`,
    ...pinnedFlag(flag, etag, metadataOf),
  });
}

/** @param {Session} session @param {{ project: string, name: string }} flag */
export const reviveFlag = (session, { project, name }) =>
  tryChangeFlag(session, {
    project,
    flag: name,
    change: changing('POST', path`/archive/revive/${name}`),
    undo: changing('DELETE', flagPath(project, name)),
    done: `${name} is revived.`,
  });

/** @type {readonly Field<{ type: string, value: string }>[]} */
export const TAG_FIELDS = [
  field('type', 'Type', 'text', { required: true }),
  field('value', 'Value', 'text', { hint: '2 to 50 characters.', required: true }),
];

/** @param {Session} session @param {Flag} flag */
export function addTag(session, { project, name, tags }) {
  return openEdit(session, {
    title: `Tag ${name}`,
    agree: 'Add tag',
    fields: TAG_FIELDS,
    values: { type: 'simple', value: '' },
    sentence: ({ type, value }) =>
      `${code(name)} has the tag ${said(type || '…')}: ${said(value || '…')}${tags.length === 0 ? '' : ' in addition to its current tags'}.`,
    change: (body) => changing('POST', path`/features/${name}/tags`, body),
    done: ({ value }) => `${name} is tagged ${said(value)}.`,
    of: { project, name },
    undo: ({ type, value }) =>
      tags.some((one) => one.type === type && one.value === value)
        ? null
        : changing('DELETE', path`/features/${name}/tags/${type}/${value}`),
  });
}

/** @param {Session} session @param {Flag} flag @param {{ type: string, value: string }} tag */
export const removeTag = (session, { project, name }, { type, value }) =>
  tryChangeFlag(session, {
    project,
    flag: name,
    change: changing('DELETE', path`/features/${name}/tags/${type}/${value}`),
    undo: changing('POST', path`/features/${name}/tags`, { type, value }),
    done: `The tag ${said(value)} is removed.`,
  });

/** @param {Session} session @param {Flag} flag */
export async function addDependency(session, { project, name, dependencies }) {
  const at = flagPath(project, name);
  /** @type {string[]} */
  const parents = await session.client.get(`${at}/parents`);
  return openEdit(session, {
    title: `Make ${name} depend on another flag`,
    agree: 'Add dependency',
    fields: [
      field('feature', 'Flag', 'text', {
        suggestions: parents,
        required: true,
        hint: 'A flag of the same project without a dependency of its own.',
      }),
      field('enabled', 'Required state', 'choice', {
        options: [
          ['true', 'on'],
          ['false', 'off'],
        ],
      }),
      field('variants', 'With one of these variants', 'text', {
        hint: 'Separated by commas; empty for any.',
        when: ({ enabled }) => enabled === 'true',
      }),
    ],
    values: { feature: '', enabled: 'true', variants: '' },
    sentence: ({ feature, enabled }) =>
      `${code(name)} is on only for users for whom ${code(feature || '…')} is ${enabled === 'true' ? 'on' : 'off'} too.`,
    change: ({ feature, enabled, variants }) =>
      changing('POST', `${at}/dependencies`, {
        feature,
        enabled: enabled === 'true',
        ...(enabled === 'true' ? { variants: valuesIn(variants) } : {}),
      }),
    done: ({ feature }) => `${name} depends on ${feature}.`,
    of: { project, name },
    // A rollback does not change dependencies.
    undo({ feature }) {
      const replaced = dependencies.find((one) => one.feature === feature);
      if (replaced !== undefined) return changing('POST', `${at}/dependencies`, replaced);
      return changing('DELETE', at + path`/dependencies/${feature}`);
    },
  });
}

/** @param {Session} session @param {Flag} flag @param {Flag['dependencies'][number]} dependency */
export function removeDependency(session, { project, name }, dependency) {
  const at = `${flagPath(project, name)}/dependencies`;
  return tryChangeFlag(session, {
    project,
    flag: name,
    change: changing('DELETE', at + path`/${dependency.feature}`),
    undo: changing('POST', at, dependency),
    done: `${name} no longer depends on ${dependency.feature}.`,
  });
}

/** @param {Session} session @param {Flag} flag @param {Flag['links'][number] | null} link null for a new one */
export function editLink(session, { project, name }, link) {
  const at = `${flagPath(project, name)}/link`;
  return openEdit(session, {
    title: link === null ? `Add a link to ${name}` : `Edit a link of ${name}`,
    agree: link === null ? 'Add link' : 'Save',
    fields: [
      field('url', 'URL', 'text', { required: true, hint: 'Such as a ticket, a discussion or a design.' }),
      field('title', 'Title'),
    ],
    values: { url: link?.url ?? '', title: link?.title ?? '' },
    sentence: ({ url, title }) => `${code(name)} leads to ${said(title || url || '…')}.`,
    change: ({ url, title }) =>
      changing(link === null ? 'POST' : 'PUT', link === null ? at : at + path`/${link.id}`, {
        url,
        title: title === '' ? null : title,
      }),
    done: () => `The links of ${name} are changed.`,
    of: { project, name },
  });
}

/** @param {Session} session @param {Flag} flag @param {Flag['links'][number]} link */
export const removeLink = (session, { project, name }, { id, url, title }) =>
  tryChangeFlag(session, {
    project,
    flag: name,
    change: changing('DELETE', path`/projects/${project}/features/${name}/link/${id}`),
    done: `The link ${said(title ?? url)} is removed.`,
  });

/** @param {Session} session @param {Flag} flag */
export const commentOn = (session, { project, name }) =>
  openEdit(session, {
    title: `Comment on ${name}`,
    agree: 'Comment',
    fields: [field('text', 'Comment', 'long-text', { required: true })],
    values: { text: '' },
    sentence: () =>
      `The comment stands in the history of ${code(name)}, for everyone who sees the flag. It cannot be edited or deleted.`,
    change: (body) => changing('POST', `${flagPath(project, name)}/comments`, body),
    done: () => 'The comment is in the history.',
  });

/** @param {Session} session @param {Flag} flag */
export function completeFlag(session, { project, name }) {
  const at = `${flagPath(project, name)}/lifecycle`;
  return openEdit(session, {
    title: `Mark ${name} as completed`,
    agree: 'Mark as completed',
    fields: [
      field('status', 'Outcome', 'choice', {
        options: [
          ['kept', 'Keep the feature'],
          ['discarded', 'Discard the feature'],
        ],
      }),
      field('statusValue', 'Variant to keep', 'text', { when: ({ status }) => status === 'kept' }),
    ],
    values: { status: 'kept', statusValue: '' },
    sentence: ({ status }) =>
      `${code(name)} is completed and its feature is ${status}. Remove it from the code, then archive it. Nothing changes for users.`,
    change: ({ status, statusValue }) =>
      changing('POST', `${at}/complete`, { status, ...(statusValue === '' ? {} : { statusValue }) }),
    done: () => `${name} is completed.`,
    of: { project, name },
    undo: changing('POST', `${at}/uncomplete`),
  });
}

/** @param {Session} session @param {Flag} flag */
export async function resumeFlag(session, { project, name }) {
  const at = `${flagPath(project, name)}/lifecycle`;
  const search = { project, feature: name, type: 'feature-completed', limit: 1 };
  // How it was completed, without which that cannot be taken back.
  const found = await session.client.post('/events/search', search).catch(() => null);
  const completed = found?.events[0]?.data ?? null;
  return tryChangeFlag(session, {
    project,
    flag: name,
    change: changing('POST', `${at}/uncomplete`),
    undo: completed === null ? null : changing('POST', `${at}/complete`, completed),
    done: `${name} is reopened.`,
  });
}
