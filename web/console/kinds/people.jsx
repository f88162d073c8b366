/** People and programs that may come in: users, groups, roles, service accounts and invitations. */
import { changing, path } from '../client.js';
import { setPassword, showPasswordLink } from '../edit/passwords.js';
import { counted, date, userName } from '../format.js';
import { asOptions } from '../forms/choice.jsx';
import { field } from '../forms/field.js';
import { showSecret } from '../forms/secret.jsx';
import { LastTime } from '../parts/time-ago.jsx';
import { said } from '../said.jsx';
import { openKind } from '../views/kind-view.jsx';
import { DESCRIPTION, linesOf, NAME, switchItem, textsOf } from './kind.js';
import { inDays, isoOf, personalTokens } from './tokens.jsx';

/** @import { Group, Invitation, Permissions, Role, RoleWithPermissions, ServiceAccount, Session, User } from '../types.d.ts' */
/** @import { Item } from '../parts/more-menu.jsx' */
/** @import { Kind } from './kind.js' */

/** @param {Session} session @returns {Promise<readonly Role[]>} */
const readRoles = async ({ client }) => (await client.get('/roles')).roles;

/** @param {readonly Role[]} roles */
const rootRoleOptions = (roles) =>
  asOptions(roles.filter(({ type }) => type === 'root' || type === 'root-custom'));

/** @param {readonly Role[]} roles @param {number} wanted */
const roleName = (roles, wanted) => roles.find(({ id }) => id === wanted)?.name ?? '';

/** The id of the role that new users have unless something else is chosen. */
const VIEWER_ROLE_ID = 3;

/** The tokens of somebody else, for Admins. @param {string} at @param {string} whose @returns {Item} */
const tokensAction = (at, whose) => [
  'Tokens',
  'key',
  () => openKind(personalTokens(at, whose), `Tokens of ${said(whose)}`),
];

/** Days until an invitation expires, unless something else is chosen. */
const INVITATION_DAYS = 7;

/** @type {Kind<Invitation>} */
export const INVITATIONS = {
  one: 'invitation',
  title: 'Invitations',
  none: 'Send a link that lets people join as Viewers until it expires.',
  right: 'admin',
  isForAdmins: true,
  at: '/invite-link/tokens',
  listIn: ({ tokens }) => tokens,
  pathOf: ({ secret }) => path`/invite-link/tokens/${secret}`,
  columns: [
    ['Root role', ({ role }) => role.name],
    ['Expires', ({ expiresAt }) => date(expiresAt)],
    ['Joined', ({ users }) => users.map(userName).join(', ') || 'no one yet'],
    ['State', (one) => stateOf(one)],
  ],
  fields: () => [
    { ...NAME, hint: 'Such as a team or an event.' },
    field('expiresAt', 'Expires (UTC)', 'time', { required: true }),
  ],
  isWrittenOnce: true,
  valuesOf: () => ({ name: '', expiresAt: inDays(INVITATION_DAYS) }),
  bodyOf: ({ name, expiresAt }) => ({ name, expiresAt: isoOf(expiresAt) }),
  edit: () => ({
    sentence: ({ expiresAt }) =>
      `Anyone who has the link becomes a user with the root role Viewer, until ${expiresAt.replace('T', ' ') || '…'}.`,
    after: (response) =>
      void showSecret({
        title: 'Send this invitation',
        lead: 'It is shown only now. You can disable the invitation at any time.',
        label: 'The link',
        secret: response.url,
      }),
  }),
  actions: (session, { secret, name, enabled: isOn }) => [
    switchItem(session, `The invitation ${said(name)}`, isOn, (enabled) => ({
      ...changing('PUT', path`/invite-link/tokens/${secret}`, { enabled }),
    })),
  ],
};

/** @param {Invitation} invitation */
function stateOf({ enabled, expiresAt }) {
  if (!enabled) return 'off';
  return Date.parse(expiresAt) < Date.now() ? 'expired' : 'valid';
}

/** @type {Kind<User, readonly Role[]>} */
export const USERS = {
  one: 'user',
  title: 'Users',
  none: 'Create one, or send an invitation.',
  right: 'admin',
  isForAdmins: true,
  at: '/user-admin',
  listIn: ({ users }) => users,
  nameOf: userName,
  columns: [
    ['Username', ({ username }) => username ?? ''],
    ['Email', ({ email = '' }) => email],
    ['Root role', ({ rootRole }, { rootRoles }) => roleName(rootRoles, rootRole)],
    ['Last signed in', ({ seenAt }) => <LastTime iso={seenAt} />],
  ],
  prepare: readRoles,
  fields: (roles, isNew) => [
    field('name', 'Name'),
    field('email', 'Email', 'text', { hint: 'An email or username is required.' }),
    field('username', 'Username'),
    field('rootRole', 'Root role', 'choice', {
      options: rootRoleOptions(roles),
      hint: 'What they can do in every project.',
    }),
    field('password', 'Password', 'password', {
      autocomplete: 'new-password',
      hint: 'Leave empty to get a link with which they set one.',
      when: () => isNew,
    }),
  ],
  valuesOf: (user) => ({
    ...textsOf(user, 'name', 'email', 'username', 'password'),
    rootRole: String(user?.rootRole ?? VIEWER_ROLE_ID),
  }),
  // An empty text is no email and no username.
  bodyOf: ({ name, email, username, rootRole, password }) => ({
    ...{ rootRole: Number(rootRole), name },
    ...(email === '' ? {} : { email }),
    ...(username === '' ? {} : { username }),
    ...(password === '' ? {} : { password }),
  }),
  edit: (_, user, roles) => ({
    sentence({ name, email, username, rootRole }) {
      const role = roles.find(({ id }) => String(id) === rootRole);
      return `${said(name || username || email || '…')} is ${role?.name ?? '…'} of the service. ${role?.description ?? ''}`;
    },
    done: ({ name, email, username }) =>
      `${said(name || username || email)} is ${user === null ? 'now a user' : 'changed'}.`,
    after(response, { name, email, username }) {
      if (response?.inviteLink !== undefined) {
        void showPasswordLink(name || username || email, response.inviteLink, '3 days');
      }
    },
  }),
  besides: INVITATIONS,
  loses: 'Their personal tokens stop working immediately, and their memberships end.',
  actions: (session, user) => [
    ['Password', 'role', () => setPassword(session, user)],
    tokensAction(path`/user-admin/${user.id}/tokens`, userName(user)),
  ],
};

/** @type {Kind<Group, { roles: readonly Role[], users: readonly User[] }>} */
export const GROUPS = {
  one: 'group',
  title: 'Groups',
  lead: 'Users who share roles, globally or in projects.',
  none: 'Create one for each team, and give the team a role in its projects.',
  right: 'admin',
  at: '/groups',
  listIn: ({ groups }) => groups,
  columns: [
    ['Description', ({ description = '' }) => description],
    ['Users', ({ userCount }) => counted(userCount, 'user')],
    ['Projects', ({ projects }) => projects.join(', ')],
    ['Joined by sign-on groups', ({ mappingsSSO }) => mappingsSSO.join(', ')],
  ],
  prepare: async (session) => ({
    roles: await readRoles(session),
    users: (await session.client.get('/user-admin')).users,
  }),
  fields: ({ roles, users }) => [
    NAME,
    DESCRIPTION,
    field('rootRole', 'Root role', 'choice', {
      options: [['', 'None'], ...rootRoleOptions(roles)],
      hint: 'Granted in addition to each member’s own role.',
    }),
    field('users', 'Users', 'many', { options: users.map((user) => [String(user.id), userName(user)]) }),
    field('mappingsSSO', 'Groups at the sign-on provider', 'lines', {
      hint: 'One per line. Their members join this group when they sign in.',
    }),
  ],
  valuesOf: (group) => ({
    ...textsOf(group, 'name', 'description'),
    rootRole: String(group?.rootRole ?? ''),
    users: (group?.users ?? []).map(({ user }) => String(user.id)),
    mappingsSSO: (group?.mappingsSSO ?? []).join('\n'),
  }),
  bodyOf: ({ name, description, rootRole, users, mappingsSSO }) => ({
    ...{ name, description, rootRole: rootRole === '' ? null : Number(rootRole) },
    users: users.map((/** @type {string} */ id) => ({ user: { id: Number(id) } })),
    mappingsSSO: linesOf(mappingsSSO),
  }),
  loses: 'Its users remain, but lose the roles that they have through it.',
};

/** The places in which a custom role holds, as the interface names it, and in words. */
const ROLE_TYPES = /** @type {const} */ ([
  ['custom', 'Project'],
  ['root-custom', 'Global'],
]);

/** The same key for the same permission. @param {{ name: string, environment?: string | null }} permission */
const permissionKey = ({ name, environment = null }) =>
  environment === null ? name : `${name} ${environment}`;

/** @type {Kind<Role, Permissions>} */
export const ROLES = {
  one: 'role',
  title: 'Roles',
  lead: 'What people can do. Predefined roles cannot be changed; custom roles have exactly the permissions that you choose.',
  none: 'Create one if no predefined role fits.',
  right: 'admin',
  at: '/roles',
  listIn: ({ roles }) => roles,
  columns: [
    ['Description', ({ description }) => description],
    ['Scope', ({ type }) => (type === 'root' || type === 'root-custom' ? 'global' : 'projects')],
    ['Kind', ({ type }) => (type.endsWith('custom') ? 'custom' : 'predefined')],
  ],
  isFixed: ({ type }) => type === 'root' || type === 'project',
  prepare: async ({ client }) => client.get('/permissions'),
  fields: ({ permissions: { root, project, environments } }, isNew) => [
    NAME,
    DESCRIPTION,
    field('type', 'Scope', 'choice', { options: ROLE_TYPES, fixed: !isNew }),
    field('root', 'Permissions', 'many', {
      paths: ['permissions'],
      options: root.map(({ name, displayName }) => [name, displayName]),
      when: ({ type }) => type === 'root-custom',
    }),
    field('project', 'Permissions in the project', 'many', {
      paths: ['permissions'],
      options: project.map(({ name, displayName }) => [name, displayName]),
      when: ({ type }) => type === 'custom',
    }),
    ...environments.map(({ name: environment, permissions }) => ({
      name: 'project',
      label: `Permissions in ${environment}`,
      kind: /** @type {const} */ ('many'),
      paths: [],
      options: permissions.map(
        ({ name, displayName }) => /** @type {const} */ ([permissionKey({ name, environment }), displayName]),
      ),
      when: (/** @type {{ type: string }} */ { type }) => type === 'custom',
    })),
  ],
  isRead: true,
  valuesOf(role) {
    const { permissions = [] } = /** @type {Partial<RoleWithPermissions>} */ (role ?? {});
    const keys = permissions.map(permissionKey);
    const { name = '', description = '', type = 'custom' } = role ?? {};
    return { name, description, type, root: keys, project: keys };
  },
  bodyOf: ({ name, description, type, root, project }) => ({
    ...{ name, description, type },
    permissions: (type === 'root-custom' ? root : project).map((/** @type {string} */ key) => {
      const [permission, environment] = key.split(' ');
      return { name: permission, ...(environment === undefined ? {} : { environment }) };
    }),
  }),
  loses: 'A role in use cannot be deleted.',
};

/** @type {Kind<ServiceAccount, readonly Role[]>} */
export const SERVICE_ACCOUNTS = {
  one: 'service account',
  title: 'Service accounts',
  lead: 'Accounts for programs, such as Terraform or a pipeline. They have a role and tokens, and cannot sign in.',
  none: 'Create one for each program that changes flags, so that the history shows which one it was.',
  right: 'admin',
  isForAdmins: true,
  at: '/service-account',
  listIn: ({ serviceAccounts }) => serviceAccounts,
  nameOf: ({ name, username, id }) => name || username || `account ${id}`,
  columns: [
    ['Username', ({ username = '' }) => username],
    ['Root role', ({ rootRole }, { rootRoles }) => roleName(rootRoles, rootRole)],
    ['Tokens', ({ tokens }) => counted(tokens.length, 'token')],
    ['Created', ({ createdAt }) => date(createdAt)],
  ],
  prepare: readRoles,
  fields: (roles, isNew) => [
    NAME,
    field('username', 'Username', 'text', { hint: 'Leave empty to generate one.', when: () => isNew }),
    field('rootRole', 'Root role', 'choice', { options: rootRoleOptions(roles) }),
  ],
  valuesOf: (account) => ({
    ...textsOf(account, 'name', 'username'),
    rootRole: String(account?.rootRole ?? VIEWER_ROLE_ID),
  }),
  bodyOf: ({ name, username, rootRole }, isNew) => ({
    ...{ name, rootRole: Number(rootRole) },
    ...(isNew && username !== '' ? { username } : {}),
  }),
  loses: 'Its tokens stop working immediately.',
  actions: (_, { id, name, username }) => [
    tokensAction(path`/service-account/${id}/token`, name || username || ''),
  ],
};
