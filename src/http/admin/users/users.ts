/** Routes that change a user and show the caller's own profile (docs/specification/users.md). */
import * as v from 'valibot';
import { jsonResponse } from '../../serving/json-response.ts';
import { type Route, readRoute, writeRoute } from '../../serving/route.ts';
import { DisplayNameSchema, EmailSchema, RootRoleSchema, UsernameSchema } from '../requests/bodies.ts';
import * as locate from '../requests/locators.ts';
import { ProfileSchema, UserSchema } from '../schemas/schemas.ts';
import { profileView, userView } from '../views/views.ts';

const UpdateUserBody = v.pipe(
  v.object({
    email: v.optional(v.nullable(EmailSchema)),
    username: v.optional(v.nullable(UsernameSchema)),
    name: v.optional(v.nullable(DisplayNameSchema)),
    rootRole: v.optional(RootRoleSchema),
  }),
  v.title('UpdateUser'),
);

export const userRoutes: readonly Route[] = [
  writeRoute({
    method: 'PUT',
    path: '/user-admin/:id',
    operationId: 'updateUser',
    tag: 'Users',
    summary: 'Change a user.',
    permission: 'admin',
    locate: locate.user,
    body: UpdateUserBody,
    success: { status: 200, schema: UserSchema },
    refusals: ['InvalidOperationError'],
    command: ({ params, body }) => ({
      type: 'update-user',
      userId: locate.numericId(params.id),
      fields: body,
    }),
    respond: ({ world, params, usage }) =>
      jsonResponse(200, userView(locate.present(locate.user(world, params)), usage.signIns)),
  }),
  readRoute({
    method: 'GET',
    path: '/user/profile',
    operationId: 'getProfile',
    tag: 'Users',
    summary: "Read the caller's profile.",
    permission: 'self',
    success: { status: 200, schema: ProfileSchema },
    read: ({ world, caller }) => ({
      revision: world.directory.accessRevision,
      response: jsonResponse(200, profileView(world, caller)),
    }),
  }),
];
