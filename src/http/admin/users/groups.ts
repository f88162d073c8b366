/** Routes about groups of users (docs/specification/membership.md#groups). */
import * as v from 'valibot';
import { described, list, titled } from '../../../domain/json/schema.ts';
import { GROUP_USERS_MAX } from '../../../domain/kinds/group.ts';
import { jsonResponse } from '../../serving/json-response.ts';
import { readRoute, underTag, writeRoute } from '../../serving/route.ts';
import { IdSchema, lineOfText, TEXT_LENGTH_MAX } from '../requests/bodies.ts';
import * as locate from '../requests/locators.ts';
import { GroupSchema, GroupsSchema } from '../schemas/access-schemas.ts';
import { groupView } from '../views/access-views.ts';
import { LIST_PAGE, listResponse } from '../views/list-response.ts';
import { settledResponse } from '../views/responses.ts';

const GROUP = '/groups/:id';

const MAPPINGS_MAX = 100;

const GroupBody = titled('GroupInput', {
  name: lineOfText('a name', 1, TEXT_LENGTH_MAX),
  description: v.optional(v.nullable(lineOfText('a description', 0, TEXT_LENGTH_MAX))),
  rootRole: described(
    v.optional(v.nullable(IdSchema)),
    'A role id, which every user of the group then has as a root role beside their own.',
  ),
  mappingsSSO: described(
    v.optional(
      v.pipe(
        list(lineOfText('a name', 0, TEXT_LENGTH_MAX), 'a list of names'),
        v.maxLength(MAPPINGS_MAX, `a list of at most ${MAPPINGS_MAX} names`),
      ),
    ),
    'Names of groups of a provider of OpenID Connect, whose people join this group when they sign in.',
  ),
  users: described(
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
    'All users that the group shall have.',
  ),
});

export const groupRoutes = underTag('Users', [
  readRoute('GET /groups', {
    operationId: 'getGroups',
    summary: 'List the groups with their users.',
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
  writeRoute('POST /groups', {
    operationId: 'createGroup',
    summary: 'Create a group of users.',
    permission: 'admin',
    body: GroupBody,
    success: { status: 201, schema: GroupSchema },
    refusals: ['NameExistsError'],
    command: ({ body }) => ({ type: 'create-group', fields: body }),
    respond: ({ world }) => {
      const id = String(world.directory.lastGroupId);
      return jsonResponse(201, groupView(world, locate.present(locate.group(world, { id }))));
    },
  }),
  readRoute(`GET ${GROUP}`, {
    operationId: 'getGroup',
    summary: 'Read a group.',
    locate: locate.group,
    success: { status: 200, schema: GroupSchema },
    read: (context, group) => settledResponse(context, groupView(context.world, group)),
  }),
  writeRoute(`PUT ${GROUP}`, {
    operationId: 'updateGroup',
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
  writeRoute(`DELETE ${GROUP}`, {
    operationId: 'deleteGroup',
    summary: 'Delete a group with its roles in projects. Its users stay.',
    permission: 'admin',
    locate: locate.group,
    command: ({ params }) => ({ type: 'delete-group', id: locate.numericId(params.id) }),
  }),
]);
