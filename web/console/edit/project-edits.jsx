/** The edits of a project: create, describe, delete, its members and its environments. */
import { path } from '../client.js';
import { userName } from '../format.js';
import { asOptions } from '../forms/choice.jsx';
import { openEdit } from '../forms/edit-dialog.jsx';
import { UserSearch } from '../forms/user-search.jsx';
import { linesOf, numberIn } from '../kinds/kind.js';
import { flagsOf, hrefOf } from '../place.js';
import { code, said } from '../said.jsx';
import { readPinned } from './pinned.js';
import { changeAtOnce, removeAfterAsking } from './remove.jsx';

/** @import { LoggedEvent, ProjectAccess, ProjectMember, ProjectSummary, ProjectSummaryOverview, Role, Session } from '../types.d.ts' */

/** @type {readonly (readonly [string, string])[]} */
const MODES = [
  ['open', 'Open'],
  ['protected', 'Protected'],
  ['private', 'Private'],
];

/** @param {Session} session */
export function createProject(session) {
  return openEdit(session, {
    title: 'New project',
    agree: 'Create',
    fields: [
      { name: 'name', label: 'Name', required: true },
      {
        name: 'id',
        label: 'Id',
        hint: 'Used in URLs; cannot be changed. Leave empty to generate it.',
      },
      { name: 'description', label: 'Description', kind: 'long-text' },
    ],
    values: { name: '', id: '', description: '' },
    sentence: ({ name }) =>
      `The project ${said(name || '…')} will be created without flags, with every enabled environment.`,
    change: ({ id, ...values }) => ({
      method: 'POST',
      path: '/projects',
      body: id === '' ? values : { id, ...values },
    }),
    done: ({ name }) => `The project ${said(name)} is created.`,
    after: (response) => {
      const { id } = /** @type {{ id: string }} */ (response);
      location.hash = hrefOf(flagsOf(id));
    },
  });
}

/** @typedef {{ name: string, description: string, mode: string, defaultStickiness: string }} ProjectValues */

/** @param {Session} session @param {ProjectSummary} project */
export async function describeProject(session, { id, name }) {
  const at = path`/projects/${id}`;
  const { values, pinned } = await readPinned(session, {
    at: `${at}/overview`,
    search: { type: 'project-updated', project: id },
    /** @param {ProjectSummary} project @returns {ProjectValues} */
    valuesIn: ({ name: called, description = '', mode, defaultStickiness }) => ({
      ...{ name: called, description, mode, defaultStickiness },
    }),
  });
  await openEdit(session, {
    title: `Edit the project ${said(name)}`,
    agree: 'Save',
    fields: [
      { name: 'name', label: 'Name', required: true },
      { name: 'description', label: 'Description', kind: 'long-text' },
      { name: 'mode', label: 'Mode', kind: 'choice', options: MODES },
      { name: 'defaultStickiness', label: 'Default stickiness' },
    ],
    values,
    sentence: (now) => `The project ${code(id)} will be named ${said(now.name || '…')}.`,
    change: (body) => ({ method: 'PUT', path: at, body }),
    done: (now) => `The project ${said(now.name)} is changed.`,
    undo: (_, __, from) => ({ method: 'PUT', path: at, body: from }),
    pinned,
  });
}

/** @typedef {{ pattern: string, example: string, description: string, limit: string, links: string }} Rules */

/** Rules for new flags. @param {Session} session @param {ProjectSummary} project */
export async function editRules(session, { id, name }) {
  const at = path`/projects/${id}`;
  const { values, pinned } = await readPinned(session, {
    at: `${at}/overview`,
    search: { type: 'project-updated', project: id },
    /** @param {ProjectSummaryOverview} project @returns {Rules} */
    valuesIn: ({ featureNaming: { pattern, example, description }, featureLimit, linkTemplates }) => ({
      ...{ pattern: pattern ?? '', example: example ?? '', description: description ?? '' },
      limit: featureLimit === null ? '' : String(featureLimit),
      links: linkTemplates
        .map(({ title, urlTemplate }) => `${title ? `${title}: ` : ''}${urlTemplate}`)
        .join('\n'),
    }),
  });
  /** @param {Rules} rules */
  const change = ({ pattern, example, description, limit, links }) =>
    /** @type {const} */ ({
      method: 'PUT',
      path: `${at}/settings`,
      body: {
        featureNaming: pattern === '' ? null : { pattern, example, description },
        featureLimit: limit.trim() === '' ? null : numberIn(limit),
        linkTemplates: linesOf(links).map(linkTemplateOf),
      },
    });
  await openEdit(session, {
    title: `Rules for new flags of ${said(name)}`,
    agree: 'Save',
    fields: [
      {
        name: 'pattern',
        label: 'Naming pattern',
        hint: 'A regular expression for the whole name. Leave empty to allow any name.',
      },
      { name: 'example', label: 'Example', when: ({ pattern }) => pattern !== '' },
      { name: 'description', label: 'Explanation of the pattern', when: ({ pattern }) => pattern !== '' },
      {
        name: 'limit',
        label: 'Maximum number of flags',
        hint: 'Leave empty for no limit beyond that of the server.',
        paths: ['featureLimit'],
      },
      {
        name: 'links',
        label: 'Links of new flags',
        kind: 'lines',
        hint: 'One per line: title, colon, URL. {{project}} and {{feature}} are replaced.',
        paths: ['linkTemplates'],
      },
    ],
    values,
    sentence: ({ pattern, limit }) =>
      `Names of new flags ${pattern === '' ? 'follow no pattern' : `match ${said(pattern)}`}; the project has ${limit === '' ? 'any number of flags' : `${limit} flags at most`}.`,
    change,
    done: () => `The rules of ${said(name)} are changed.`,
    undo: (_, __, from) => change(from),
    pinned,
  });
}

/** @param {string} line */
function linkTemplateOf(line) {
  const [, title, urlTemplate] = /^(.*?): +(\S+)$/.exec(line) ?? [];
  return urlTemplate === undefined ? { urlTemplate: line } : { title, urlTemplate };
}

/** @param {Session} session @param {ProjectSummary} project */
export const deleteProject = (session, { id, name }) =>
  removeAfterAsking(session, {
    title: `Delete the project ${said(name)}?`,
    agree: 'Delete for good',
    text: 'This also deletes its archived flags, its segments and its members’ roles, and cannot be undone. A project with unarchived flags cannot be deleted.',
    change: { method: 'DELETE', path: path`/projects/${id}` },
    done: `The project ${said(name)} is deleted.`,
  });

/** @param {Session} session @param {string} project @param {readonly Role[]} roles */
export function addMember(session, project, roles) {
  // The least of them: more is given on purpose.
  const role = roles.find(({ name }) => name === 'Member') ?? roles.at(-1);
  /** @param {{ user: string, role: string }} values */
  const memberPath = ({ user, role: held }) => path`/projects/${project}/users/${user || '0'}/roles/${held}`;
  return openEdit(session, {
    title: `Add a member to ${project}`,
    agree: 'Add',
    fields: [
      {
        name: 'user',
        label: 'User',
        kind: 'own',
        render: (control) => <UserSearch session={session} control={control} />,
      },
      {
        name: 'role',
        label: 'Role',
        kind: 'choice',
        options: asOptions(roles),
      },
    ],
    values: { user: '', role: String(role?.id ?? '') },
    sentence: ({ user, role: held }) =>
      `The user ${user || '…'} is ${roles.find(({ id }) => String(id) === held)?.name ?? '…'} of ${project}.`,
    change: (values) => ({ method: 'POST', path: memberPath(values) }),
    done: () => 'The member is added.',
    undo: (values) => ({ method: 'DELETE', path: memberPath(values) }),
  });
}

/** @typedef {{ project: string, etag: string, since: number }} AccessAt who belongs to a project, as it was read */

/** @param {AccessAt} access */
const pinnedAccess = ({ project, etag, since }) => ({
  at: path`/projects/${project}/access`,
  etag,
  since,
  search: { project },
  /** @param {LoggedEvent} event */
  isAbout: ({ type }) => /^project-(?:user|group)-/.test(type),
  valuesIn: () => null,
});

/** @param {Session} session @param {AccessAt} access @param {ProjectMember} member @param {number} roleId */
export const setRole = (session, { project, ...read }, { id, roleId: before }, roleId) =>
  changeAtOnce(session, {
    pinned: pinnedAccess({ project, ...read }),
    change: { method: 'PUT', path: path`/projects/${project}/users/${id}/roles/${roleId}` },
    undo: { method: 'PUT', path: path`/projects/${project}/users/${id}/roles/${before}` },
    done: 'The role is changed.',
  });

/** @param {Session} session @param {AccessAt} access @param {ProjectMember} member */
export function removeMember(session, { project, ...read }, member) {
  const at = path`/projects/${project}/users/${member.id}/roles/${member.roleId}`;
  return changeAtOnce(session, {
    pinned: pinnedAccess({ project, ...read }),
    change: { method: 'DELETE', path: at },
    undo: { method: 'POST', path: at },
    done: `${said(userName(member))} is no longer a member.`,
  });
}

/** @param {Session} session @param {string} project @param {readonly Role[]} roles @param {ProjectAccess['groups']} members groups that have a role already */
export async function addGroup(session, project, roles, members) {
  /** @type {{ groups: readonly { id: number, name: string }[] }} */
  const known = await session.client.get('/user-admin/access');
  const groups = known.groups.filter(({ id }) => !members.some((member) => member.id === id));
  const role = roles.find(({ name }) => name === 'Member') ?? roles.at(-1);
  await openEdit(session, {
    title: `Add a group to ${project}`,
    agree: 'Add',
    fields: [
      {
        name: 'group',
        label: 'Group',
        kind: 'choice',
        options: asOptions(groups),
        paths: ['groups'],
        required: true,
      },
      {
        name: 'role',
        label: 'Role',
        kind: 'choice',
        options: asOptions(roles),
        paths: ['roles'],
      },
    ],
    values: { group: String(groups[0]?.id ?? ''), role: String(role?.id ?? '') },
    sentence: ({ group, role: held }) =>
      `Everyone in ${said(groups.find(({ id }) => String(id) === group)?.name ?? '…')} is ${roles.find(({ id }) => String(id) === held)?.name ?? '…'} of ${project}.`,
    change: ({ group, role: held }) => ({
      method: 'POST',
      path: path`/projects/${project}/access`,
      body: { roles: [Number(held)], groups: [Number(group)] },
    }),
    done: () => 'The group is added.',
    undo: ({ group }) => ({ method: 'DELETE', path: path`/projects/${project}/groups/${group}/roles` }),
  });
}

/** @param {Session} session @param {AccessAt} access @param {ProjectAccess['groups'][number]} group @param {number} roleId */
export function setGroupRole(session, { project, ...read }, { id, roleId: before }, roleId) {
  const at = path`/projects/${project}/groups/${id}/roles`;
  return changeAtOnce(session, {
    pinned: pinnedAccess({ project, ...read }),
    change: { method: 'PUT', path: at, body: { roles: [roleId] } },
    undo: { method: 'PUT', path: at, body: { roles: [before] } },
    done: 'The role is changed.',
  });
}

/** @param {Session} session @param {AccessAt} access @param {ProjectAccess['groups'][number]} group */
export function removeGroup(session, { project, ...read }, { id, name, roleId }) {
  const access = path`/projects/${project}`;
  return changeAtOnce(session, {
    pinned: pinnedAccess({ project, ...read }),
    change: { method: 'DELETE', path: access + path`/groups/${id}/roles` },
    undo: { method: 'POST', path: `${access}/access`, body: { roles: [roleId], groups: [id] } },
    done: `${said(name)} is no longer a member.`,
  });
}

/** @param {Session} session @param {string} project @param {string} environment @param {boolean} isWanted */
export function setProjectEnvironment(session, project, environment, isWanted) {
  const add = /** @type {const} */ ({
    method: 'POST',
    path: path`/projects/${project}/environments`,
    body: { environment },
  });
  const remove = /** @type {const} */ ({
    method: 'DELETE',
    path: path`/projects/${project}/environments/${environment}`,
  });
  if (isWanted) {
    return changeAtOnce(session, { change: add, undo: remove, done: `${project} uses ${environment}.` });
  }
  return removeAfterAsking(session, {
    title: `Remove ${environment} from ${project}?`,
    agree: 'Remove for good',
    text: `Every flag of ${project} loses its strategies and variants in ${environment}, and the default strategy there is deleted. This cannot be undone, even by adding ${environment} again.`,
    change: remove,
    done: `${project} no longer uses ${environment}.`,
  });
}
