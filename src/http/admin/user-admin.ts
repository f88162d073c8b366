/** Routes about users (docs/specification/users.md, docs/specification/companions.md#users). */
import * as v from 'valibot';
import { inTurns } from '../../actors/turn.ts';
import { type Need, PERMISSIONS, type PermissionInfo } from '../../domain/access/permissions.ts';
import { grouped } from '../../domain/json/grouped.ts';
import { described, titled } from '../../domain/json/schema.ts';
import { personalTokensOf } from '../../domain/people/token-commands.ts';
import { peopleOf } from '../../domain/state/locate.ts';
import { refuse } from '../../domain/state/refusal.ts';
import type { User, World } from '../../domain/state/world.ts';
import { type Asked, type Caller, mayDo } from '../serving/access.ts';
import { linkUrl, makeSecret, secretOf } from '../serving/fresh-secret.ts';
import { jsonResponse } from '../serving/json-response.ts';
import { type RequestContext, readRoute, underTag, writeRoute } from '../serving/route.ts';
import { ServiceAccountSchema, ServiceAccountsSchema, UsersAndGroupsSchema } from './access-schemas.ts';
import {
  DisplayNameSchema,
  EmailSchema,
  hashed,
  NewPasswordSchema,
  RoleReferenceSchema,
  RootRoleSchema,
  roleIdOf,
  UsernameSchema,
} from './bodies.ts';
import { FoundUsersSchema, MeSchema, NewUserSchema, UsersSchema } from './directory-schemas.ts';
import { callerView, personalTokenView } from './directory-views.ts';
import * as locate from './locators.ts';
import { LIST_BYTES_MAX, listOf, listsResponse, PAGED, recorded, textsResponse } from './responses.ts';
import { CompanionUserSchema, ProfileSchema, UserSchema } from './schemas.ts';
import { shown } from './shown.ts';
import {
  companionUserView,
  foundUserView,
  groupSummaryView,
  imageUrlOf,
  profileView,
  rootRolesView,
  userFields,
} from './views.ts';

const USERS = '/user-admin';
const USER = `${USERS}/:id`;

/** Users that one search returns. Enough to choose from, but not a way to read the whole list. */
const FOUND_MAX = 100;

const IDENTITY_ENTRIES = {
  email: v.optional(v.nullable(EmailSchema)),
  username: v.optional(v.nullable(UsernameSchema)),
  name: v.optional(v.nullable(DisplayNameSchema)),
} as const;

const UpdateUserBody = titled('UpdateUser', { ...IDENTITY_ENTRIES, rootRole: v.optional(RootRoleSchema) });

const CreateUserBody = titled('CreateUser', {
  ...IDENTITY_ENTRIES,
  rootRole: RoleReferenceSchema,
  password: described(
    v.optional(NewPasswordSchema),
    'Without it, the response has a link with which the user sets one.',
  ),
  sendEmail: described(v.optional(v.boolean()), 'Accepted and ignored; the server sends no email.'),
});

/** Case-insensitive, in name, username and email; ordered by id. */
function findUsers(world: World, text: string): User[] {
  const wanted = text.trim().toLowerCase();
  if (wanted === '') return [];
  const found: User[] = [];
  for (const user of peopleOf(world.directory)) {
    const fields = [user.name, user.username, user.email];
    if (fields.some((field) => field?.toLowerCase().includes(wanted))) found.push(user);
    if (found.length === FOUND_MAX) break;
  }
  return found;
}

/** A change of a user, and the caller's own profile. */
export const userRoutes = underTag('Users', [
  writeRoute(`PUT ${USER}`, {
    operationId: 'updateUser',
    summary: 'Change a user.',
    permission: 'admin',
    locate: locate.user,
    body: UpdateUserBody,
    success: { status: 200, schema: UserSchema },
    command: ({ body: fields }, { id: userId }) => ({ type: 'update-user', userId, fields }),
    shows: ({ usage }, user) => shown(UserSchema, userFields(user, usage.signIns)),
  }),
  readRoute('GET /user/profile', {
    operationId: 'getProfile',
    summary: "Read the caller's profile.",
    permission: 'self',
    success: { status: 200, schema: ProfileSchema },
    read: ({ world, caller }) => ({
      revision: world.directory.accessRevision,
      response: jsonResponse(200, profileView(world, caller)),
    }),
  }),
]);

export const userAdminRoutes = underTag('Users', [
  readRoute(`GET ${USERS}`, {
    operationId: 'getUsers',
    summary: 'List the users and the root roles.',
    permission: 'admin',
    ...PAGED,
    success: { status: 200, schema: UsersSchema },
    read: (context) => {
      const { world, usage } = context;
      const users = listOf({
        name: 'users',
        items: peopleOf(world.directory),
        view: (user) => companionUserView(user, usage.signIns),
      });
      return listsResponse(context, [users], { rootRoles: rootRolesView(world) });
    },
  }),
  writeRoute(`POST ${USERS}`, {
    operationId: 'createUser',
    summary: 'Create a user.',
    permission: 'admin',
    body: CreateUserBody,
    success: { status: 201, schema: NewUserSchema },
    secretsInBody: ['password'],
    secretField: 'inviteLink',
    command: (context) => {
      const { body } = context;
      const { email, username, name, rootRole, password } = body;
      const fields = { email, username, name, rootRole: roleIdOf(rootRole) };
      if (password === undefined) {
        return { type: 'create-user', fields, linkDigest: makeSecret(context, '', 'base64url') };
      }
      return hashed(context, password, (passwordHash) => ({ type: 'create-user', fields, passwordHash }));
    },
    shows: (context, _, events) => {
      const { body, usage } = context;
      const user = companionUserView(recorded(events, 'user-created').data, usage.signIns);
      const link =
        body.password === undefined ? { inviteLink: linkUrl(context, 'password', secretOf(context)) } : {};
      return { ...user, rootRole: body.rootRole, ...link, emailSent: false };
    },
  }),
  readRoute(`GET ${USERS}/search`, {
    operationId: 'searchUsers',
    summary: 'Find users by part of their name, username or email.',
    query: { q: { description: 'The text to look for.' } },
    success: { status: 200, schema: FoundUsersSchema },
    shows: (context) => findUsers(context.world, context.query('q')).map(foundUserView),
  }),
  readRoute(`GET ${USERS}/access`, {
    operationId: 'getUsersAndGroups',
    summary: 'List the users and groups that can be given access to a project.',
    permission: 'access:give',
    ...PAGED,
    success: { status: 200, schema: UsersAndGroupsSchema },
    read: (context) => {
      const { directory } = context.world;
      const users = listOf({ name: 'users', items: peopleOf(directory), view: foundUserView });
      const groups = listOf({ name: 'groups', items: directory.groups.values(), view: groupSummaryView });
      return listsResponse(context, [users, groups]);
    },
  }),
  readRoute(`GET ${USER}`, {
    operationId: 'getUser',
    summary: 'Read a user.',
    permission: 'admin',
    locate: locate.user,
    success: { status: 200, schema: CompanionUserSchema },
    shows: ({ usage }, user) => companionUserView(user, usage.signIns),
  }),
  writeRoute(`DELETE ${USER}`, {
    operationId: 'deleteUser',
    summary: "Delete a user with the user's tokens and memberships.",
    permission: 'admin',
    locate: locate.user,
    command: (_, { id: userId }) => ({ type: 'delete-user', userId }),
  }),
  readRoute('GET /user', {
    operationId: 'getMe',
    summary: 'Read who the caller is and what the caller may do.',
    permission: 'self',
    success: { status: 200, schema: MeSchema },
    refusals: ['PayloadTooLargeError'],
    read: async (context) => {
      const { world, caller, requester, usage } = context;
      const granted = await inTurns(grantedPermissions(world, caller), requester);
      if (granted === null) return TOO_MANY_RIGHTS;
      const user = JSON.stringify(callerView(caller, usage.signIns));
      const around = [`{"user":${user},"permissions":[`, '],"feedback":[],"splash":{}}'] as const;
      return textsResponse(context, around, granted, (text) => text);
    },
  }),
]);

// The rights of a caller in the terms that clients of this interface know, so that they can hide what would be
// refused. Only access.ts decides what is refused, and this list is made from it.

interface GrantedPermission {
  readonly permission: string;
  /** `*` for every project; absent for rights that belong to no project. */
  readonly project?: string;
  /** `*` for every environment; absent for rights that belong to none. */
  readonly environment?: string;
}

/** The permissions that are listed: all but reading, which needs none. */
const LISTED = PERMISSIONS.filter(({ within }) => within !== 'read');

const NOWHERE = { projectId: null, environment: null };

const TOO_MANY_RIGHTS = refuse(
  'PayloadTooLargeError',
  `You hold single permissions in so many environments and projects that a list of them would take more than ${LIST_BYTES_MAX / 2 ** 20} MiB. Ask an Admin for a role that holds them in all environments, or in all projects.`,
);

/** The permissions as JSON, in steps: somebody may hold something in thousands of projects with 50 environments each. Null for too many. */
function* grantedPermissions(world: World, caller: Caller): Generator<void, readonly string[] | null> {
  if (mayDo(world, caller, { permission: 'admin' }, NOWHERE))
    return [JSON.stringify({ permission: 'ADMIN' })];
  const texts: string[] = [];
  let length = 0;
  for (const info of LISTED) {
    for (const granted of grantedOf(world, caller, info)) {
      const text = granted.map((one) => JSON.stringify(one)).join();
      length += text.length;
      if (length > LIST_BYTES_MAX) return null;
      if (text !== '') texts.push(text);
      yield;
    }
  }
  return texts;
}

/** All at once where the caller holds the permission everywhere, else by project. */
function* grantedOf(
  world: World,
  caller: Caller,
  { name: permission, kind, within }: PermissionInfo,
): Generator<readonly GrantedPermission[]> {
  const may = (place: Asked, needs: Need['needs'] = [permission]): boolean =>
    mayDo(world, caller, { permission: within, needs }, place);
  const everywhere = kind === 'environment' ? { environment: '*' } : {};
  const project = kind === 'root' ? {} : { project: '*' };
  if (may(NOWHERE)) return yield [{ permission, ...project, ...everywhere }];
  if (kind === 'root') return;
  for (const { settings } of world.projects.values()) {
    const { id: projectId, environments } = settings;
    const here = { permission, project: projectId };
    const hasRight = may({ projectId, environment: null }, []);
    if (hasRight) yield [{ ...here, ...everywhere }];
    else if (kind === 'project') yield may({ projectId, environment: null }) ? [here] : [];
    else
      yield environments
        .filter((environment) => may({ projectId, environment }))
        .map((environment) => ({ ...here, environment }));
  }
}

// Service accounts (docs/specification/users.md#service-accounts). The routes about their tokens are in personal-tokens.ts.

const ACCOUNTS = '/service-account';
const ACCOUNT = `${ACCOUNTS}/:id`;

const CreateAccountBody = titled('CreateServiceAccount', {
  name: v.optional(v.nullable(DisplayNameSchema)),
  username: described(
    v.optional(v.nullable(UsernameSchema)),
    'Unique among users too; one is made up where it is left out.',
  ),
  rootRole: RootRoleSchema,
});

const UpdateAccountBody = titled('UpdateServiceAccount', {
  name: v.optional(v.nullable(DisplayNameSchema)),
  rootRole: v.optional(RootRoleSchema),
});

function serviceAccountView(
  { world, usage }: RequestContext<unknown>,
  account: User,
  tokens = personalTokensOf(world, account.id),
) {
  return shown(ServiceAccountSchema, {
    ...account,
    isAPI: false,
    imageUrl: imageUrlOf(account),
    seenAt: null,
    tokens: tokens.map((token) => personalTokenView(token, usage.seen)),
  });
}

export const serviceAccountRoutes = underTag('Service accounts', [
  readRoute(`GET ${ACCOUNTS}`, {
    permission: 'admin',
    operationId: 'getServiceAccounts',
    summary: 'List the service accounts with their tokens, and the root roles.',
    ...PAGED,
    success: { status: 200, schema: ServiceAccountsSchema },
    read: (context) => {
      const { world } = context;
      // To go through all tokens for each account would hold the event loop for seconds.
      const tokens = grouped(world.directory.personalTokens.values(), ({ userId }) => userId);
      const accounts = listOf({
        name: 'serviceAccounts',
        items: [...world.directory.users.values()].filter(({ isService }) => isService === true),
        view: (account) => serviceAccountView(context, account, tokens.get(account.id) ?? []),
      });
      return listsResponse(context, [accounts], { rootRoles: rootRolesView(world) });
    },
  }),
  writeRoute(`POST ${ACCOUNTS}`, {
    permission: 'admin',
    operationId: 'createServiceAccount',
    summary: 'Create a service account.',
    body: CreateAccountBody,
    success: { status: 201, schema: ServiceAccountSchema },
    command: ({ body: fields }) => ({ type: 'create-service-account', fields }),
    shows: (context, _, events) =>
      serviceAccountView(context, recorded(events, 'service-account-created').data),
  }),
  writeRoute(`PUT ${ACCOUNT}`, {
    permission: 'admin',
    operationId: 'updateServiceAccount',
    summary: 'Change the name or the root role of a service account.',
    locate: locate.serviceAccount,
    body: UpdateAccountBody,
    success: { status: 200, schema: ServiceAccountSchema },
    command: ({ body: fields }, { id: userId }) => ({ type: 'update-user', userId, fields }),
    shows: (context, account) => serviceAccountView(context, account),
  }),
  writeRoute(`DELETE ${ACCOUNT}`, {
    permission: 'admin',
    operationId: 'deleteServiceAccount',
    summary: 'Delete a service account with its tokens and memberships.',
    locate: locate.serviceAccount,
    command: (_, { id: userId }) => ({ type: 'delete-user', userId }),
  }),
]);
