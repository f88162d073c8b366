import type { Holding } from '../../domain/people/membership-commands.ts';
/** Routes about who belongs to a project: users and groups, with their roles. Those for a single member are in members.ts. */

import * as v from 'valibot';
import { canBeInProject } from '../../domain/access/roles.ts';
import { described, IdSchema, Integer, list, titled, Version } from '../../domain/json/schema.ts';
import { allRoles } from '../../domain/people/roles-and-groups.ts';
import { isRefusal, type Refusal, refuse } from '../../domain/state/refusal.ts';
import type { DirectoryState, ProjectState, World } from '../../domain/state/world.ts';
import { mayDo, rolesIn } from '../serving/access.ts';
import type { Params } from '../serving/params.ts';
import { type Guard, type Method, readRoute, underTag, writeRoute } from '../serving/route.ts';
import * as locate from './locators.ts';
import { listOf, listsResponse, PAGED, pinnedRead } from './responses.ts';
import {
  bareGroupView,
  CompanionUserSchema,
  companionUserView,
  GROUP_FIELDS,
  GroupUsersSchema,
  groupSummaryView,
  RoleSchema,
  roleView,
  type SignInsOf,
} from './views.ts';

const heldView = (roleId: number) => ({ roleId, roles: [roleId] });

const memberView = (
  { users }: DirectoryState,
  [id, roleId]: readonly [number, number],
  signIns: SignInsOf,
) => ({
  ...companionUserView(users.get(id)!, signIns),
  ...heldView(roleId),
});

/** The users and groups of the project, as they are now. */
function projectAccessLists(world: World, { members, groups }: ProjectState, signIns: SignInsOf) {
  const { directory } = world;
  return [
    listOf({ name: 'users', items: members, view: (one) => memberView(directory, one, signIns) }),
    listOf({
      name: 'groups',
      items: groups,
      view: ([id, roleId]) => ({
        ...bareGroupView(directory, directory.groups.get(id)!),
        ...heldView(roleId),
      }),
    }),
  ];
}

/** A response to a write, which is made at once: without the users of the groups. */
function projectAccessView(world: World, { members, groups }: ProjectState, signIns: SignInsOf) {
  const { directory } = world;
  return {
    version: 1,
    users: [...members].map((one) => memberView(directory, one, signIns)),
    groups: [...groups].map(([id, roleId]) => ({
      ...groupSummaryView(directory.groups.get(id)!),
      ...heldView(roleId),
    })),
    roles: projectRolesView(world),
  };
}

const projectRolesView = (world: World) => allRoles(world).filter(canBeInProject).map(roleView);

const ProjectGroupSchema = titled('ProjectGroup', {
  ...GROUP_FIELDS,
  users: described(v.exactOptional(GroupUsersSchema), 'Left out in the response to a write.'),
  roleId: Integer,
  roles: v.array(Integer),
});

const ProjectAccessSchema = titled('ProjectAccess', {
  version: Version,
  users: v.array(
    titled('ProjectMember', { ...CompanionUserSchema.entries, roleId: Integer, roles: v.array(Integer) }),
  ),
  groups: v.array(ProjectGroupSchema),
  roles: v.array(RoleSchema),
});

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

const holdings = (kind: Holding['kind'], ids: readonly number[], roleId: number, path: string): Holding[] =>
  ids.map((id, at) => ({ kind, id, roleId, path: `${path}/${at}` }));

/**
 * Why the caller may not give these roles, or take them away. Whoever changes members by a permission of a custom role handles
 * no other roles than their own: they could make themselves the only Owner otherwise.
 */
const refuseForeignRoles: Guard = (world, caller, events) => {
  const projectId = events[0]?.project ?? '';
  if (mayDo(world, caller, { permission: 'project:write' }, { projectId, environment: null })) return null;
  const held = new Set(
    [...caller.roles, ...rolesIn(world, caller, world.projects.get(projectId))].map(({ id }) => id),
  );
  const handled = events.flatMap(({ data, preData }) => [preData, data].flatMap((one) => roleIn(one) ?? []));
  const foreign = handled.find((roleId) => !held.has(roleId));
  if (foreign === undefined) return null;
  return refuse(
    'NoAccessError',
    `The user "${caller.actor.name}" may give and take no role in the project "${projectId}" but those that they hold there, and the role ${foreign} is none of them; ask an Admin or an Owner of the project for it.`,
  );
};

const roleIn = (data: object | null): number | undefined =>
  data !== null && 'roleId' in data ? (data.roleId as number) : undefined;

const CHANGE = {
  needs: ['PROJECT_USER_ACCESS_WRITE'],
  pinned: locate.pinnedAccess,
  guard: refuseForeignRoles,
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
    command: ({ params, body: { roles } }) => ({
      type: 'set-project-access',
      project: params.projectId,
      holdings: [
        ...roles.flatMap(({ id, users }, at) => holdings('user', users, id, `/body/roles/${at}/users`)),
        ...roles.flatMap(({ id, groups }, at) => holdings('group', groups, id, `/body/roles/${at}/groups`)),
      ],
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
      holdings: [
        ...holdings('user', [...new Set(users)], roleId, '/body/users'),
        ...holdings('group', [...new Set(groups)], roleId, '/body/groups'),
      ],
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
      holdings: holdings('group', [locate.numericId(params.id)], roleId, '/body/roles'),
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
