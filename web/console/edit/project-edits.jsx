/** The edits of a project: create, describe, delete, its members and its environments. */
import { changing, path } from '../client.js';
import { asOptions } from '../forms/choice.jsx';
import { openEdit } from '../forms/edit-dialog.jsx';
import { field } from '../forms/field.js';
import { UserSearch } from '../forms/user-search.jsx';
import { linesOf, numberIn } from '../kinds/kind.js';
import { flagsOf, hrefOf } from '../place.js';
import { code, said } from '../said.jsx';
import { readPinned } from './pinned.js';
import { changeAtOnce, removeAfterAsking } from './remove.jsx';

/** @import { Change } from '../client.js' */
/** @import { LoggedEvent, ProjectSummary, ProjectSummaryOverview, Role, Session } from '../types.d.ts' */

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
      field('name', 'Name', 'text', { required: true }),
      field('id', 'Id', 'text', { hint: 'Used in URLs; cannot be changed. Leave empty to generate it.' }),
      field('description', 'Description', 'long-text'),
    ],
    values: { name: '', id: '', description: '' },
    sentence: ({ name }) =>
      `The project ${said(name || '…')} will be created without flags, with every enabled environment.`,
    change: ({ id, ...values }) => changing('POST', '/projects', id === '' ? values : { id, ...values }),
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
    fields: [
      field('name', 'Name', 'text', { required: true }),
      field('description', 'Description', 'long-text'),
      field('mode', 'Mode', 'choice', { options: MODES }),
      field('defaultStickiness', 'Default stickiness'),
    ],
    values,
    sentence: (now) => `The project ${code(id)} will be named ${said(now.name || '…')}.`,
    change: (body) => changing('PUT', at, body),
    done: (now) => `The project ${said(now.name)} is changed.`,
    undo: 'before',
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
  await openEdit(session, {
    title: `Rules for new flags of ${said(name)}`,
    fields: [
      field('pattern', 'Naming pattern', 'text', {
        hint: 'A regular expression for the whole name. Leave empty to allow any name.',
      }),
      field('example', 'Example', 'text', { when: ({ pattern }) => pattern !== '' }),
      field('description', 'Explanation of the pattern', 'text', {
        when: ({ pattern }) => pattern !== '',
      }),
      field('limit', 'Maximum number of flags', 'text', {
        hint: 'Leave empty for no limit beyond that of the server.',
        paths: ['featureLimit'],
      }),
      field('links', 'Links of new flags', 'lines', {
        hint: 'One per line: title, colon, URL. {{project}} and {{feature}} are replaced.',
        paths: ['linkTemplates'],
      }),
    ],
    values,
    sentence: ({ pattern, limit }) =>
      `Names of new flags ${pattern === '' ? 'follow no pattern' : `match ${said(pattern)}`}; the project has ${limit === '' ? 'any number of flags' : `${limit} flags at most`}.`,
    change: ({ pattern, example, description, limit, links }) =>
      changing('PUT', `${at}/settings`, {
        featureNaming: pattern === '' ? null : { pattern, example, description },
        featureLimit: limit.trim() === '' ? null : numberIn(limit),
        linkTemplates: linesOf(links).map(linkTemplateOf),
      }),
    done: () => `The rules of ${said(name)} are changed.`,
    undo: 'before',
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
    change: changing('DELETE', path`/projects/${id}`),
    done: `The project ${said(name)} is deleted.`,
  });

/** @typedef {{ id: number, name: string, roleId: number, isGroup: boolean }} Member a user or a group with a role in a project */

/** The requests that give a member a role, and that take it away. @param {string} project @param {Omit<Member, 'name'>} member */
function rolesOf(project, { id, isGroup, roleId }) {
  const at = path`/projects/${project}`;
  const ofGroup = at + path`/groups/${id}/roles`;
  /** @param {number} role */
  const ofUser = (role) => at + path`/users/${id}/roles/${role}`;
  /** @param {number} role @returns {Change} */
  const set = (role) =>
    isGroup ? changing('PUT', ofGroup, { roles: [role] }) : changing('PUT', ofUser(role));
  /** @type {Change} */
  const add = isGroup
    ? changing('POST', `${at}/access`, { roles: [roleId], groups: [id] })
    : changing('POST', ofUser(roleId));
  /** @type {Change} */
  const remove = changing('DELETE', isGroup ? ofGroup : ofUser(roleId));
  return { set, add, remove };
}

/** @param {Session} session @param {string} project @param {readonly Role[]} roles @param {readonly Member[] | null} members those who have a role already, to add a group; null to add a user */
export async function addMember(session, project, roles, members) {
  const isGroup = members !== null;
  /** @type {readonly { id: number, name: string }[]} */
  const known = isGroup ? (await session.client.get('/user-admin/access')).groups : [];
  const groups = known.filter(({ id }) => !members?.some((one) => one.isGroup && one.id === id));
  // The least of them: more is given on purpose.
  const least = roles.find(({ name }) => name === 'Member') ?? roles.at(-1);
  /** @param {{ id: string, role: string }} values */
  const changes = ({ id, role }) => rolesOf(project, { id: Number(id), isGroup, roleId: Number(role) });
  await openEdit(session, {
    title: `Add a ${isGroup ? 'group' : 'member'} to ${project}`,
    agree: 'Add',
    fields: [
      isGroup
        ? field('id', 'Group', 'choice', { options: asOptions(groups), paths: ['groups'], required: true })
        : field('id', 'User', 'own', { render: (control) => <UserSearch control={control} /> }),
      field('role', 'Role', 'choice', { options: asOptions(roles), paths: ['roles'] }),
    ],
    values: { id: String(groups[0]?.id ?? ''), role: String(least?.id ?? '') },
    sentence({ id, role }) {
      const who = isGroup
        ? `Everyone in ${said(groups.find((one) => String(one.id) === id)?.name ?? '…')}`
        : `The user ${id || '…'}`;
      return `${who} is ${roles.find((one) => String(one.id) === role)?.name ?? '…'} of ${project}.`;
    },
    change: (values) => changes(values).add,
    done: () => `The ${isGroup ? 'group' : 'member'} is added.`,
    undo: (values) => changes(values).remove,
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

/** @param {Session} session @param {AccessAt} access @param {Member} member @param {number} roleId */
export function setRole(session, access, member, roleId) {
  const { set } = rolesOf(access.project, member);
  return changeAtOnce(session, {
    pinned: pinnedAccess(access),
    change: set(roleId),
    undo: set(member.roleId),
    done: 'The role is changed.',
  });
}

/** @param {Session} session @param {AccessAt} access @param {Member} member */
export function removeMember(session, access, member) {
  const { remove, add } = rolesOf(access.project, member);
  return changeAtOnce(session, {
    pinned: pinnedAccess(access),
    change: remove,
    undo: add,
    done: `${said(member.name)} is no longer a member.`,
  });
}

/** @param {Session} session @param {string} project @param {string} environment @param {boolean} isWanted */
export function setProjectEnvironment(session, project, environment, isWanted) {
  const add = changing('POST', path`/projects/${project}/environments`, { environment });
  const remove = changing('DELETE', path`/projects/${project}/environments/${environment}`);
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
