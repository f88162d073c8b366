/** Routes that add, change and remove a member of a project (docs/specification/membership.md#rules). */
import { emptyResponse } from '../../serving/json-response.ts';
import { type Method, type Route, writeRoute } from '../../serving/route.ts';
import * as locate from '../requests/locators.ts';
import * as pins from '../requests/pins.ts';

interface MemberRoute {
  readonly method: Method;
  readonly operationId: string;
  readonly summary: string;
  readonly command: 'add-member' | 'change-member' | 'remove-member';
}

const memberRoute = ({ method, operationId, summary, command }: MemberRoute): Route =>
  writeRoute({
    method,
    path: '/projects/:projectId/users/:userId/roles/:roleId',
    operationId,
    tag: 'Projects',
    summary,
    permission: 'project:write',
    needs: ['PROJECT_USER_ACCESS_WRITE'],
    locate: locate.membership,
    pinned: pins.access,
    success: { status: 200, schema: null },
    refusals: ['MembershipRuleError', 'NoAccessError'],
    command: ({ params }) => ({ type: command, ...locate.membershipIds(params) }),
    respond: () => emptyResponse(200),
  });

export const memberRoutes: readonly Route[] = [
  memberRoute({
    method: 'POST',
    operationId: 'addUserToProject',
    summary: 'Make a user a member of a project with a role.',
    command: 'add-member',
  }),
  memberRoute({
    method: 'PUT',
    operationId: 'changeUserRoleInProject',
    summary: "Change a member's role in a project.",
    command: 'change-member',
  }),
  memberRoute({
    method: 'DELETE',
    operationId: 'removeUserFromProject',
    summary: 'Remove a member from a project.',
    command: 'remove-member',
  }),
];
