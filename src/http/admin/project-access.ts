/** Routes about who belongs to a project: users and groups, with their roles. Those for a single member are in members.ts. */
import * as v from 'valibot';
import { described, IdSchema, list, titled } from '../../domain/json/schema.ts';
import { isRefusal, type Refusal } from '../../domain/state/refusal.ts';
import type { World } from '../../domain/state/world.ts';
import type { Params } from '../serving/params.ts';
import { type Method, readRoute, underTag, writeRoute } from '../serving/route.ts';
import { ProjectAccessSchema } from './access-schemas.ts';
import { projectAccessLists, projectAccessView, projectRolesView } from './directory-views.ts';
import * as locate from './locators.ts';
import { listsResponse, PAGED, pinnedRead } from './responses.ts';

const ACCESS = '/projects/:projectId/access';

/** Members set by one request: each is one event of its frame. */
const MEMBERS_MAX = 1000;
/** Roles that one request names: all custom ones and some. */
const ROLES_MAX = 250;

const ids = (what: string) =>
  v.pipe(
    list(IdSchema, `a list of ids of ${what}`),
    v.maxLength(MEMBERS_MAX, `a list of at most ${MEMBERS_MAX} ${what}`),
  );

const RoleMembersSchema = v.object({
  id: described(IdSchema, 'Of the role.'),
  users: v.optional(ids('users'), []),
  groups: v.optional(ids('groups'), []),
});

const areDifferent = (numbers: readonly number[]): boolean => new Set(numbers).size === numbers.length;

const SetAccessBody = titled('SetProjectAccess', {
  roles: v.pipe(
    list(RoleMembersSchema, 'a list of roles with their users'),
    v.maxLength(ROLES_MAX, `a list of at most ${ROLES_MAX} roles`),
    v.check(
      (roles) => roles.reduce((count, one) => count + one.users.length + one.groups.length, 0) <= MEMBERS_MAX,
      `A project must not get more than ${MEMBERS_MAX} members in one request.`,
    ),
    v.check(
      (roles) => areDifferent(roles.flatMap(({ users }) => users)),
      'A user must not be listed more than once: a user holds one role in a project.',
    ),
    v.check(
      (roles) => areDifferent(roles.flatMap(({ groups }) => groups)),
      'A group must not be listed more than once: a group holds one role in a project.',
    ),
    v.description('All users and groups that the project shall have, by role.'),
  ),
});

const ONE_ROLE_PHRASE = 'a list of the id of one role: users and groups hold one role in a project';
const OneRoleSchema = v.pipe(
  list(IdSchema, ONE_ROLE_PHRASE),
  v.length(1, ONE_ROLE_PHRASE),
  v.transform(([role = 0]) => role),
);

const AddAccessBody = titled('AddProjectAccess', {
  roles: OneRoleSchema,
  users: v.optional(ids('users'), []),
  groups: v.optional(ids('groups'), []),
});

const SetRolesBody = titled('SetRoles', { roles: OneRoleSchema });

const CHANGE = {
  needs: ['PROJECT_USER_ACCESS_WRITE'],
  pinned: locate.pinnedAccess,
  refusals: ['MembershipRuleError', 'NoAccessError'],
} as const;

const GROUP_ROLES = '/projects/:projectId/groups/:id/roles';

const locateGroup = (world: World, params: Params): object | Refusal => {
  const project = locate.project(world, params);
  return isRefusal(project) ? project : locate.group(world, params);
};

export const projectAccessRoutes = underTag('Projects', [
  readRoute(`GET ${ACCESS}`, {
    operationId: 'getProjectAccess',
    summary: 'List the users and groups of a project, and the roles that can be held in it.',
    locate: locate.project,
    ...PAGED,
    success: { status: 200, schema: ProjectAccessSchema },
    read: async (context, project) => {
      const { world, usage } = context;
      const pinned = locate.accessOf(project);
      const roles = projectRolesView(world);
      const lists = projectAccessLists(world, project, usage.signIns);
      const read = await listsResponse(context, lists, { version: 1, roles });
      return isRefusal(read) ? read : pinnedRead(read, pinned);
    },
  }),
  writeRoute(`PUT ${ACCESS}`, {
    operationId: 'setProjectAccess',
    summary: 'Replace the users and groups of a project.',
    ...CHANGE,
    locate: locate.project,
    body: SetAccessBody,
    success: { status: 200, schema: ProjectAccessSchema },
    command: ({ params, body }) => ({
      type: 'set-project-access',
      project: params.projectId,
      members: body.roles.flatMap(({ id: roleId, users }, role) =>
        users.map((userId, at) => ({ userId, roleId, path: `/body/roles/${role}/users/${at}` })),
      ),
      groups: body.roles.flatMap(({ id: roleId, groups }, role) =>
        groups.map((groupId, at) => ({ groupId, roleId, path: `/body/roles/${role}/groups/${at}` })),
      ),
    }),
    shows: ({ world, usage }, project) => projectAccessView(world, project, usage.signIns),
  }),
  writeRoute(`POST ${ACCESS}`, {
    operationId: 'addProjectAccess',
    summary: 'Give users and groups a role in a project; the others keep theirs.',
    ...CHANGE,
    locate: locate.project,
    body: AddAccessBody,
    command: ({ params, body: { roles: roleId, users, groups } }) => ({
      type: 'grant-project-access',
      project: params.projectId,
      members: [...new Set(users)].map((userId, at) => ({ userId, roleId, path: `/body/users/${at}` })),
      groups: [...new Set(groups)].map((groupId, at) => ({ groupId, roleId, path: `/body/groups/${at}` })),
    }),
  }),
  writeRoute(`PUT ${GROUP_ROLES}`, {
    ...CHANGE,
    locate: locateGroup,
    operationId: 'setRolesForGroup',
    summary: 'Give a group a role in a project, in place of the one that it has there.',
    body: SetRolesBody,
    command: ({ params, body: { roles: roleId } }) => ({
      type: 'grant-project-access',
      project: params.projectId,
      members: [],
      groups: [{ groupId: locate.numericId(params.id), roleId, path: '/body/roles/0' }],
    }),
  }),
  writeRoute(`DELETE ${GROUP_ROLES}`, {
    ...CHANGE,
    locate: locateGroup,
    operationId: 'removeGroupAccess',
    summary: 'Take the role of a group in a project away.',
    command: ({ params }) => ({
      type: 'revoke-project-access',
      project: params.projectId,
      groupId: locate.numericId(params.id),
    }),
  }),
]);

// Routes that add, change and remove a member of a project (docs/specification/membership.md#rules).

const memberRoute = (
  method: Method,
  operationId: string,
  type: 'add-member' | 'change-member' | 'remove-member',
  summary: string,
) =>
  writeRoute(`${method} /projects/:projectId/users/:userId/roles/:roleId`, {
    operationId,
    summary,
    ...CHANGE,
    locate: locate.membership,
    command: ({ params }) => ({ type, ...locate.membershipIds(params) }),
  });

export const memberRoutes = underTag('Projects', [
  memberRoute('POST', 'addUserToProject', 'add-member', 'Make a user a member of a project with a role.'),
  memberRoute('PUT', 'changeUserRoleInProject', 'change-member', "Change a member's role in a project."),
  memberRoute('DELETE', 'removeUserFromProject', 'remove-member', 'Remove a member from a project.'),
]);
