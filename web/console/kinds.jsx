/**
 * What Admins keep besides flags, one row a kind: where it is listed and changed, its columns and the fields of its form. The pages of all
 * of them are one (views/kind-view.jsx).
 */
import { path } from './client.js';
import { changeAtOnce } from './edit/remove.jsx';
import { createPersonalToken, deletePersonalToken } from './edit/token-edits.js';
import { counted, date } from './format.js';
import { RowAction } from './parts/listing.jsx';
import { LastTime } from './parts/time-ago.jsx';
import { said } from './said.jsx';

/** @import { ComponentChildren } from 'preact' */
/** @import { Application, Field, Group, Permissions, Right, Role, RoleWithPermissions, ServiceAccount, Session, StrategyType, TagType, User } from './types.d.ts' */

/** @typedef {Record<string, any>} Values of a form; each kind reads its own */

/**
 * @template T
 * @template [Extra=null]
 * @typedef {object} Kind
 * @property {string} one what one of them is called
 * @property {string} title of the page
 * @property {string} lead
 * @property {string} none the next step where there is none yet
 * @property {Right} right who may change them
 * @property {boolean} [isForAdmins] whether nobody else may see them
 * @property {string} at the path of the list, to which a new one is posted
 * @property {(body: any) => readonly T[]} listIn
 * @property {(one: T) => string} pathOf
 * @property {(one: T) => string} nameOf
 * @property {readonly (readonly [title: string, cell: (one: T, body: any) => ComponentChildren])[]} columns besides the name
 * @property {(one: T) => boolean} [isFixed] whether it is there always, and nobody changes it
 * @property {(session: Session) => Promise<Extra>} [prepare] what the form needs to know
 * @property {(extra: Extra, isNew: boolean) => readonly Field<Values>[]} [fields] none: they come by themselves, and can only be deleted
 * @property {(session: Session, one: T | null) => Values | Promise<Values>} [valuesOf]
 * @property {(values: Values, isNew: boolean) => object} [bodyOf]
 * @property {string} loses what goes with one that is deleted
 * @property {(session: Session, one: T, refresh: () => void) => ComponentChildren} [actions] of a row besides editing and deleting
 */

/** @param {Session} session @returns {Promise<readonly Role[]>} */
const readRoles = async ({ client }) => (await client.get('/roles')).roles;

/** @param {readonly Role[]} roles */
const rootRoleOptions = (roles) =>
  roles
    .filter(({ type }) => type === 'root' || type === 'root-custom')
    .map(({ id, name }) => /** @type {const} */ ([String(id), name]));

/** @type {Field<Values>} */
const NAME = { name: 'name', label: 'Name', required: true };
/** @type {Field<Values>} */
const DESCRIPTION = { name: 'description', label: 'Description', kind: 'long-text' };

/** @param {string} text */
const linesOf = (text) =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);

/** @type {Kind<Group, { roles: readonly Role[], users: readonly User[] }>} */
const GROUPS = {
  one: 'group',
  title: 'Groups',
  lead: 'People who get their roles together: in the service, or in projects.',
  none: 'Create one for each team, and give the team a role in its projects.',
  right: 'admin',
  at: '/groups',
  listIn: ({ groups }) => groups,
  pathOf: ({ id }) => path`/groups/${id}`,
  nameOf: ({ name }) => name,
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
    {
      name: 'rootRole',
      label: 'Root role',
      kind: 'choice',
      options: [['', 'None'], ...rootRoleOptions(roles)],
      hint: 'Every user of the group has it beside their own.',
    },
    {
      name: 'users',
      label: 'Users',
      kind: 'many',
      options: users.map(({ id, name, username, email }) => [
        String(id),
        name || username || email || `user ${id}`,
      ]),
    },
    {
      name: 'mappingsSSO',
      label: 'Groups at the sign-on provider',
      kind: 'lines',
      hint: 'One on each line. Their people join this group when they sign in.',
    },
  ],
  valuesOf: (_, group) => ({
    name: group?.name ?? '',
    description: group?.description ?? '',
    rootRole: group?.rootRole === undefined ? '' : String(group.rootRole),
    users: (group?.users ?? []).map(({ user }) => String(user.id)),
    mappingsSSO: (group?.mappingsSSO ?? []).join('\n'),
  }),
  bodyOf: ({ name, description, rootRole, users, mappingsSSO }) => ({
    ...{ name, description, rootRole: rootRole === '' ? null : Number(rootRole) },
    users: users.map((/** @type {string} */ id) => ({ user: { id: Number(id) } })),
    mappingsSSO: linesOf(mappingsSSO),
  }),
  loses: 'Its users stay, and lose the roles that they have by it.',
};

/** Where a custom role holds, as the interface names it, and in words. */
const ROLE_TYPES = /** @type {const} */ ([
  ['custom', 'In projects'],
  ['root-custom', 'In the whole service'],
]);

/** The same key for the same permission. @param {{ name: string, environment?: string | null }} permission */
const permissionKey = ({ name, environment = null }) =>
  environment === null ? name : `${name} ${environment}`;

/** @type {Kind<Role, Permissions>} */
const ROLES = {
  one: 'role',
  title: 'Roles',
  lead: 'What people may do. The predefined roles stay as they are; custom ones hold exactly the permissions that you choose.',
  none: 'Create one where none of the predefined roles fits.',
  right: 'admin',
  at: '/roles',
  listIn: ({ roles }) => roles,
  pathOf: ({ id }) => path`/roles/${id}`,
  nameOf: ({ name }) => name,
  columns: [
    ['Description', ({ description }) => description],
    [
      'Holds',
      ({ type }) => (type === 'root' || type === 'root-custom' ? 'in the whole service' : 'in projects'),
    ],
    ['Kind', ({ type }) => (type.endsWith('custom') ? 'custom' : 'predefined')],
  ],
  isFixed: ({ type }) => type === 'root' || type === 'project',
  prepare: async ({ client }) => client.get('/permissions'),
  fields: ({ permissions: { root, project, environments } }, isNew) => [
    NAME,
    DESCRIPTION,
    { name: 'type', label: 'It holds', kind: 'choice', options: ROLE_TYPES, fixed: !isNew },
    {
      name: 'root',
      label: 'Permissions',
      kind: 'many',
      paths: ['permissions'],
      options: root.map(({ name, displayName }) => [name, displayName]),
      when: ({ type }) => type === 'root-custom',
    },
    {
      name: 'project',
      label: 'Permissions',
      kind: 'many',
      paths: ['permissions'],
      options: [
        ...project.map(({ name, displayName }) => /** @type {const} */ ([name, displayName])),
        ...environments.flatMap(({ name: environment, permissions }) =>
          permissions.map(
            ({ name, displayName }) =>
              /** @type {const} */ ([permissionKey({ name, environment }), `${environment}: ${displayName}`]),
          ),
        ),
      ],
      when: ({ type }) => type === 'custom',
    },
  ],
  async valuesOf({ client }, role) {
    /** @type {RoleWithPermissions | null} */
    const whole = role === null ? null : await client.get(path`/roles/${role.id}`);
    const keys = (whole?.permissions ?? []).map(permissionKey);
    const { name = '', description = '', type = 'custom' } = whole ?? {};
    return { name, description, type, root: keys, project: keys };
  },
  bodyOf: ({ name, description, type, root, project }) => ({
    ...{ name, description, type },
    permissions: (type === 'root-custom' ? root : project).map((/** @type {string} */ key) => {
      const [permission, environment] = key.split(' ');
      return { name: permission, ...(environment === undefined ? {} : { environment }) };
    }),
  }),
  loses: 'A role that somebody holds is not deleted.',
};

/** @type {Kind<ServiceAccount, readonly Role[]>} */
const SERVICE_ACCOUNTS = {
  one: 'service account',
  title: 'Service accounts',
  lead: 'Accounts of programs, such as Terraform or a pipeline: they have a role and tokens, and nobody signs in with them.',
  none: 'Create one for each program that changes flags, so that the history says which it was.',
  right: 'admin',
  isForAdmins: true,
  at: '/service-account',
  listIn: ({ serviceAccounts }) => serviceAccounts,
  pathOf: ({ id }) => path`/service-account/${id}`,
  nameOf: ({ name, username, id }) => name || username || `account ${id}`,
  columns: [
    ['Username', ({ username = '' }) => username],
    [
      'Root role',
      ({ rootRole }, { rootRoles }) =>
        rootRoles.find((/** @type {Role} */ { id }) => id === rootRole)?.name ?? '',
    ],
    ['Tokens', ({ tokens }) => counted(tokens.length, 'token')],
    ['Created', ({ createdAt }) => date(createdAt)],
  ],
  prepare: readRoles,
  fields: (roles, isNew) => [
    { name: 'name', label: 'Name', required: true },
    { name: 'username', label: 'Username', hint: 'Empty: one is made up.', when: () => isNew },
    { name: 'rootRole', label: 'Root role', kind: 'choice', options: rootRoleOptions(roles) },
  ],
  valuesOf: (_, account) => ({
    name: account?.name ?? '',
    username: account?.username ?? '',
    rootRole: String(account?.rootRole ?? 3),
  }),
  bodyOf: ({ name, username, rootRole }, isNew) => ({
    ...{ name, rootRole: Number(rootRole) },
    ...(isNew && username !== '' ? { username } : {}),
  }),
  loses: 'Its tokens stop working at once.',
  actions: (session, account, refresh) => {
    const at = path`/service-account/${account.id}/token`;
    const whose = account.name || account.username || '';
    return (
      <>
        <RowAction text="New token" of={whose} act={() => createPersonalToken(session, at, whose, refresh)} />
        {account.tokens.map((token) => (
          <RowAction
            key={token.id}
            text={`Delete the token ${token.description}`}
            of={whose}
            act={() => deletePersonalToken(session, token, at).then(refresh)}
          />
        ))}
      </>
    );
  },
};

/** @type {Kind<TagType>} */
const TAG_TYPES = {
  one: 'tag type',
  title: 'Tag types',
  lead: 'What the words before the colon of tags stand for.',
  none: 'Create one to say what a tag such as “team: checkout” means.',
  right: 'targeting',
  at: '/tag-types',
  listIn: ({ tagTypes }) => tagTypes,
  pathOf: ({ name }) => path`/tag-types/${name}`,
  nameOf: ({ name }) => name,
  columns: [
    ['Description', ({ description }) => description],
    ['Icon', ({ icon }) => icon ?? ''],
    ['Color', ({ color }) => color ?? ''],
  ],
  isFixed: ({ name }) => name === 'simple',
  fields: (_, isNew) => [
    { ...NAME, fixed: !isNew, hint: 'Letters, digits, “_”, “.”, “~” and “-”.' },
    DESCRIPTION,
    { name: 'icon', label: 'Icon', hint: 'A letter, or the name of an icon.' },
    { name: 'color', label: 'Color', hint: 'Such as #1a2b3c. Empty: none.' },
  ],
  valuesOf: (_, type) => ({
    name: type?.name ?? '',
    description: type?.description ?? '',
    icon: type?.icon ?? '',
    color: type?.color ?? '',
  }),
  bodyOf: ({ name, description, icon, color }, isNew) => ({
    ...(isNew ? { name } : {}),
    ...{ description, icon: icon === '' ? null : icon, color: color === '' ? null : color },
  }),
  loses: 'Flags keep their tags of this type.',
};

/** Such as `share: percentage, required`. @param {StrategyType['parameters'][number]} parameter */
const parameterLine = ({ name, type, required }) => `${name}: ${type}${required ? ', required' : ''}`;

/** @type {Kind<StrategyType>} */
const STRATEGY_TYPES = {
  one: 'strategy type',
  title: 'Strategy types',
  lead: 'What strategies decide by. Applications bring the code of those that you define here.',
  none: 'Define one that your applications evaluate themselves.',
  right: 'targeting',
  at: '/strategies',
  listIn: ({ strategies }) => strategies,
  pathOf: ({ name }) => path`/strategies/${name}`,
  nameOf: ({ name }) => name,
  columns: [
    ['Description', ({ description }) => description],
    ['Parameters', ({ parameters }) => parameters.map(({ name }) => name).join(', ')],
    ['State', ({ deprecated }) => (deprecated ? 'deprecated' : 'offered')],
  ],
  isFixed: ({ editable }) => !editable,
  fields: (_, isNew) => [
    { ...NAME, fixed: !isNew, hint: 'As the code of the application names it.' },
    DESCRIPTION,
    {
      name: 'parameters',
      label: 'Parameters',
      kind: 'lines',
      hint: 'One on each line: its name, a colon, and string, number, percentage, list or boolean; then “, required” where it is.',
    },
  ],
  valuesOf: (_, type) => ({
    name: type?.name ?? '',
    description: type?.description ?? '',
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
  loses: 'A strategy type that a flag uses is not deleted.',
  actions(session, { name, deprecated }, refresh) {
    const deprecate = /** @type {const} */ ({ method: 'POST', path: path`/strategies/${name}/deprecate` });
    const reactivate = /** @type {const} */ ({ method: 'POST', path: path`/strategies/${name}/reactivate` });
    return (
      <RowAction
        text={deprecated ? 'Offer again' : 'Deprecate'}
        of={name}
        act={() =>
          changeAtOnce(session, {
            change: deprecated ? reactivate : deprecate,
            undo: deprecated ? deprecate : reactivate,
            done: `The strategy type ${said(name)} is ${deprecated ? 'offered again' : 'deprecated: forms no longer offer it'}.`,
          }).then(refresh)
        }
      />
    );
  },
};

/** @type {Kind<Application>} */
const APPLICATIONS = {
  one: 'application',
  title: 'Applications',
  lead: 'What asks this server for flags, as it reported itself.',
  none: 'An application is listed here once its SDK has connected.',
  right: 'admin',
  at: '/metrics/applications',
  listIn: ({ applications }) => applications,
  pathOf: ({ appName }) => path`/metrics/applications/${appName}`,
  nameOf: ({ appName }) => appName,
  columns: [
    ['Projects', ({ usage }) => usage.map(({ project }) => project).join(', ')],
    [
      'Environments',
      ({ usage }) => [...new Set(usage.flatMap(({ environments }) => environments))].join(', '),
    ],
    ['Strategies', ({ strategies }) => strategies.join(', ')],
    ['First seen', ({ createdAt }) => <LastTime iso={createdAt} />],
  ],
  loses: 'It is listed again as soon as it asks again.',
};

/** By the word in the address. */
export const KINDS = /** @type {const} */ ({
  groups: GROUPS,
  roles: ROLES,
  'service-accounts': SERVICE_ACCOUNTS,
  'tag-types': TAG_TYPES,
  'strategy-types': STRATEGY_TYPES,
  applications: APPLICATIONS,
});
