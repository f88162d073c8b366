/** Routes that read and replace all members of a project. Routes for a single member are in members.ts. */
import * as v from 'valibot';
import { MEMBER_ROLE_ID, OWNER_ROLE_ID, ROLES } from '../../../domain/access/roles.ts';
import { list } from '../../../domain/json/list-schema.ts';
import { jsonResponse } from '../../dispatch/json-response.ts';
import { type Route, readRoute, writeRoute } from '../../dispatch/route.ts';
import * as locate from '../requests/locators.ts';
import { ProjectAccessSchema } from '../schemas/directory-schemas.ts';
import { projectAccessView } from '../views/directory-views.ts';
import { settledResponse } from '../views/responses.ts';

const ACCESS = '/projects/:projectId/access';

/** Members set by one request: each is one event of its frame. */
const MEMBERS_MAX = 1000;

const USER_ID_PHRASE = 'the id of a user';
const ROLE_ID_PHRASE = `${OWNER_ROLE_ID} (Owner) or ${MEMBER_ROLE_ID} (Member)`;

const RoleMembersSchema = v.object({
  id: v.pipe(v.number(ROLE_ID_PHRASE), v.safeInteger(ROLE_ID_PHRASE)),
  users: v.pipe(
    list(v.pipe(v.number(USER_ID_PHRASE), v.safeInteger(USER_ID_PHRASE)), 'a list of ids of users'),
    v.maxLength(MEMBERS_MAX, `a list of at most ${MEMBERS_MAX} users`),
  ),
  groups: v.optional(
    v.pipe(
      list(v.unknown(), 'an empty list'),
      v.maxLength(0, 'an empty list: there are no groups'),
      v.description('Empty, since there are no groups.'),
    ),
    [],
  ),
});

const SetAccessBody = v.pipe(
  v.object({
    roles: v.pipe(
      list(RoleMembersSchema, 'a list of roles with their users'),
      v.maxLength(ROLES.length, `a list of at most ${ROLES.length} roles`),
      v.check(
        (roles) => roles.reduce((count, { users }) => count + users.length, 0) <= MEMBERS_MAX,
        `A project must not get more than ${MEMBERS_MAX} members in one request.`,
      ),
      v.check((roles) => {
        const ids = roles.flatMap(({ users }) => users);
        return new Set(ids).size === ids.length;
      }, 'A user must not be listed more than once: a user holds one role in a project.'),
      v.description('All members that the project shall have, by role.'),
    ),
  }),
  v.title('SetProjectAccess'),
);

export const projectAccessRoutes: readonly Route[] = [
  readRoute({
    method: 'GET',
    path: ACCESS,
    operationId: 'getProjectAccess',
    tag: 'Projects',
    summary: "List a project's members and the roles that can be held in it.",
    permission: 'read',
    locate: locate.project,
    success: { status: 200, schema: ProjectAccessSchema },
    read: (context, project) => settledResponse(context, projectAccessView(context.world, project)),
  }),
  writeRoute({
    method: 'PUT',
    path: ACCESS,
    operationId: 'setProjectAccess',
    tag: 'Projects',
    summary: "Replace a project's members.",
    permission: 'project:write',
    locate: locate.project,
    body: SetAccessBody,
    success: { status: 200, schema: ProjectAccessSchema },
    refusals: ['MembershipRuleError'],
    command: ({ params, body }) => ({
      type: 'set-project-access',
      project: params.projectId,
      members: body.roles.flatMap(({ id: roleId, users }, role) =>
        users.map((userId, at) => ({ userId, roleId, path: `/body/roles/${role}/users/${at}` })),
      ),
    }),
    respond: ({ world, params }) =>
      jsonResponse(200, projectAccessView(world, locate.present(locate.project(world, params)))),
  }),
];
