import * as v from 'valibot';
import { ROLE_NAMES } from '../../domain/access/roles.ts';
import { described, Integer, titled } from '../../domain/json/schema.ts';
import { peopleOf } from '../../domain/state/locate.ts';
import type { User, World } from '../../domain/state/world.ts';
import { linkUrl, makeSecret, secretOf } from '../serving/fresh-secret.ts';
import { readRoute, underTag, writeRoute } from '../serving/route.ts';
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
import * as locate from './locators.ts';
import { listOf, listsResponse, PAGED, recorded } from './responses.ts';
import { shown } from './shown.ts';
import {
  CompanionUserSchema,
  companionUserView,
  FoundUserSchema,
  foundUserView,
  GroupSummarySchema,
  groupSummaryView,
  RoleSchema,
  rootRolesView,
  UserSchema,
  userFields,
} from './views.ts';

const UsersSchema = titled('Users', {
  users: v.array(CompanionUserSchema),
  rootRoles: v.array(RoleSchema),
});

const NewUserSchema = titled('NewUser', {
  ...CompanionUserSchema.entries,
  rootRole: described(
    v.union([Integer, v.picklist(ROLE_NAMES)]),
    'As it was sent: a role id, or the name of a role.',
  ),
  inviteLink: described(
    v.exactOptional(v.string()),
    'With which the user sets a password, once and within 3 days; for the Admin to hand on. Left out where a password was sent.',
  ),
  emailSent: described(v.boolean(), 'Always false: the server sends no email.'),
});

const FoundUsersSchema = v.array(FoundUserSchema);

const UsersAndGroupsSchema = titled('UsersAndGroups', {
  users: v.array(FoundUserSchema),
  groups: v.array(GroupSummarySchema),
});

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
]);
