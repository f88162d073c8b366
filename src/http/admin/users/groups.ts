/** Routes about groups of users (docs/specification/membership.md#groups). */
import * as v from 'valibot';
import { list } from '../../../domain/json/list-schema.ts';
import { GROUP_USERS_MAX } from '../../../domain/kinds/group.ts';
import { emptyResponse, jsonResponse } from '../../serving/json-response.ts';
import { type Route, readRoute, writeRoute } from '../../serving/route.ts';
import { IdSchema, lineOfText, TEXT_LENGTH_MAX } from '../requests/bodies.ts';
import * as locate from '../requests/locators.ts';
import { GroupSchema, GroupsSchema } from '../schemas/access-schemas.ts';
import { groupView } from '../views/access-views.ts';
import { LIST_PAGE, listResponse } from '../views/list-response.ts';
import { settledResponse } from '../views/responses.ts';

const GROUP = '/groups/:id';

const MAPPINGS_MAX = 100;

const GroupBody = v.pipe(
  v.object({
    name: lineOfText('a name', 1, TEXT_LENGTH_MAX),
    description: v.optional(v.nullable(lineOfText('a description', 0, TEXT_LENGTH_MAX))),
    rootRole: v.pipe(
      v.optional(v.nullable(IdSchema)),
      v.description('A role id, which every user of the group then has as a root role beside their own.'),
    ),
    mappingsSSO: v.pipe(
      v.optional(
        v.pipe(
          list(lineOfText('a name', 0, TEXT_LENGTH_MAX), 'a list of names'),
          v.maxLength(MAPPINGS_MAX, `a list of at most ${MAPPINGS_MAX} names`),
        ),
      ),
      v.description(
        'Names of groups of a provider of OpenID Connect, whose people join this group when they sign in.',
      ),
    ),
    users: v.pipe(
      v.optional(
        v.pipe(
          list(
            v.pipe(
              v.object({ user: v.object({ id: IdSchema }) }),
              v.transform(({ user }) => user.id),
            ),
            'a list of users such as { "user": { "id": 1 } }',
          ),
          v.maxLength(GROUP_USERS_MAX, `a list of at most ${GROUP_USERS_MAX} users`),
        ),
      ),
      v.description('All users that the group shall have.'),
    ),
  }),
  v.title('GroupInput'),
);

export const groupRoutes: readonly Route[] = [
  readRoute({
    method: 'GET',
    path: '/groups',
    operationId: 'getGroups',
    tag: 'Users',
    summary: 'List the groups with their users.',
    permission: 'read',
    query: LIST_PAGE.parameters,
    success: { status: 200, schema: GroupsSchema },
    refusals: ['ValidationError', 'PayloadTooLargeError'],
    read: (context) =>
      listResponse(context, {
        name: 'groups',
        items: context.world.directory.groups.values(),
        view: (group) => groupView(context.world, group),
      }),
  }),
  writeRoute({
    method: 'POST',
    path: '/groups',
    operationId: 'createGroup',
    tag: 'Users',
    summary: 'Create a group of users.',
    permission: 'admin',
    body: GroupBody,
    success: { status: 201, schema: GroupSchema },
    refusals: ['NameExistsError', 'InvalidOperationError'],
    command: ({ body }) => ({ type: 'create-group', fields: body }),
    respond: ({ world }) => {
      const id = String(world.directory.lastGroupId);
      return jsonResponse(201, groupView(world, locate.present(locate.group(world, { id }))));
    },
  }),
  readRoute({
    method: 'GET',
    path: GROUP,
    operationId: 'getGroup',
    tag: 'Users',
    summary: 'Read a group.',
    permission: 'read',
    locate: locate.group,
    success: { status: 200, schema: GroupSchema },
    read: (context, group) => settledResponse(context, groupView(context.world, group)),
  }),
  writeRoute({
    method: 'PUT',
    path: GROUP,
    operationId: 'updateGroup',
    tag: 'Users',
    summary: 'Change a group; what is absent keeps its value.',
    permission: 'admin',
    locate: locate.group,
    body: GroupBody,
    success: { status: 200, schema: GroupSchema },
    refusals: ['NameExistsError'],
    command: ({ params, body }) => ({
      type: 'update-group',
      id: locate.numericId(params.id),
      fields: body,
    }),
    respond: ({ world, params }) =>
      jsonResponse(200, groupView(world, locate.present(locate.group(world, params)))),
  }),
  writeRoute({
    method: 'DELETE',
    path: GROUP,
    operationId: 'deleteGroup',
    tag: 'Users',
    summary: 'Delete a group with its roles in projects. Its users stay.',
    permission: 'admin',
    locate: locate.group,
    success: { status: 200, schema: null },
    refusals: ['InvalidOperationError'],
    command: ({ params }) => ({ type: 'delete-group', id: locate.numericId(params.id) }),
    respond: () => emptyResponse(200),
  }),
];
